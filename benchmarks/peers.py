"""Measure our engine, adapters and training against other libraries, as ratios from one run.

    python benchmarks/peers.py --out runs/peers
    python benchmarks/peers.py engine --game hanabi:2p --against benchmarks/ratios.json

The extra `bench` installs the other libraries; one that is missing is left out by name. --keep
writes the ratios to a file; --against fails if a ratio of such a file is lost by more than a
quarter in each of three runs, and names those that are not measured. README.md says what each side
delivers.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import ratios
from engines import ZOO, Peer, connect_four, engine_peers
from pipeline import pipeline
from rich.console import Console

from hanamachi.adapters.aec import make
from hanamachi.engine.game import Variant
from hanamachi.errors import missing_extra
from hanamachi.games.registry import variant as make_variant
from hanamachi.training import provenance
from hanamachi.training.benchmark import training
from hanamachi.training.benchmark.adapters import one_game, raw_env
from hanamachi.training.benchmark.kernel import kernel_alone
from hanamachi.training.benchmark.measure import Case, Comparison, Omission, Side, compare
from hanamachi.training.benchmark.report import Report, tables, write
from hanamachi.training.cli.main import run


class Match(NamedTuple):
    """A side of ours, and the peers to compare it with."""

    ours: Side
    peers: list[Peer]


def engine_matches(variant: Variant) -> list[Match]:
    peers = engine_peers(variant)
    return [Match(kernel_alone(variant, dtype), peers) for dtype in (np.int8, np.float32)]


def adapter_matches(variant: Variant) -> list[Match]:
    env = Side(f"{variant.id}, env()", partial(one_game, make, variant))
    return [
        Match(raw_env(variant), [connect_four("raw_env")]),
        Match(env, [connect_four("env")]),
    ]


def training_matches(variant: Variant) -> list[Match]:
    peer = Peer("PettingZoo connect_four with MaskablePPO", ZOO, pipeline)
    return [Match(case.measured, [peer]) for case in training.cases(variant, "cpu")]


KINDS: dict[str, Callable[[Variant], list[Match]]] = {
    "engine": engine_matches,
    "adapters": adapter_matches,
    "training": training_matches,
}


# --- Measuring


def measure(kinds: Sequence[str], games: Sequence[str], rounds: int, seconds: float) -> Report:
    report = Report(provenance.description(), provenance.load_average())
    for kind in kinds:
        for game in games:
            for match in KINDS[kind](make_variant(game)):
                for finding in played(match, rounds, seconds):
                    report.add(finding)
    report.load_after = provenance.load_average()
    return report


def played(match: Match, rounds: int, seconds: float) -> Iterator[Comparison | Omission]:
    """Our side against each peer whose library is installed."""
    ours = Side(match.ours.name, cache(match.ours.prepare))
    for peer in match.peers:
        case = Case(ours, [Side(peer.name, peer.prepare)])
        try:
            yield from compare(case, rounds, seconds)
        except ImportError:
            yield Omission(f"{peer.name}: not measured, {missing_extra(peer.library, 'bench')}")


def ratios_of(report: Report) -> dict[str, float]:
    """The median ratio of each comparison."""
    return {f"{c.what} / {c.baseline}": c.ratio for c in report.comparisons}


# --- The command


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; default: all"
    )
    parser.add_argument("--game", action="append", help="id of a game; default: hanamikoji")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured")
    parser.add_argument("--seconds", type=float, default=0.5, help="shortest time in a round")
    parser.add_argument("--out", type=Path, help="folder for benchmark.json and benchmark.png")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--keep", type=Path, help="file to write the ratios to")
    what.add_argument("--against", type=Path, help="file of ratios; fail if one is lost")
    given = parser.parse_args()
    if unknown := set(given.kinds) - set(KINDS):
        parser.error(f"no such kind: {', '.join(sorted(unknown))}; choose from {', '.join(KINDS)}")
    return given


def main(given: argparse.Namespace) -> int:
    console = Console()
    before = ratios.kept(given.against) if given.against else {}

    def measured() -> dict[str, float]:
        kinds, games = given.kinds or list(KINDS), given.game or ["hanamikoji"]
        report = measure(kinds, games, given.rounds, given.seconds)
        console.print(tables(report), highlight=False)
        for path in write(report, given.out) if given.out else ():
            print(f"written: {path}", file=sys.stderr)
        found = ratios_of(report)
        for name in sorted(before.keys() - found.keys()):
            print(f"not measured: {name}", file=sys.stderr)
        return found

    if given.against:
        lost = ratios.losses(measured, before)
        for words in lost:
            print(f"slower than before: {words}")
        return int(bool(lost))
    found = measured()
    if given.keep:
        ratios.keep(found, given.keep)
    return 0


if __name__ == "__main__":
    given = arguments()
    sys.exit(run(lambda: main(given)))
