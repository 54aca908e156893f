"""The layout of an observation: one table, from which size, offsets, bounds and docs derive."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hanamachi.engine.entries import INT8_MAX, int8_rows
from hanamachi.errors import UserError, unknown

Scalar = TypeVar("Scalar", bound=np.generic)


class Axes(int):
    """A number of entries that has axes, the last one fastest: `axis(2, "mine, theirs") * cards`.

    An axis is a number of like things, or lists things by name, with commas.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]

    @overload
    def __mul__(self, other: "Axes") -> "Axes": ...

    @overload
    def __mul__(self, other: int) -> int: ...

    def __mul__(self, other: int) -> int:
        if not isinstance(other, Axes):
            return int(self) * other
        product = Axes(int(self) * int(other))
        product.names, product.shape = self.names + other.names, self.shape + other.shape
        return product

    @property
    def words(self) -> str:
        """Such as "(mine, theirs) by 7 geisha"."""
        parts = zip(self.shape, self.names, strict=True)
        return " by ".join(f"({name})" if "," in name else f"{n} {name}" for n, name in parts)


def axis(length: int, name: str) -> Axes:
    """One axis."""
    axes = Axes(length)
    axes.names, axes.shape = (name,), (length,)
    return axes


@dataclass(frozen=True)
class Segment:
    """Neighbouring entries of an observation that mean one thing."""

    name: str
    size: int
    low: int
    high: int
    meaning: str
    fraction: bool = field(default=False, repr=False)  # not only whole numbers


@dataclass(frozen=True)
class Layout:
    """All segments of an observation, or of features, in order.

    `private` names those that depend on cards which other seats do not see; None means all.
    `by_hand_order` names those that depend on the order in which a hand lists its cards.
    """

    segments: tuple[Segment, ...]
    blocks: tuple[tuple[str, str], ...] = ()  # (kind, name): it describes all of a kind, in turn
    private: tuple[str, ...] | None = None
    by_hand_order: tuple[str, ...] = ()

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each segment begins, and one past the end: (segments + 1,)."""
        sizes = np.cumsum([s.size for s in self.segments])
        return read_only(np.concatenate([[0], sizes]).astype(np.int64))

    @property
    def size(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def low(self) -> NDArray[np.float32]:
        return self._of_each_entry([s.low for s in self.segments])

    @cached_property
    def high(self) -> NDArray[np.float32]:
        return self._of_each_entry([s.high for s in self.segments])

    @cached_property
    def segment_units(self) -> NDArray[np.float32]:
        """(segments,) what an int8 observation counts in: an entry of x is written as x * units.

        Whole numbers count in ones, and beyond 127 as 127; fractions as finely as there is room.
        """
        rooms = [
            INT8_MAX // max(abs(s.low), abs(s.high)) if s.fraction else 1 for s in self.segments
        ]
        return read_only(np.array(rooms, np.float32))

    @cached_property
    def units(self) -> NDArray[np.float32]:
        """The same for every entry, (N,)."""
        return self._of_each_entry(self.segment_units)

    @cached_property
    def int8_bounds(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The lowest and the highest number of each entry in int8, (N,) each."""
        low, high = (read_only(int8_rows(edge, self.units)) for edge in (self.low, self.high))
        return low, high

    def _of_each_entry(self, of_segments: ArrayLike) -> NDArray[np.float32]:
        """A number of each segment, (segments,), for each of its entries, (N,)."""
        sizes = [s.size for s in self.segments]
        return read_only(np.repeat(np.asarray(of_segments, np.float32), sizes))

    def are_alike(self, some: NDArray[np.float32], others: NDArray[np.float32]) -> bool:
        """Whether observations, (n, N) each, are equal up to the rounding to int8."""
        room = INT8_MAX / self.units
        apart = some.clip(-room, room) - others.clip(-room, room)
        return bool((np.abs(apart) * self.units < 1).all())

    def slice(self, name: str) -> slice:
        """Where the segment of this name lies; UserError if there is none."""
        index = self._index(name)
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))

    def view(self, rows: NDArray[Scalar], name: str) -> NDArray[Scalar]:
        """The segment of this name in rows, (..., N), in the shape of its axes.

        It shares their memory. UserError if there is no such segment, or if rows have another size.
        """
        if rows.shape[-1:] != (self.size,):
            raise UserError(f"give rows of {self.size} entries, not an array {rows.shape}")
        index = self._index(name)
        start, size = int(self.offsets[index]), self.segments[index].size
        part = rows[..., start : start + size]
        return part.reshape(*part.shape[:-1], *size.shape) if isinstance(size, Axes) else part

    def _index(self, name: str) -> int:
        names = [s.name for s in self.segments]
        if name not in names:
            raise unknown("segment", name, names)
        return names.index(name)

    def permuted(self, rows: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """The entries, (N,), where the rows that some segments repeat have another order.

        `rows` gives, by the name of a segment, the place of each entry of a row, (R,).
        """
        entries = np.arange(self.size)
        for name, places in rows.items():
            segment = entries[self.slice(name)]
            segment[:] = segment.reshape(-1, len(places))[:, places].ravel()
        return entries

    @cached_property
    def private_entries(self) -> NDArray[np.int64]:
        """The entries of the private segments, ascending."""
        kept = [self.private is None or s.name in self.private for s in self.segments]
        return read_only(np.flatnonzero(np.repeat(kept, [s.size for s in self.segments])))

    def describing(self, kind: str, count: int) -> NDArray[np.int64]:
        """The entries that describe each of `count` things of a kind, such as slots, (H, D)."""
        entries = np.arange(self.size)
        names = [name for described, name in self.blocks if described == kind]
        blocks = [entries[self.slice(name)].reshape(count, -1) for name in names]
        return np.hstack([np.zeros((count, 0), np.int64), *blocks])

    @cached_property
    def digest(self) -> str:
        """Changes whenever an entry changes its place, its bounds or its meaning."""
        return sha256(repr((self.segments, self.blocks)).encode()).hexdigest()

    def markdown(self) -> str:
        """The table of segments for the docs, without those that are empty."""
        rows = ["| from | entries | values | what | axes |", "|---|---|---|---|---|"]
        for start, s in zip(self.offsets, self.segments, strict=False):
            if s.size:
                figures = f"{start} | {s.size} | {s.low} to {s.high}"
                axes = s.size.words if isinstance(s.size, Axes) else ""
                rows.append(f"| {figures} | {s.name}: {s.meaning} | {axes} |")
        return "\n".join(rows)


def read_only(table: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, to which nobody can write any more, as all games share it."""
    table.flags.writeable = False
    return table
