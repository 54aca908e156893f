"""Fuzzing from the command line: `make fuzz`, with MINUTES, TARGET, CASE or RESULTS."""

import argparse
import os
import sys
from pathlib import Path

for name in ("OMP_NUM_THREADS", "HANAMACHI_THREADS"):  # a process with threads cannot be forked
    os.environ[name] = "1"
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

from campaign import campaign, replayed  # noqa: E402 (after the lines above)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--target", nargs="*", default=[], help="targets; all by default")
    parser.add_argument(
        "--minutes", type=float, help="how long; the samples of make verify by default"
    )
    parser.add_argument("--share", type=float, default=1.0, help="of those samples")
    parser.add_argument("--seed", type=int, help="drawn by default")
    parser.add_argument("--case", default="", help="replay one case, such as checkpoints:7:123")
    parser.add_argument("--json", type=Path, help="file for the results")
    given = parser.parse_args()
    sys.exit(replayed(given.case) if given.case else campaign(given))
