"""Speed as ratios: our figure and a peer's on the same work, measured in turn in one run.

Machines differ and are shared, so a rate alone says little. Every round measures both sides, one
after the other, and gives a ratio; the median and the range of the ratios are the result. What a
decision is, and what each side delivers with it, stands in benchmarks/README.md.

What profiling has shown so far:
- A step of Hanamikoji's raw environment takes about 3 microseconds: a third in compiled code, the
  rest for Python's own calls, the arrays that are handed out, and the dictionary of rewards. The
  tables of the rules are handed over as an array, ten times as fast as a record, and one call does
  a whole step. Finding a kernel's code by the types of its arguments took 0.3 microseconds a call.
- Of PettingZoo's raw loop, numpy.flatnonzero of the mask takes about 2 microseconds by itself, and
  PettingZoo's three usual wrappers take 24 a step, ours 1.
- Many games against random play reach more decisions than the kernel alone: nobody observes for an
  opponent that does not look.
- In a batch a decision of random play costs about a microsecond a thread: half for the mask of a
  full choice of actions, a third for the observation, the rest for dealing and applying.
- Training spends most of its time in the update, and there in the network itself.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from hanamachi.errors import unknown
from hanamachi.game import Variant
from hanamachi.games import variant
from hanamachi.training.benchmark import (
    engine,
    faces,
    machine,
    memory,
    playing,
    scale,
    start,
    training,
)
from hanamachi.training.benchmark.measure import Curve, Figure, Finding, compare
from hanamachi.training.benchmark.report import Report

CONTESTS = {"engine": engine.contests, "faces": faces.contests, "training": training.contests}
FIGURES: dict[str, Any] = {
    "evaluation": playing.figures,
    "scale": scale.curves,
    "memory": memory.figures,
    "start": start.figures,
}
KINDS = (*CONTESTS, *FIGURES)


def run(
    kinds: Sequence[str],
    games: Sequence[str],
    *,
    peers: bool = False,
    rounds: int = 5,
    seconds: float = 0.5,
) -> Report:
    """Measure these kinds for these games; each side for at least so many seconds a round.

    Other libraries take part only as `peers`; one that is not installed is left out by name.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise unknown("benchmark", kind, KINDS)
    rules = [variant(game) for game in games]
    report = Report(machine.description(), machine.load())
    for kind in kinds:
        for finding in findings(kind, rules, peers, rounds, seconds):
            report.add(finding)
    report.load_after = machine.load()
    return report


def findings(
    kind: str, games: Sequence[Variant], peers: bool, rounds: int, seconds: float
) -> Iterator[Finding | Figure | Curve]:
    if kind in FIGURES:
        yield from FIGURES[kind](games, rounds)
        return
    for rules in games:
        for contest in CONTESTS[kind](rules, peers):
            yield from compare(contest, rounds, seconds)
