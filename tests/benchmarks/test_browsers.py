"""The server answers several games at once at their pace; `benchmarks/browsers.py` takes 200."""

import re
import subprocess
import sys

import pytest
from root import ROOT
from samples import WHOLE

pytest.importorskip("uvicorn")

GAMES, SECONDS = (200, 60) if WHOLE else (20, 3)
LATEST = 100  # milliseconds, for half of the answers, where nothing else runs


@pytest.mark.parametrize("game", ["hanamikoji", "hanabi:2p"] if WHOLE else ["hanamikoji"])
def test_rule_policies_answer_at_once_in_many_games(game: str) -> None:
    program = [sys.executable, str(ROOT / "benchmarks" / "browsers.py"), "--game", game]
    done = subprocess.run(
        [*program, "--games", str(GAMES), "--seconds", str(SECONDS)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"(\d+) answers, half in (\d+) ms, 95% in (\d+) ms", done.stdout)
    assert found
    answers, half, _ = map(int, found.groups())
    assert answers > GAMES / 2
    if WHOLE:  # a figure of quiet cores
        assert answers > GAMES * SECONDS / 2 * 0.5
        assert half < LATEST
