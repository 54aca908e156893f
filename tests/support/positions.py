"""Positions of any game for the tests: led by hand in words, reached at random, or all of them.

Each game tells in its own module what its seats see (`Histories`). A view is all that one seat
has seen of a round, in order.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from relived import next_event_of, rewind_one

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant
from hanamachi.sessions.session import Session

View = tuple

# --- Led by hand


class Table:
    """One game in which the test is chance and both players."""

    def __init__(self, id: str, **options: object) -> None:
        self.variant = variant(id, **{"starter": 0, **options})
        self.rule_set, self.actions = self.variant.rule_set, self.variant.actions
        self.game = self.variant.new(np.zeros(1, np.uint64))[0]
        kernels.start_one(self.rule_set, self.game)

    def draw(self, names: str) -> None:
        """These cards come next off the pile."""
        self.bring(*(self.actions.names.index(name) for name in names.split()))

    def bring(self, *outcomes: int) -> None:
        """This is what chance brings next."""
        for outcome in outcomes:
            assert outcome in dict(self.outcomes()), f"cannot come now: {outcome}"
            kernels.resolve_one(self.rule_set, self.game, outcome)

    def outcomes(self) -> list[tuple[int, float]]:
        return outcomes(self.variant, self.game)

    def play(self, words: str) -> None:
        action = self.actions.parse(words, self.game)
        assert self.mask()[action], f"not legal: {words}"
        kernels.apply_one(self.rule_set, self.game, action)

    def mask(self) -> NDArray[np.int8]:
        return legal(self.variant, self.game)

    def choices(self) -> list[str]:
        """The legal actions in words."""
        return [self.actions.describe(a, self.game) for a in np.flatnonzero(self.mask()).tolist()]

    def follow(self, steps: Iterable[tuple[str, str]]) -> None:
        for step, words in steps:
            {"draw": self.draw, "play": self.play}[step](words)


def legal(variant: Variant, game: np.record) -> NDArray[np.int8]:
    mask = np.zeros((1, variant.actions.size), np.int8)
    kernels.masks(variant.rule_set, np.array([game], variant.game.record), mask)
    return mask[0]


def outcomes(variant: Variant, game: np.record) -> list[tuple[int, float]]:
    """What chance can bring, and how likely."""
    numbers, chances = np.empty(variant.rule_set.max_outcomes, np.int64), np.empty(30)
    n = kernels.outcomes_of(variant.rule_set, game, numbers, chances)
    return list(zip(numbers[:n].tolist(), chances[:n].tolist(), strict=True))


# --- Played again


def events_of_round(variant: Variant, game: np.record, earlier: np.record) -> Iterator[int]:
    """Every event of the round of `game`, before it happens in `earlier`, a copy of the game."""
    rewind_one(variant.rule_set, earlier)
    while (event := next_event_of(variant.rule_set, game, earlier)) >= 0:
        yield event
        carry_out = kernels.resolve_one if earlier.mover == CHANCE else kernels.apply_one
        carry_out(variant.rule_set, earlier, event)


def replayed(variant: Variant, game: np.record) -> np.record:
    """Where the events of the round of `game` lead; the rules must allow each of them."""
    earlier = copied(game)
    for event in events_of_round(variant, game, earlier):
        if earlier.mover == CHANCE:
            assert event in dict(outcomes(variant, earlier))
        else:
            assert legal(variant, earlier)[event]
    return earlier


# --- At random


def random_session(variant: Variant, seed: int) -> Iterator[Session]:
    """A game before each decision and at its end; every kind of action is equally likely."""
    session, rng = Session(variant), np.random.default_rng(seed)
    session.begin(seed)
    yield session
    while session.mover != OVER:
        session.step(any_kind(variant, session.observe(session.mover)[1], rng))
        yield session


def any_kind(variant: Variant, mask: NDArray[np.int8], rng: np.random.Generator) -> int:
    """A legal action; each kind that there is comes as often as the others."""
    choices = np.flatnonzero(mask)
    kinds = variant.actions.kind[choices]
    return int(rng.choice(choices[kinds == rng.choice(np.unique(kinds))]))


def random_positions(variant: Variant, seed: int) -> list[np.record]:
    return [session.state() for session in random_session(variant, seed)]


# --- Histories


class Node(NamedTuple):
    """A history: where it led, how likely chance made it, and what each seat has seen."""

    game: np.record
    chance: float  # the product of chance's part; every choice counts 1
    views: tuple[View, View] = ((), ())


def copied(game: np.record) -> np.record:
    """A copy to the byte; numpy's own leaves the bytes between the fields to chance."""
    return np.frombuffer(bytearray(game.tobytes()), game.dtype)[0]


def merged(nodes: Iterable[Node]) -> list[Node]:
    """One node for all histories that led to the same position, with their chance together."""
    found: dict[bytes, Node] = {}
    for node in nodes:
        same = found.setdefault(node.game.tobytes(), node._replace(chance=0.0))
        found[node.game.tobytes()] = same._replace(chance=same.chance + node.chance)
    return list(found.values())


def batch(variant: Variant, nodes: list[Node]) -> NDArray[np.void]:
    """The games of these nodes as one array, (B,)."""
    joined = bytearray(b"".join(node.game.tobytes() for node in nodes))
    return np.frombuffer(joined, variant.game.record)


class Histories:
    """The histories of one rule set; each game says what its seats see of them."""

    def __init__(self, variant: Variant, most: int | None = None) -> None:
        """With `most`, a walk takes only so many of the actions at each decision, spread evenly."""
        self.variant, self.most = variant, most

    def after_chance(self, node: Node, game: np.record, outcome: int) -> tuple[View, View]:
        """What the seats have seen once chance has led from `node` to `game`."""
        raise NotImplementedError

    def after_move(self, node: Node, game: np.record, action: int) -> tuple[View, View]:
        """What the seats have seen once the mover has led from `node` to `game`."""
        raise NotImplementedError

    def random_actions(
        self, masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Legal actions, (B,)."""
        raise NotImplementedError

    def is_deal(self, game: np.record) -> bool:
        """Whether chance is still dealing, so that the order of cards does not matter."""
        raise NotImplementedError

    # --- Steps

    def root(self) -> Node:
        game = self.variant.new(np.zeros(1, np.uint64))[0]
        kernels.start_one(self.variant.rule_set, game)
        return Node(game, 1.0)

    def resolved(self, node: Node, outcome: int, chance: float) -> Node:
        """What follows when chance decides so."""
        game = copied(node.game)
        kernels.resolve_one(self.variant.rule_set, game, outcome)
        return Node(game, node.chance * chance, self.after_chance(node, game, outcome))

    def played(self, node: Node, action: int) -> Node:
        """What follows when the mover decides so."""
        game = copied(node.game)
        kernels.apply_one(self.variant.rule_set, game, action)
        return Node(game, node.chance, self.after_move(node, game, action))

    def children(self, node: Node) -> list[Node]:
        if node.game.mover == OVER:
            return []
        if node.game.mover == CHANCE:
            return [self.resolved(node, *one) for one in outcomes(self.variant, node.game)]
        actions = np.flatnonzero(legal(self.variant, node.game)).tolist()
        every = -(-len(actions) // (self.most or len(actions)))
        return [self.played(node, action) for action in actions[::every]]

    # --- At random

    def random_game(self, rng: np.random.Generator) -> Iterator[Node]:
        """All positions of one game in which everybody plays at random, chance's included."""
        node = self.root()
        yield node
        while node.game.mover != OVER:
            if node.game.mover == CHANCE:
                choices = outcomes(self.variant, node.game)
                outcome, chance = choices[rng.choice(len(choices), p=[p for _, p in choices])]
                node = self.resolved(node, outcome, chance)
            else:
                mask = legal(self.variant, node.game)[None]
                node = self.played(node, int(self.random_actions(mask, rng)[0]))
            yield node

    def random_decisions(self, rng: np.random.Generator) -> Iterator[Node]:
        """The decision points of one such game."""
        return (node for node in self.random_game(rng) if node.game.mover >= 0)

    def random_positions(self, n: int, seed: int) -> list[Node]:
        """Decision points of random games, one after the other."""
        rng, found = np.random.default_rng(seed), []
        while len(found) < n:
            found += self.random_decisions(rng)
        return found[:n]

    # --- All of them

    def walk(self, dealt: list[Node] | None = None, turns: int = 0) -> Iterator[Node]:
        """Every node of a one-round game, or of so many turns, from where hands have been dealt."""
        stack = list(dealt or self.deals())
        while stack:
            node = stack.pop()
            yield node
            if not turns or node.game.turn < turns:
                stack.extend(self.children(node))

    def deals(self) -> list[Node]:
        """Every deal once, whatever the order of its cards."""
        level = [self.root()]
        while self.is_deal(level[0].game):
            level = merged(child for node in level for child in self.children(node))
        return level


# --- What is shown


def observed(
    variant: Variant, games: NDArray[np.void], seats: NDArray[np.int64]
) -> NDArray[np.float32]:
    rows = np.empty((len(games), variant.observation.size), np.float32)
    kernels.observations(variant.rule_set, games, seats, rows)
    return rows


def masked(variant: Variant, games: NDArray[np.void]) -> NDArray[np.int8]:
    rows = np.empty((len(games), variant.actions.size), np.int8)
    kernels.masks(variant.rule_set, games, rows)
    return rows
