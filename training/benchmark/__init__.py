"""Speed as ratios: our figure and a peer's on the same work, measured in turn in one run.

Machines differ and are shared, so a rate alone says little. Every round measures both sides, one
after the other, and gives a ratio; the median and the range of the ratios are the result. What a
decision is, and what each side delivers with it, stands in benchmarks/README.md.

What profiling has shown stands in docs/performance.md.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import unknown
from hanamachi.games.registry import variant as make_variant
from hanamachi.training import provenance
from hanamachi.training.benchmark import (
    cluster,
    engine,
    faces,
    memory,
    playing,
    scale,
    searching,
    start,
    training,
)
from hanamachi.training.benchmark.measure import Curve, Figure, Finding, compare
from hanamachi.training.benchmark.report import Report

CONTESTS = {"engine": engine.contests, "faces": faces.contests, "training": training.contests}
UP_TO: dict[str, Any] = {
    "evaluation": playing.figures,
    "scale": scale.curves,
    "memory": memory.figures,
}
FIGURES = {"start": start.figures, "search": searching.figures, "cluster": cluster.figures}
MANY = 1_000_000
KINDS = (*CONTESTS, *UP_TO, *FIGURES)


def run(
    kinds: Sequence[str],
    games: Sequence[str],
    *,
    peers: bool = False,
    rounds: int = 5,
    seconds: float = 0.5,
    most: int = MANY,
) -> Report:
    """Measure these kinds for these games; each side for at least so many seconds a round.

    `most` is how many games at once evaluation, scale and memory go up to.

    Other libraries take part only as `peers`; one that is not installed is left out by name.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise unknown("benchmark", kind, KINDS)
    variant = [make_variant(game) for game in games]
    report = Report(provenance.description(), provenance.load())
    for kind in kinds:
        for finding in findings(kind, variant, peers, rounds, seconds, most):
            report.add(finding)
    report.load_after = provenance.load()
    return report


def findings(
    kind: str, games: Sequence[Variant], peers: bool, rounds: int, seconds: float, most: int
) -> Iterator[Finding | Figure | Curve]:
    if kind in FIGURES:
        yield from FIGURES[kind](games, rounds)
        return
    if kind in UP_TO:
        yield from UP_TO[kind](games, rounds, most)
        return
    for variant in games:
        for contest in CONTESTS[kind](variant, peers):
            yield from compare(contest, rounds, seconds)
