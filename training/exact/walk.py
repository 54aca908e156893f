"""Walk the tree of a variant with the engine, level by level.

A level takes one decision in every game. States with equal sequences and equal positions are merged
into one: only chance made them differ, and their futures are equal. So the order in which a hand is
dealt does not add states.

Notation: B states of a level, W words of a record; the rest as in tree.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.compiled import kernel
from hanamachi.engine.contract import CHANCE, OVER, apply, chance, legal, resolve
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.games.small import small_versions
from hanamachi.sessions.arguments import checked_variant
from hanamachi.training.exact.tree import (
    MAX_STATES,
    Float64s,
    Integers,
    Tree,
    groups,
    merged_leaves,
    runs,
    too_large,
    words,
)

BATCH = 8192  # observations at once
FOLLOWED = 1 << 15  # states of a level of the part that tells whether a tree is too large
DIGEST = 16  # bytes; a collision is likely only among 2**64 information sets


@dataclass(frozen=True)
class VariantTree(Tree):
    """The tree of a variant, with one position of every information set."""

    variant: Variant
    games: NDArray[Any]  # (I,) records

    def observations(self, sets: Integers) -> NDArray[np.float32]:
        return observed(self.variant, self.games[sets])


@dataclass(frozen=True)
class Level:
    """States at one depth of the tree, with their sequences and rewards so far."""

    words: NDArray[np.uint64]  # (B, W) the records; NumPy copies words ten times as fast
    sequences: Integers  # (B, S) the last one of each seat
    chance: Float64s  # (B,) the probability of each state by chance alone
    earned: Float64s  # (B, S) the sum of rewards

    def __len__(self) -> int:
        return len(self.words)

    def games(self, variant: Variant) -> NDArray[Any]:
        """The records, (B,)."""
        return self.words.view(variant.game.record)[:, 0]

    def rows(self, rows: NDArray[Any]) -> "Level":
        """The states of these rows; a row may be repeated."""
        return Level(self.words[rows], self.sequences[rows], self.chance[rows], self.earned[rows])

    def merged(self) -> "Level":
        """The level with equal states merged; their probabilities are added."""
        group, row_of = groups(self.words, self.sequences, self.earned)
        chance = np.asarray(np.bincount(group, self.chance), np.float64)
        return replace(self.rows(row_of), chance=chance)


def joined(levels: Sequence[Level]) -> Level:
    """Several levels as one."""
    columns = [[getattr(level, f.name) for level in levels] for f in fields(Level)]
    return Level(*(np.concatenate(column) for column in columns))


def tree_of(variant: Variant | str, max_states: int = MAX_STATES) -> VariantTree:
    """The tree of a variant, or of the one that a name stands for, such as "hanamikoji-gifts".

    UserError if its walk meets more than `max_states` states; of equal ones each counts.
    """
    variant = checked_variant(make_variant(variant) if isinstance(variant, str) else variant)
    refuse_at_once(variant, max_states)
    walk = Walk(variant, max_states)
    level = walk.settled(walk.beginning())
    while len(level):
        level = walk.settled(walk.decided(level))
    return walk.tree()


def refuse_at_once(variant: Variant, max_states: int) -> None:
    """UserError if a part of the tree is too large already; the walk would fill gigabytes first.

    Chance decides once on each line of play, so all states differ in what the seats have done.
    """
    games, states = variant.new(np.zeros(1, np.uint64)), 1
    kernels.reset(variant.rule_set, games)
    while len(games := games[games["mover"] != OVER]):
        masks = np.empty((len(games), variant.actions.size), np.int8)
        kernels.masks(variant.rule_set, games, masks)
        rows, actions = np.nonzero(masks)
        states += len(rows)
        if states > max_states:
            raise refused(variant, states)
        games = games[rows[:FOLLOWED]]
        kernels.step(variant.rule_set, games, actions[:FOLLOWED])


class Walk:
    """A walk through the tree of a variant, with its results so far."""

    def __init__(self, variant: Variant, max_states: int) -> None:
        self.variant, self.rule_set, self.max_states = variant, variant.rule_set, max_states
        self.states = 0
        self.number: dict[bytes, int] = {}  # key of an information set -> its number
        self.before = np.empty(0, np.int64)  # (I,)
        self.first = np.array([variant.seats])  # (I + 1,)
        self.actions = [np.full(variant.seats, -1)]
        self.games: list[NDArray[Any]] = []
        self.ends: list[Level] = []

    def beginning(self) -> Level:
        """The level of the start of the game."""
        games, seats = self.variant.new(np.zeros(1, np.uint64)), self.variant.seats
        kernels.start_one(self.rule_set, games[0])
        return Level(words(games), np.arange(seats)[None], np.ones(1), np.zeros((1, seats)))

    # --- Steps

    def settled(self, level: Level) -> Level:
        """Resolve all chance events; returns the states in which a seat decides."""
        while (waiting := self.movers(level) == CHANCE).any():
            level = joined([level.rows(~waiting), self.resolved(level.rows(waiting))]).merged()
        rewards = level.games(self.variant)["rewards"][:, : self.variant.seats]
        level = replace(level, earned=level.earned + rewards)
        self.states += len(level)
        terminated = self.movers(level) == OVER
        self.ends.append(level.rows(terminated))
        return level.rows(~terminated)

    def resolved(self, level: Level) -> Level:
        """The states after every outcome of chance in every state."""
        games, counts = level.games(self.variant), np.empty(len(level), np.int64)
        weights = np.empty(self.rule_set.max_outcomes, np.int64)
        count_outcomes(self.rule_set, games, weights, counts)
        after = self.repeated(level, counts)
        probability = np.empty(len(after))
        resolve_all(self.rule_set, games, weights, after.games(self.variant), probability)
        return replace(after, chance=after.chance * probability)

    def decided(self, level: Level) -> Level:
        """The states after every legal action in every state."""
        games, counts = level.games(self.variant), np.empty(len(level), np.int64)
        mask = np.empty(self.variant.actions.size, np.int8)
        count_choices(self.rule_set, games, mask, counts)
        after = self.repeated(level, counts)  # first, as it refuses a variant that is too large
        sets = self.information_sets(level)
        assert (np.diff(self.first)[sets] == counts).all(), (
            "states of one information set differ in legal actions"
        )
        apply_all(self.rule_set, games, mask, after.games(self.variant))
        seats = np.repeat(self.movers(level), counts)
        after.sequences[np.arange(len(after)), seats] = runs(self.first[sets], counts)
        return after

    def repeated(self, level: Level, counts: Integers) -> Level:
        """Each state repeated `counts` times; UserError if there are too many."""
        counted = self.states + int(counts.sum())
        if counted > self.max_states:
            raise refused(self.variant, counted)
        return level.rows(np.repeat(np.arange(len(level)), counts))

    def movers(self, level: Level) -> NDArray[np.int8]:
        """The seat to move in each state, or CHANCE or OVER."""
        return np.asarray(level.games(self.variant)["mover"])

    # --- Information sets

    def information_sets(self, level: Level) -> Integers:
        """The information sets of the seats to move, (B,)."""
        sets = np.empty(len(level), np.int64)
        before = level.sequences[np.arange(len(level)), self.movers(level)]
        order = np.argsort(before, kind="stable")  # so that states of one set are adjacent
        for rows in np.split(order, range(BATCH, len(order), BATCH)):
            sets[rows] = self.numbered(level.rows(rows), before[rows])
        return sets

    def numbered(self, level: Level, before: Integers) -> Integers:
        """The information sets of one batch; the key is the sequence before and the observation."""
        seen = observed(self.variant, level.games(self.variant))
        group, row_of = groups(seen, before)
        known = len(self.number)
        sets = np.array([self.number_of(before[row], seen[row]) for row in row_of])
        fresh = row_of[sets >= known]
        self.add(level.rows(fresh).games(self.variant), before[fresh])
        return sets[group]

    def number_of(self, before: np.int64, seen: NDArray[np.float32]) -> int:
        """The number of an information set, a new one if it was not met before."""
        key = blake2b(before.tobytes() + seen.tobytes(), digest_size=DIGEST).digest()
        return self.number.setdefault(key, len(self.number))

    def add(self, games: NDArray[Any], before: Integers) -> None:
        """Add new information sets, each with a position and the sequence before it."""
        masks = np.empty((len(games), self.variant.actions.size), np.int8)
        kernels.masks(self.rule_set, games, masks)
        self.games.append(games)
        self.actions.append(np.nonzero(masks)[1])
        self.before = np.append(self.before, before)
        self.first = np.append(self.first, self.first[-1] + masks.sum(1, np.int64).cumsum())

    # --- The end

    def tree(self) -> VariantTree:
        """The tree that was walked."""
        games, end = np.concatenate(self.games), joined(self.ends)
        return VariantTree(
            size=self.variant.actions.size,
            states=self.states,
            seat=games["mover"].astype(np.int64),
            before=self.before,
            first=self.first,
            action=np.concatenate(self.actions),
            **merged_leaves(end.sequences, end.chance, end.earned),
            variant=self.variant,
            games=games,
        )


def observed(variant: Variant, games: NDArray[Any]) -> NDArray[np.float32]:
    """The observations of the seats to move, (n, N)."""
    seen = np.empty((len(games), variant.observation.size), np.float32)
    kernels.observations(variant.rule_set, games, games["mover"].astype(np.int64), seen)
    return seen + np.float32(0)  # so that -0 and 0 have equal bits


def refused(variant: Variant, counted: int) -> UserError:
    """The error for a variant with too many states."""
    small = small_versions(variant.game.name)
    advice = f"; name a small version, {' or '.join(small)}" if small else ""
    return too_large(variant.id, counted, advice)


# --- Compiled


@kernel
def count_choices(
    rule_set: Any, games: NDArray[Any], mask: NDArray[np.int8], counts: Integers
) -> None:
    """Count the legal actions of each state, (B,)."""
    for b in range(len(games)):
        counts[b] = legal(rule_set, games[b], mask)


@kernel
def count_outcomes(rule_set: Any, games: NDArray[Any], weights: Integers, counts: Integers) -> None:
    """Count the possible outcomes of chance in each state, (B,)."""
    for b in range(len(games)):
        counts[b] = 0
        for outcome in range(chance(rule_set, games[b], weights)):
            counts[b] += weights[outcome] > 0


@kernel
def apply_all(
    rule_set: Any, games: NDArray[Any], mask: NDArray[np.int8], after: NDArray[Any]
) -> None:
    """Take each legal action of a state, ascending, in a copy of the state."""
    child = 0
    for b in range(len(games)):
        legal(rule_set, games[b], mask)
        for action in range(len(mask)):
            if mask[action]:
                apply(rule_set, after[child], action)
                child += 1


@kernel
def resolve_all(
    rule_set: Any,
    games: NDArray[Any],
    weights: Integers,
    after: NDArray[Any],
    probability: Float64s,
) -> None:
    """Resolve each outcome of chance in a copy of its state; writes its probability."""
    child = 0
    for b in range(len(games)):
        n = chance(rule_set, games[b], weights)
        total = weights[:n].sum()
        for outcome in range(n):
            if weights[outcome] > 0:
                resolve(rule_set, after[child], outcome)
                probability[child] = weights[outcome] / total
                child += 1
