"""Speed benchmarks: how fast the engine, its adapters and training run on this machine.

Machines differ and are shared, so a rate alone says little. Where there is a baseline, both are
measured in turn, several times; the result is the median and the range of their ratios.
benchmarks/README.md says what counts as a decision and what each side delivers with it;
docs/performance.md explains the figures.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown, unknown
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import GAMES_AT_ONCE, ROUNDS, SECONDS
from hanamachi.training import defaults, provenance
from hanamachi.training.benchmark import (
    adapters,
    cluster,
    engine,
    evaluation,
    memory,
    scale,
    search,
    start,
    training,
)
from hanamachi.training.benchmark.measure import Finding, compare
from hanamachi.training.benchmark.report import Report

CASES = {"engine": engine.cases, "adapters": adapters.cases}
ON_A_DEVICE = {"training": training.cases}
SIZED: dict[str, Any] = {  # kinds that play more and more games at once
    "evaluation": evaluation.figures,
    "scale": scale.curves,
    "memory": memory.figures,
}
FIGURES = {"start": start.figures, "search": search.figures, "cluster": cluster.figures}
KINDS = (*CASES, *ON_A_DEVICE, *SIZED, *FIGURES)
TAKEN_BY = {  # settings of some kinds alone
    "seconds": (*CASES, *ON_A_DEVICE),
    "most": tuple(SIZED),
    "device": tuple(ON_A_DEVICE),
}


def run(
    kinds: Sequence[str],
    games: Sequence[str],
    *,
    rounds: int = defaults.ROUNDS,
    seconds: float = defaults.ROUND_SECONDS,
    most: int = defaults.MOST_GAMES,
    device: str = "cpu",
) -> Report:
    """Measure these kinds of speed for these games.

    Each side of a comparison in engine, adapters and training runs for at least `seconds` in each
    of the `rounds`. `most` bounds the number of games that evaluation, scale and memory play at
    once. `device` is that of the network in training: cpu, cuda or mps.
    """
    check_kinds(kinds)
    for name, value, low, high in (
        ("rounds", rounds, 1, ROUNDS),
        ("seconds", seconds, 0, SECONDS),
        ("most", most, 2, GAMES_AT_ONCE),
    ):
        if not low <= value <= high:
            raise UserError(f"{name} must be from {low} to {high}, not {shown(value)}")
    variants = [make_variant(game) for game in games]
    report = Report(provenance.description(), provenance.load_average())
    for kind in kinds:
        for finding in findings(kind, variants, rounds, seconds, most, device):
            report.add(finding)
    report.load_after = provenance.load_average()
    return report


def check_kinds(kinds: Iterable[str]) -> None:
    """UserError if there is no such kind of speed."""
    for kind in kinds:
        if kind not in KINDS:
            raise unknown("benchmark", kind, KINDS)


def findings(
    kind: str, variants: Sequence[Variant], rounds: int, seconds: float, most: int, device: str
) -> Iterator[Finding]:
    if kind in FIGURES:
        yield from FIGURES[kind](variants, rounds)
        return
    if kind in SIZED:
        yield from SIZED[kind](variants, rounds, most)
        return
    for variant in variants:
        cases = CASES[kind](variant) if kind in CASES else ON_A_DEVICE[kind](variant, device)
        for case in cases:
            yield from compare(case, rounds, seconds)
