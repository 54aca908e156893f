"""`redeal` draws from the exact posterior: every way that chance can have led here, followed."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from positions import Histories, Node, View, any_kind, batch, copied, legal, merged, outcomes
from posteriors import DRAWS, p_value, redealt, rejected, worlds
from samples import UNCOMPILED, WHOLE

from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi.rules import NONE
from hanamachi.games.registry import variant

SMALL = [
    variant(id, starter=0, **options)
    for id, options in (
        ("hanabi:2p", {"colours": 2, "ranks": 3, "hand_size": 3}),
        ("hanabi:2p", {"colours": 1, "ranks": 5, "hand_size": 4}),
        ("hanabi:3p", {"colours": 2, "ranks": 3, "hand_size": 2, "allow_empty_hints": True}),
        ("hanabi:2p:multicolour", {"colours": 2, "ranks": 2, "hand_size": 3}),
        ("hanabi:2p", {"colours": 1, "ranks": 4, "hand_size": 3, "multicolour": "ten"}),
    )
]
GAMES = 2 if UNCOMPILED else 12 if WHOLE else 6  # of each small version
OF_EACH_STAGE = 3  # positions
EVERY = 10 if UNCOMPILED else 1 if WHOLE else 3  # one position in this many is drawn from
FIELDS = ["hand", "unseen"]  # all that a seat does not see


# --- All that can have happened


class HanabiHistories(Histories):
    """What seats see is compared below; no views are kept."""

    def after_chance(self, node: Node, game: np.record, outcome: int) -> tuple[View, View]:
        return node.views

    def after_move(self, node: Node, game: np.record, action: int) -> tuple[View, View]:
        return node.views


class Position(NamedTuple):
    small: Variant
    node: Node
    nodes: list[Node]  # that the mover cannot tell apart, each with how likely it is


def game(small: Variant, viewer: int, rng: np.random.Generator) -> Iterator[Position]:
    """One seat's decisions in a random game: the truth, and all that agrees with what it saw."""
    histories = HanabiHistories(small)
    true = histories.root()
    nodes = [true]
    while true.game.mover != OVER:
        if true.game.mover == CHANCE:
            choices = outcomes(small, true.game)
            drawn = rng.choice(len(choices), p=[chance for _, chance in choices])
            true = histories.resolved(true, *choices[drawn])
            nodes = [after for node in nodes for after in histories.children(node)]
        else:
            if true.game.mover == viewer:
                yield Position(small, true, nodes)
            action = any_kind(small, legal(small, true.game), rng)
            true = histories.played(true, action)
            nodes = [histories.played(node, action) for node in nodes]
        nodes = merged(node for node in nodes if seen(node.game, viewer) == seen(true.game, viewer))
        total = sum(node.chance for node in nodes)
        nodes = [node._replace(chance=node.chance / total) for node in nodes]


def seen(game: np.record, viewer: int) -> bytes:
    """The table but for the viewer's own cards and the deck's."""
    shown = copied(game)
    shown.hand[viewer] = NONE
    shown.unseen = 0
    return shown.tobytes()


# --- Positions


@cache
def positions() -> list[Position]:
    """Some of every stage of every small version, each with several worlds."""
    found = []
    for seed, small in enumerate(SMALL):
        rng, met = np.random.default_rng(seed), defaultdict(int)
        for i in range(GAMES):
            for position in game(small, i % small.seats, rng):
                now = stage(position)
                if len(position.nodes) > 1 and met[now] < OF_EACH_STAGE:
                    met[now] += 1
                    found.append(position)
    return found


def stage(position: Position) -> tuple[bool, ...]:
    return tuple(holds(position) for holds in SPECIAL.values())


def own(position: Position, field: str) -> list[int]:
    """Of the mover's cards, by slot."""
    game = position.node.game
    return game[field][game.mover, : game.held[game.mover]].tolist()


def overlap(position: Position) -> bool:
    """Two slots may hold the same cards, but not all the same."""
    sets = own(position, "possible")
    return any(a & b and a != b for a in sets for b in sets)


SPECIAL = {
    "clued": lambda position: any(own(position, "named")),
    "slots that may hold the same, and other cards": overlap,
    "a last copy": lambda position: any(
        np.count_nonzero(node.game.unseen == 0) > np.count_nonzero(position.node.game.unseen == 0)
        for node in position.nodes
    ),
    "no deck": lambda position: position.node.game.deck == 0,
}


# --- A sampler that is wrong


def naive(position: Position, seed: int) -> NDArray[np.void]:
    """The newest card first, which does not leave the older ones their due."""
    rng = np.random.default_rng(seed)
    games, me = batch(position.small, [position.node] * DRAWS), int(position.node.game.mover)
    rows, held = np.arange(DRAWS), int(position.node.game.held[me])
    copies = games["unseen"].astype(int)  # (DRAWS, cards)
    for slot in range(held):
        np.add.at(copies, (rows, games["hand"][:, me, slot]), 1)
    for slot in reversed(range(held)):
        possible = int(position.node.game.possible[me, slot]) >> np.arange(copies.shape[1]) & 1
        fits = copies * possible
        fits = np.where(fits.any(1, keepdims=True), fits, copies).cumsum(1)
        drawn = (fits <= rng.integers(fits[:, -1])[:, None]).sum(1)
        games["hand"][:, me, slot] = drawn
        copies[rows, drawn] -= 1
    games["unseen"] = copies
    return games


# --- The test


def likely(position: Position) -> dict[bytes, float]:
    games = batch(position.small, position.nodes)
    chances = [node.chance for node in position.nodes]
    return dict(zip(worlds(games, FIELDS), chances, strict=True))


def test_worlds_come_as_often_as_the_posterior_says() -> None:
    p_values = [
        p_value(worlds(redealt(position.small, position.node, seed), FIELDS), likely(position))
        for seed, position in enumerate(positions()[::EVERY], start=1000)
    ]
    assert len(p_values) >= 50 / EVERY
    assert rejected(p_values) == 0


def test_a_sampler_that_begins_with_the_newest_card_fails_the_same_test() -> None:
    p_values = [
        p_value(worlds(naive(position, seed), FIELDS), likely(position))
        for seed, position in enumerate(filter(overlap, positions()))
    ]
    assert rejected(p_values) > len(p_values) / 8


@pytest.mark.skipif(UNCOMPILED, reason="few games are played")
@pytest.mark.parametrize("name", SPECIAL)
def test_the_sample_holds_positions_of_every_kind(name: str) -> None:
    assert sum(SPECIAL[name](position) for position in positions()) >= 5


def test_worlds_do_not_depend_on_what_is_hidden() -> None:
    """Whichever world is the true one, the same seeds deal the same worlds."""
    for small, node, nodes in positions()[:: 2 * EVERY]:
        first, last = (worlds(redealt(small, n, 0), FIELDS) for n in (node, nodes[-1]))
        assert first == last
