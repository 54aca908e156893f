"""A game's whole tree in sequence form: what an exact solver needs of it, as flat arrays.

A sequence is all that one seat has done on the way to a state: an information set of that seat and
the action it took there, which by perfect recall tell its earlier ones. Sequences 0 to S - 1 are
empty, one for each seat. A game that ends is known by the last sequence of every seat, by chance's
part in it and by the payoffs; all states in between have done their duty once the tree is walked
(von Stengel, "Efficient Computation of Behavior Strategies", 1996).

Information sets are numbered as they are met, so that those a seat had before have lower numbers,
and a loop over them, forwards or backwards, takes the place of a recursion.

Notation: I information sets, Q sequences, L leaves, S seats, A actions, N entries of what is seen.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import kernel

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tree(ABC):
    """Information sets with their sequences, and leaves; a decision without a choice counts too."""

    size: int  #: A
    states: int  #: decisions and ends of the game that were walked
    seat: Integers  #: (I,) whose information set
    before: Integers  #: (I,) the seat's sequence that leads there
    first: Integers  #: (I + 1,) first sequence of each, which ascend with the actions; and Q
    action: Integers  #: (Q,) the action that ends a sequence; -1 for an empty one
    leaves: Integers  #: (L, S) the last sequence of every seat, each row once, ascending
    chance: Floats  #: (L,) chance's part in the probability of these ends
    payoff: Floats  #: (L, S) their mean for each seat, by chance

    @property
    def seats(self) -> int:
        return self.leaves.shape[1]

    @property
    def sets(self) -> int:
        return len(self.seat)

    @cached_property
    def choices(self) -> Integers:
        """(I,) how many actions are legal."""
        return np.diff(self.first)

    @cached_property
    def set_of(self) -> Integers:
        """(Q,) the information set in which a sequence ends; -1 for an empty one."""
        return np.repeat(np.arange(-1, self.sets), np.diff(self.first, prepend=0))

    @cached_property
    def depth(self) -> Integers:
        """(I,) how many information sets the seat had before."""
        depth = np.zeros(self.sets, np.int64)
        count_before(self.before, self.set_of, depth)
        return depth

    @cached_property
    def worth(self) -> Floats:
        """(L, S) what the leaves add to the expected payoff if all seats play towards them."""
        return np.asarray(self.chance[:, None] * self.payoff)

    @cached_property
    def uniform(self) -> Floats:
        """(Q,) the policy that takes every legal action alike: its probability in each sequence."""
        return np.concatenate([np.ones(self.seats), np.repeat(1 / self.choices, self.choices)])

    @abstractmethod
    def observations(self, sets: Integers) -> NDArray[np.float32]:
        """What the seat sees in these information sets, (n, N)."""

    def masks(self, sets: Integers) -> NDArray[np.int8]:
        """The legal actions in these information sets, (n, A)."""
        masks = np.zeros((len(sets), self.size), np.int8)
        masks[np.repeat(np.arange(len(sets)), self.choices[sets]), self.actions_in(sets)] = 1
        return masks

    def actions_in(self, sets: Integers) -> Integers:
        """The legal actions in these information sets, one behind the other."""
        return self.action[self.sequences_in(sets)]

    def sequences_in(self, sets: Integers) -> Integers:
        """The sequences that end in these information sets, one behind the other."""
        return runs(self.first[sets], self.choices[sets])


def runs(first: Integers, counts: Integers) -> Integers:
    """So many numbers from each first one on, one run behind the other."""
    skipped = np.repeat(first - (np.cumsum(counts) - counts), counts)
    return np.asarray(np.arange(len(skipped)) + skipped)


@kernel
def count_before(before: Integers, set_of: Integers, depth: Integers) -> None:
    for i in range(len(depth)):
        previous = set_of[before[i]]
        depth[i] = 0 if previous < 0 else depth[previous] + 1


# --- Rows that are equal


def groups(*columns: NDArray[np.generic]) -> tuple[Integers, Integers]:
    """Which rows are equal in all columns: the group of each, (n,), and a row of each group, (G,).

    Columns (n, ...) may be of any dtype; rows are compared bit by bit, and groups are numbered as
    they are met.
    """
    n = len(columns[0])
    rows = np.hstack([words(column) for column in columns])
    group, row_of = np.empty(n, np.int64), np.empty(n, np.int64)
    slots = np.full(2 << max(1, n - 1).bit_length(), -1)
    count = group_rows(rows, slots, group, row_of)
    return group, row_of[:count].copy()


def words(column: NDArray[np.generic]) -> NDArray[np.uint64]:
    """The bits of each row, filled up with zeros to whole words."""
    width = column.nbytes // max(1, len(column))
    padded = np.zeros((len(column), -(-width // WORD) * WORD), np.uint8)
    padded[:, :width] = np.ascontiguousarray(column).view(np.uint8).reshape(len(column), width)
    return padded.view(np.uint64)


WORD = 8  # bytes
MIX = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@kernel
def group_rows(rows: NDArray[np.uint64], slots: Integers, group: Integers, row_of: Integers) -> int:
    """A hash table with open addresses; `slots` are -1 at first, a power of two of them."""
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


def gathered(leaves: Integers, chance: Floats, payoff: Floats) -> dict[str, NDArray[Any]]:
    """The leaves of a tree, their chance and payoff, with each row of sequences once, ascending."""
    group, row_of = groups(leaves)
    likely = np.bincount(group, chance)
    worth = [np.bincount(group, chance * of_seat) for of_seat in payoff.T]
    order = np.lexsort(leaves[row_of].T[::-1])
    mean = np.stack(worth, 1) / likely[:, None]
    return {"leaves": leaves[row_of][order], "chance": likely[order], "payoff": mean[order]}
