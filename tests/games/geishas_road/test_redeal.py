"""`redeal` draws from the exact posterior: all that can have happened, enumerated card by card."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
import pytest
from geishas_road_positions import Event, GeishasRoadHistories, cards_of
from numpy.typing import NDArray
from positions import Node, View, batch, copied
from posteriors import DRAWS, p_value, redealt, rejected, worlds
from samples import UNCOMPILED, WHOLE

from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road.rules import (
    ANSWER,
    COUNTEROFFER,
    INTRIGUE,
    NONE,
    PICK_MARKER,
    PICK_TOKENS,
    PLACES,
    PUT_IN_ORDER,
    RECORD,
    SIZES,
)
from hanamachi.games.registry import variant

pytestmark = pytest.mark.uncompiled

EDITION_2021, STANDARD, ADVANCED = (f"geishas_road:{x}" for x in ("2021", "standard", "advanced"))
SMALL = [
    variant(id, colours=2, item_values=values, actions=actions, **options)
    for id, values, actions, options in (
        (ADVANCED, (1, 2, 3, 4), ("reveal", "gift"), {}),
        (ADVANCED, (1, 2, 3, 4, 5), ("reveal", "gift"), {"counteroffer_shares": "keep"}),
        (ADVANCED, (1, 2, 3, 4, 5), ("intrigue", "gift"), {}),
        (ADVANCED, (1, 2, 3, 4, 5, 6), ("intrigue", "competition"), {}),
        (ADVANCED, (1, 2, 3, 4, 5, 6, 7), ("gift", "competition"), {}),
        (STANDARD, (1, 2, 3), ("reveal", "intrigue"), {"decline_collecting": True}),
        (EDITION_2021, (1, 2, 3, 4, 5), ("intrigue", "gift"), {}),
    )
]
GAMES = 5 if UNCOMPILED else 25 if WHOLE else 10  # of each small version
OF_EACH_STAGE = 2  # positions
MOST_WORLDS = 500
EVERY = 40 if UNCOMPILED else 1 if WHOLE else 3  # one position in this many is drawn from

ALL_FIELDS = [name for name in RECORD.names if name != "rng"]
ASPECTS = [ALL_FIELDS, ["received"], ["hand"], ["unseen"], ["laid", "counter_in"]]


# --- All that can have happened


class World(NamedTuple):
    """What the viewer does not see of one history, and how likely chance made it."""

    deck: frozenset[int]
    chance: float = 1.0
    received: tuple[int, ...] = ()  # by the other player
    hand: frozenset[int] = frozenset()
    intrigue: tuple[int, ...] = ()  # kept, discarded
    hidden: int = NONE  # the card that the other laid face down in an offer
    lies: bool = False  # and that still lies there

    def follow(self, event: Event) -> Iterator["World"]:
        """The worlds in which this happened next; by the viewer where `mine`."""
        what, *rest = event
        if what in ("deal", "draw", "lay", "counter", "play"):
            yield from getattr(self, what)(*rest)
        else:
            yield self

    # --- Chance

    def deal(self, cards: tuple[int, ...]) -> Iterator["World"]:
        deck = self.deck - set(cards)
        hands = list(combinations(sorted(deck), len(cards)))
        for theirs in hands:
            yield World(deck - set(theirs), 1 / len(hands), theirs, frozenset(theirs))

    def draw(self, mine: bool, card: int | None) -> Iterator["World"]:
        left = self._replace(chance=self.chance / len(self.deck))
        for drawn in self.deck if card is None else self.deck & {card}:
            after = left._replace(deck=self.deck - {drawn})
            if not mine:
                after = after._replace(received=(*self.received, drawn), hand=self.hand | {drawn})
            yield after

    # --- Choices of the other player

    def lay(self, mine: bool, kind: int, *cards: int | None) -> Iterator["World"]:
        shown = {card for card in cards if card is not None}
        if mine:
            yield self
        elif shown <= self.hand:
            left = self.hand - shown
            for unseen in permutations(sorted(left), cards.count(None)):
                after = self._replace(hand=left - set(unseen))
                if kind == INTRIGUE:
                    yield after._replace(intrigue=unseen)
                else:
                    yield after.hides(*unseen)

    def hides(self, card: int = NONE) -> "World":
        return self if card == NONE else self._replace(hidden=card, lies=True)

    def counter(
        self, mine: bool, place: int, out: int | None, card: int | None, hides: bool
    ) -> Iterator["World"]:
        after = self._replace(deck=self.deck | {self.hidden if out is None else out})
        after = after._replace(lies=self.lies and out is not None)
        if mine:
            yield after
        else:
            for laid in self.hand if card is None else self.hand & {card}:
                yield after._replace(hand=self.hand - {laid}).hides(laid if hides else NONE)

    def play(self, mine: bool, card: int, *laid_by_me: bool) -> Iterator["World"]:
        """A card of the other that lay face down is seen at last."""
        if laid_by_me != (False,):
            yield self
        elif self.lies and self.hidden == card:
            yield self._replace(lies=False)
        elif not self.lies and self.intrigue[0] == card:
            yield self


def histories(small: Variant, view: View) -> list[World]:
    """All worlds that agree with what one seat has seen; none if they are too many for a test."""
    found = [World(frozenset(range(small.rule_set.cards)))]
    for event in view:
        found = [after for world in found for after in world.follow(event)]
        if len(found) > MOST_WORLDS:
            return []
    return found


def game_in(small: Variant, world: World, game: np.record, foe: int) -> np.record:
    """The game as it would be in this world."""
    other = copied(game)
    fill(other.received[foe], world.received)
    fill(other.hand[foe], sorted(world.hand))
    other.unseen = sum(1 << card for card in world.deck)
    other.laid[foe, INTRIGUE, : len(world.intrigue)] = world.intrigue
    if game.hidden_use[foe] != NONE:
        other.hidden_card[foe] = world.hidden
        if game.hidden_use[foe] == COUNTEROFFER:
            other.counter_in[foe] = world.hidden
        else:
            use = game.hidden_use[foe]
            other.laid[foe, use, SIZES[use] - 1] = world.hidden
        other.counter_out[game.counter_out_by == foe] = world.hidden
    face_down = game.face_down == foe
    turned_up = game.turn == 2 * small.rule_set.markers
    other.offer[face_down] = world.intrigue[0] if turned_up and face_down.any() else world.hidden
    return other


def fill(places: NDArray[np.int8], cards: Any) -> None:
    places[:] = NONE
    places[: len(cards)] = cards


def posterior(small: Variant, node: Node) -> list[Node]:
    """The games that the mover cannot tell apart, with how likely each is."""
    mover = int(node.game.mover)
    found = histories(small, node.views[mover])
    total = sum(world.chance for world in found)
    return [
        Node(game_in(small, world, node.game, 1 - mover), world.chance / total) for world in found
    ]


def likely(small: Variant, nodes: list[Node], fields: list[str]) -> dict[bytes, float]:
    chances: dict[bytes, float] = defaultdict(float)
    for node, world in zip(nodes, worlds(batch(small, nodes), fields), strict=True):
        chances[world] += node.chance
    return chances


# --- Positions


class Position(NamedTuple):
    small: Variant
    node: Node
    nodes: list[Node]  # that the mover cannot tell apart


@cache
def positions() -> list[Position]:
    """Some of every stage of every small version, each with several worlds."""
    found = []
    for seed, small in enumerate(SMALL):
        rng, seen = np.random.default_rng(seed), defaultdict(int)
        for _ in range(GAMES):
            for node in GeishasRoadHistories(small).random_decisions(rng):
                if seen[stage(node.game)] < OF_EACH_STAGE:
                    nodes = posterior(small, node)
                    if len(nodes) > 1:
                        seen[stage(node.game)] += 1
                        found.append(Position(small, node, nodes))
    return found


def stage(game: np.record) -> tuple[str, ...]:
    """What is special about a position, as the mover sees it."""
    return tuple(name for name, holds in SPECIAL.items() if holds(game, int(game.mover)))


SPECIAL: dict[str, Callable[[np.record, int], bool]] = {
    "they countered, removing a card face up": lambda game, me: (
        game.counter_to[1 - me] != NONE and game.counter_out_by[1 - me] == NONE
    ),
    "they countered, removing my hidden card": lambda game, me: game.counter_out_by[1 - me] == me,
    "they countered, removing their own": lambda game, me: game.counter_out_by[1 - me] == 1 - me,
    "I countered, removing a card face up": lambda game, me: (
        game.counter_to[me] != NONE and game.counter_out_by[me] == NONE
    ),
    "I countered, removing their hidden card": lambda game, me: game.counter_out_by[me] == 1 - me,
    "I countered, removing my own": lambda game, me: game.counter_out_by[me] == me,
    "one hidden card on offer": lambda game, me: (
        game.phase == ANSWER and list(game.face_down).count(NONE) == PLACES - 1
    ),
    "two hidden cards on offer": lambda game, me: (
        game.phase == ANSWER and list(game.face_down).count(NONE) == PLACES - 2
    ),
    "the order of a share with a hidden card": lambda game, me: (
        game.phase == PUT_IN_ORDER and 1 - me in game.face_down
    ),
    "tokens": lambda game, me: game.phase == PICK_TOKENS,
    "Intrigue cards turned up": lambda game, me: (
        game.phase == PICK_TOKENS and game.turn == np.count_nonzero(game.used_in)
    ),
    "their Intrigue used": lambda game, me: game.used_in[1 - me, INTRIGUE] > 0,
    "a marker to be picked": lambda game, me: game.phase == PICK_MARKER,
}


# --- A sampler that is wrong


def naive(position: Position, seed: int) -> NDArray[np.void]:
    """Cards that are out of sight lie anywhere there, whenever they may have come to be so."""
    small, node, _ = position
    games, foe = batch(small, [node] * DRAWS), 1 - int(node.game.mover)
    hand = cards_of(node.game.hand[foe])
    deck = [card for card in range(small.rule_set.cards) if node.game.unseen >> card & 1]
    down = [*cards_of(node.game.offer[node.game.face_down == foe]), *unplayed(node.game, foe)]
    out_of_sight = np.tile(np.unique(hand + deck + down), (DRAWS, 1))
    cards = np.random.default_rng(seed).permuted(out_of_sight, axis=1)
    games["hand"][:, foe, : len(hand)] = np.sort(cards[:, : len(hand)], axis=1)
    games["unseen"] = (1 << cards[:, len(hand) : len(hand) + len(deck)].astype(int)).sum(1)
    return games


def unplayed(game: np.record, seat: int) -> list[int]:
    """The cards of an Intrigue that have not been turned up."""
    return [card for card in cards_of(game.laid[seat, INTRIGUE]) if game.played_as[card] == 0]


# --- The test


def test_worlds_come_as_often_as_the_posterior_says() -> None:
    p_values = []
    for seed, (small, node, nodes) in enumerate(positions()[::EVERY]):
        drawn = redealt(small, node, seed)
        drawn["received"][:, 1 - node.game.mover, : small.rule_set.hand_size].sort(axis=1)
        for fields in ASPECTS:
            p_values.append(p_value(worlds(drawn, fields), likely(small, nodes, fields)))
    assert len(p_values) >= 50 * len(ASPECTS) / EVERY
    assert rejected(p_values) == 0


def test_a_sampler_that_ignores_how_cards_came_there_fails_the_same_test() -> None:
    p_values = [
        p_value(worlds(naive(position, seed), fields), likely(*position[::2], fields))
        for seed, position in enumerate(positions()[::EVERY])
        for fields in (["hand"], ["unseen"])
    ]
    assert rejected(p_values) > len(p_values) / 8


@pytest.mark.skipif(UNCOMPILED, reason="few games are played")
@pytest.mark.parametrize("name", SPECIAL)
def test_the_sample_holds_positions_of_every_kind(name: str) -> None:
    assert sum(name in stage(position.node.game) for position in positions()) >= 2


def test_worlds_do_not_depend_on_what_is_hidden() -> None:
    """Whichever world is the true one, the same seeds deal the same worlds."""
    for small, node, nodes in positions()[:: 4 * EVERY]:
        first, last = (worlds(redealt(small, n, 0), ALL_FIELDS) for n in (node, nodes[-1]))
        assert first == last
