"""The budget of a search for one decision, in worlds or in seconds."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from hanamachi.errors import UserError, shown
from hanamachi.limits import SEARCH_SECONDS, SEARCH_WORLDS
from hanamachi.sessions.arguments import is_number, whole_number

CLOCK_TICK = 1e-9  # seconds, the shortest time that a clock tells from none


@dataclass(frozen=True)
class Budget:
    """Exactly one of the two is given. With `worlds`, a search always gives the same result."""

    worlds: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.worlds is None) == (self.seconds is None):
            raise UserError("a search needs one budget: either worlds=64 or seconds=0.1")
        if self.worlds is not None:
            at_least_one(self.worlds, "worlds")
        if self.seconds is not None:
            at_most(above_zero(self.seconds, "seconds"), SEARCH_SECONDS, "seconds")

    def portions(self, size: int) -> Iterator[int]:
        """Numbers of worlds, each at most `size`, until the budget is spent; at least one number.

        With `seconds`, no portion begins that would end too late if it took as long as the last,
        nor any after SEARCH_WORLDS, as a search may keep all worlds in memory.
        """
        if self.seconds is None:
            assert self.worlds is not None
            yield from (min(size, self.worlds - i) for i in range(0, self.worlds, size))
            return
        start, end = perf_counter(), perf_counter() + self.seconds
        yield size
        for _ in range(size, SEARCH_WORLDS, size):
            now = perf_counter()
            if now + (now - start) > end:
                return
            start = now
            yield size

    def growing_portions(self, first: int, most: int, spent: float = 0.0) -> Iterator[int]:
        """Numbers of worlds: `first`, then as many as all before, but at most `most` at a time.

        With `seconds`, no fewer than `first`, and no more than there is time for if each world
        takes as long as those so far; at most SEARCH_WORLDS in all. Of the seconds, `spent` are
        gone.
        """
        start, done = perf_counter(), 0
        count = first if self.worlds is None else min(first, self.worlds)
        while count:
            yield count
            done += count
            count = min(done, most, self._left(done, perf_counter() - start, spent))
            if self.seconds is not None and count < first:
                return

    def _left(self, done: int, elapsed: float, spent: float) -> int:
        """The number of worlds for which the budget lasts; those done took `elapsed` seconds."""
        if self.seconds is None:
            assert self.worlds is not None
            return self.worlds - done
        in_time = done * (self.seconds - spent - elapsed) / max(elapsed, CLOCK_TICK)
        return min(int(in_time), SEARCH_WORLDS - done)


def at_least_one(value: Any, what: str, limit: int = SEARCH_WORLDS) -> int:
    """Check a setting that must be a whole number from 1 to `limit`."""
    number = whole_number(value, what)
    if number < 1:
        raise UserError(f"{what} must be at least 1, not {shown(number)}")
    at_most(number, limit, what)
    return number


def at_most(value: float, limit: int, what: str) -> None:
    if value > limit:
        raise UserError(f"{what} must be at most {limit:,}, not {shown(value)}")


def above_zero(value: Any, what: str) -> float:
    """Check a setting that must be a finite number above 0."""
    if not is_number(value) or not 0 < value <= sys.float_info.max:
        raise UserError(f"{what} must be a number above 0, not {value!r}")
    return float(value)


def share(value: Any, what: str) -> float:
    """Check a setting that must be a share of a whole, above 0 and at most 1."""
    if not is_number(value) or not 0 < value <= 1:
        raise UserError(f"{what} must be above 0 and at most 1, not {value!r}")
    return float(value)
