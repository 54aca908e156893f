"""What a benchmark measures: rates against baselines, single figures, and curves."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError

Play = Callable[[], int]  # does some work and returns the decisions in it


@dataclass(frozen=True)
class Work:
    """Work that can be repeated, and in words what each of its decisions delivers."""

    play: Play
    gives: str


@dataclass(frozen=True)
class Side:
    """One side of a comparison; `prepare` imports and sets up all that its work needs."""

    name: str
    prepare: Callable[[], Work]


@dataclass(frozen=True)
class Case:
    """What is to be measured, and the baselines to compare it with."""

    measured: Side
    baselines: list[Side]


@dataclass(frozen=True)
class Comparison:
    """Two rates in decisions per second, measured in turn, round by round."""

    what: str
    gives: str
    baseline: str
    baseline_gives: str
    rates: list[float]
    baseline_rates: list[float]

    @property
    def ratios(self) -> list[float]:
        pairs = zip(self.rates, self.baseline_rates, strict=True)
        return [rate / baseline for rate, baseline in pairs]

    @property
    def ratio(self) -> float:
        return median(self.ratios)


@dataclass(frozen=True)
class Omission:
    """A measurement that this machine does not allow: a library or memory is missing."""

    why: str


@dataclass(frozen=True)
class Figure:
    """A quantity without a baseline, measured once or several times."""

    what: str
    measure: str
    unit: str
    values: list[float]


@dataclass(frozen=True)
class Curve:
    """Decisions per second by the number of games at once, each rate measured in several rounds."""

    what: str
    measure: str
    batches: list[int]
    rates: list[list[float]]

    @property
    def medians(self) -> list[float]:
        return [median(rates) for rates in self.rates]


Finding = Comparison | Figure | Curve | Omission


def compare(case: Case, rounds: int, seconds: float) -> Iterator[Comparison]:
    """The measured side against each of its baselines."""
    work = case.measured.prepare()
    for baseline in case.baselines:
        other = baseline.prepare()
        measured = in_turn(work.play, other.play, rounds, seconds)
        names = case.measured.name, work.gives, baseline.name, other.gives
        yield Comparison(*names, [a for a, _ in measured], [b for _, b in measured])


def in_turn(one: Play, other: Play, rounds: int, seconds: float) -> list[tuple[float, float]]:
    """Rates of both, round by round, after one unmeasured round to compile and warm up."""
    one(), other()
    return [(rate(one, seconds), rate(other, seconds)) for _ in range(rounds)]


def rate(play: Play, seconds: float) -> float:
    """Decisions per second, measured for at least this time."""
    decisions, passed, begun = 0, 0.0, time.perf_counter()
    while passed <= seconds:
        decisions += play()
        passed = time.perf_counter() - begun
    return decisions / passed


def number_from(program: str, *arguments: str, **variables: str) -> float:
    """What a Python program prints in a new process; UserError if it got no memory."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    if done.returncode < 0 or "MemoryError" in done.stderr:
        raise UserError("its process was killed, perhaps because memory ran out")
    done.check_returncode()
    return float(done.stdout)


def view_of(variant: Variant, dtype: type[Any] = np.float32) -> str:
    """What the player to move receives with every decision, in words."""
    entries, actions = variant.observation.size, variant.actions.size
    return f"{np.dtype(dtype)} observation of {entries} entries, int8 mask of {actions}"
