"""A game's tree in sequence form: the flat arrays that exact solvers need.

A sequence is all actions of one seat on the way to a state: an information set of that seat and the
action there, which by perfect recall determine the earlier ones. Sequences 0 to S - 1 are empty,
one for each seat. A leaf is the last sequence of every seat, with its probability by chance and its
payoffs; the states in between are not kept (von Stengel, "Efficient Computation of Behavior
Strategies", 1996).

Information sets are numbered in the order of the walk, so a seat's earlier ones have lower numbers,
and a loop over them, forwards or backwards, replaces a recursion.

Notation: I information sets, Q sequences, L leaves, S seats, A actions, N observation entries.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import kernel
from hanamachi.errors import UserError

MAX_STATES = 2_000_000  # unless a caller allows more

Integers = NDArray[np.int64]
Float64s = NDArray[np.float64]


@dataclass(frozen=True)
class Tree(ABC):
    """Information sets with their sequences, and leaves; forced moves are included."""

    size: int  #: A
    states: int  #: number of decisions and ends of the game
    seat: Integers  #: (I,) the seat of each information set
    before: Integers  #: (I,) the seat's sequence that leads there
    #: (I + 1,) the first sequence of each, in order of actions; the last entry is Q
    first: Integers
    action: Integers  #: (Q,) the action that ends a sequence; -1 for an empty one
    leaves: Integers  #: (L, S) the last sequence of every seat; rows are unique and ascend
    chance: Float64s  #: (L,) the probability of these ends by chance alone
    payoff: Float64s  #: (L, S) their mean payoff for each seat

    @property
    def seats(self) -> int:
        """S."""
        return self.leaves.shape[1]

    @property
    def sets(self) -> int:
        """I."""
        return len(self.seat)

    @cached_property
    def choices(self) -> Integers:
        """(I,) the number of legal actions."""
        return np.diff(self.first)

    @cached_property
    def set_of(self) -> Integers:
        """(Q,) the information set in which a sequence ends; -1 for an empty one."""
        return np.repeat(np.arange(-1, self.sets), np.diff(self.first, prepend=0))

    @cached_property
    def depth(self) -> Integers:
        """(I,) the number of earlier information sets of the seat."""
        depth = np.zeros(self.sets, np.int64)
        count_before(self.before, self.set_of, depth)
        return depth

    @cached_property
    def weighted_payoff(self) -> Float64s:
        """(L, S) chance times payoff: what a leaf adds to the values if all seats reach it."""
        return np.asarray(self.chance[:, None] * self.payoff)

    @cached_property
    def uniform(self) -> Float64s:
        """(Q,) the uniform policy."""
        return np.concatenate([np.ones(self.seats), np.repeat(1 / self.choices, self.choices)])

    @abstractmethod
    def observations(self, sets: Integers) -> NDArray[np.float32]:
        """The observations in these information sets, (n, N)."""

    def masks(self, sets: Integers) -> NDArray[np.int8]:
        """The legal actions in these information sets, (n, A)."""
        masks = np.zeros((len(sets), self.size), np.int8)
        masks[np.repeat(np.arange(len(sets)), self.choices[sets]), self.actions_in(sets)] = 1
        return masks

    def actions_in(self, sets: Integers) -> Integers:
        """The legal actions in these information sets, concatenated."""
        return self.action[self.sequences_in(sets)]

    def sequences_in(self, sets: Integers) -> Integers:
        """The sequences that end in these information sets, concatenated."""
        return runs(self.first[sets], self.choices[sets])


def runs(first: Integers, counts: Integers) -> Integers:
    """Concatenated ranges: `counts` consecutive numbers from each `first` one."""
    skipped = np.repeat(first - (np.cumsum(counts) - counts), counts)
    return np.asarray(np.arange(len(skipped)) + skipped)


@kernel
def count_before(before: Integers, set_of: Integers, depth: Integers) -> None:
    """Write the depth of each information set."""
    for i in range(len(depth)):
        previous = set_of[before[i]]
        depth[i] = 0 if previous < 0 else depth[previous] + 1


def too_large(name: str, counted: int, advice: str = "") -> UserError:
    """The error for a game with too many states."""
    return UserError(
        f"{name} is too large to solve exactly: its tree has more than {counted:,} states{advice}"
    )


# --- Equal rows


def groups(*columns: NDArray[np.generic]) -> tuple[Integers, Integers]:
    """Group equal rows: the group of each row, (n,), and the first row of each group, (G,).

    Columns (n, ...) may have any dtype; rows are equal if their bits are equal in all columns.
    Groups are numbered in order of their first rows.
    """
    n = len(columns[0])
    rows = np.hstack([words(column) for column in columns])
    group, row_of = np.empty(n, np.int64), np.empty(n, np.int64)
    slots = np.full(2 << max(1, n - 1).bit_length(), -1)
    count = group_rows(rows, slots, group, row_of)
    return group, row_of[:count].copy()


def words(column: NDArray[np.generic]) -> NDArray[np.uint64]:
    """The bits of each row, padded with zeros to whole words."""
    width = column.nbytes // max(1, len(column))
    padded = np.zeros((len(column), -(-width // WORD) * WORD), np.uint8)
    padded[:, :width] = np.ascontiguousarray(column).view(np.uint8).reshape(len(column), width)
    return padded.view(np.uint64)


WORD = 8  # bytes
MIX = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@kernel
def group_rows(rows: NDArray[np.uint64], slots: Integers, group: Integers, row_of: Integers) -> int:
    """Group rows with an open-addressing hash table; returns the number of groups.

    `slots` is the table: a power of two of entries, -1 at first.
    """
    count = 0
    last = np.uint64(len(slots) - 1)
    for i in range(len(rows)):
        code = np.uint64(0)
        for word in rows[i]:
            code = (code ^ word) * MIX
            code ^= code >> SHIFT
        place = np.int64(code & last)
        while slots[place] >= 0 and not (rows[row_of[slots[place]]] == rows[i]).all():
            place = (place + 1) & np.int64(last)
        if slots[place] < 0:
            slots[place] = count
            row_of[count] = i
            count += 1
        group[i] = slots[place]
    return count


def merged_leaves(leaves: Integers, chance: Float64s, payoff: Float64s) -> dict[str, NDArray[Any]]:
    """The leaves of a tree with equal rows of sequences merged and sorted: fields of `Tree`."""
    group, row_of = groups(leaves)
    probability = np.bincount(group, chance)
    weighted = [np.bincount(group, chance * of_seat) for of_seat in payoff.T]
    order = np.lexsort(leaves[row_of].T[::-1])
    mean = np.stack(weighted, 1) / probability[:, None]
    return {"leaves": leaves[row_of][order], "chance": probability[order], "payoff": mean[order]}
