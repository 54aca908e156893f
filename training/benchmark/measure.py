"""What is measured: two sides on the same work, in turn; or figures that stand for themselves."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import missing_extra

Play = Callable[[], int]  # does some work and returns the decisions in it


@dataclass(frozen=True)
class Work:
    """Work that can be repeated, and in words what every decision in it delivers."""

    play: Play
    gives: str


@dataclass(frozen=True)
class Side:
    """Whose speed is measured; `prepare` imports and sets up all that the work needs."""

    name: str
    prepare: Callable[[], Work]
    library: str = ""  # that must be installed; "" if it is ours


@dataclass(frozen=True)
class Contest:
    """A side of ours, and those that it is measured beside."""

    ours: Side
    others: list[Side]


@dataclass(frozen=True)
class Comparison:
    """Two rates measured in turn, round by round, in decisions per second."""

    what: str
    gives: str
    peer: str
    peer_gives: str
    library: str  # of the peer; "" if it is ours
    rates: list[float]
    peer_rates: list[float]

    @property
    def ratios(self) -> list[float]:
        return [ours / theirs for ours, theirs in zip(self.rates, self.peer_rates, strict=True)]

    @property
    def ratio(self) -> float:
        return median(self.ratios)


@dataclass(frozen=True)
class LeftOut:
    """A comparison that needs a library which is not installed."""

    why: str


@dataclass(frozen=True)
class Figure:
    """A quantity without a peer, measured once or several times."""

    what: str
    measure: str
    unit: str
    values: list[float]


@dataclass(frozen=True)
class Curve:
    """Rates in decisions per second by the number of games at once, each of several rounds."""

    what: str
    measure: str
    batches: list[int]
    rates: list[list[float]]

    @property
    def medians(self) -> list[float]:
        return [median(rates) for rates in self.rates]


Finding = Comparison | LeftOut


def compare(contest: Contest, rounds: int, seconds: float) -> Iterator[Finding]:
    """Our side beside each of the others."""
    ours = contest.ours.prepare()
    for other in contest.others:
        try:
            theirs = other.prepare()
        except ImportError:
            missing = missing_extra(other.library, "bench")
            yield LeftOut(f"{other.name} is left out: {missing}")
            continue
        measured = in_turn(ours.play, theirs.play, rounds, seconds)
        names = contest.ours.name, ours.gives, other.name, theirs.gives, other.library
        yield Comparison(*names, [a for a, _ in measured], [b for _, b in measured])


def in_turn(ours: Play, theirs: Play, rounds: int, seconds: float) -> list[tuple[float, float]]:
    """One unmeasured round to compile and warm up, then the rounds that count."""
    ours(), theirs()
    return [(rate(ours, seconds), rate(theirs, seconds)) for _ in range(rounds)]


def rate(play: Play, seconds: float) -> float:
    """Decisions per second, over at least so many seconds."""
    decisions, passed, begun = 0, 0.0, time.perf_counter()
    while passed <= seconds:
        decisions += play()
        passed = time.perf_counter() - begun
    return decisions / passed


def view_of(variant: Variant, dtype: type[Any] = np.float32) -> str:
    """What a seat of ours is told with every decision."""
    entries, actions = variant.observation.size, variant.actions.size
    return f"{np.dtype(dtype)} observation of {entries} entries, int8 mask of {actions}"
