"""Positions of Geisha's Road for the tests, and what its seats see.

A view holds what carried over from the rounds before, then all events of this one. An event
names its seat by whether it is the viewer's own, and a card that the viewer did not see is None.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from positions import Histories, Node, Table, View

from hanamachi.games.geishas_road.actions import Move
from hanamachi.games.geishas_road.rules import (
    COUNTEROFFER,
    DEAL,
    DRAW_MARKERS,
    DRAW_STARTER,
    HIDDEN_COMPETITION,
    HIDDEN_COUNTEROFFER,
    HIDDEN_GIFT,
    INTRIGUE,
    KINDS,
    LAY_TOKENS,
    NONE,
    REDRAW,
    SIZES,
)
from hanamachi.games.registry import variant

VARIANTS = [
    *(variant(f"geishas_road:{id}") for id in ("2021", "introductory", "standard", "advanced")),
    variant("geishas_road:advanced", counteroffer_shares="keep", decline_collecting=True),
    variant(
        "geishas_road:advanced",
        colours=2,
        item_values=(1, 2, 3, 4, 5, 6, 7, 8, 9),
        actions=("reveal", "intrigue", "gift"),
    ),
    variant("geishas_road:2021", item_values=(1, 2, 3, 4, 5, 6), start_marker="random"),
    variant("geishas_road:standard", colours=3, actions=("intrigue", "gift"), rounds=3),
]

Event = tuple[Any, ...]
CARRIED_OVER = ("round_number", "starter", "chooser", "wins", "points", "marker", "steps")


class GeishasRoad(Table):
    """A table of Geisha's Road; prestige tokens come up as they are worth, markers as usual."""

    def __init__(self, id: str, **options: object) -> None:
        super().__init__(id, **options)
        self.set_out()

    def set_out(self) -> None:
        """The tokens of this round, and first markers where chance gives them: pink, then red."""
        while self.game.phase in (LAY_TOKENS, DRAW_MARKERS):
            self.bring(min(outcome for outcome, _ in self.outcomes()))

    def card(self, name: str) -> int:
        return self.actions.names.index(name)

    def hand(self, seat: int) -> str:
        """The names of the cards that a seat holds."""
        return " ".join(self.actions.names[card] for card in self.game.hand[seat] if card != NONE)

    def offer(self) -> str:
        """The names of the cards on the table."""
        return " ".join(self.actions.names[card] for card in self.game.offer if card != NONE)

    def deck(self) -> list[str]:
        names = self.actions.names
        return [name for card, name in enumerate(names) if self.game.unseen >> card & 1]


# --- What the seats see


class GeishasRoadHistories(Histories):
    """What the seats see of a round of Geisha's Road."""

    def is_deal(self, game: np.record) -> bool:
        return game.phase in (DRAW_STARTER, LAY_TOKENS, DRAW_MARKERS, DEAL)

    def random_actions(
        self, masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A kind of action first, Counteroffers rather than answers, and then which it is."""
        eager = np.ones(KINDS)
        eager[COUNTEROFFER : HIDDEN_COUNTEROFFER + 1] = 2
        kind = (rng.random((len(masks), KINDS)) * eager)[:, self.variant.actions.kind]
        return (masks * (1 + kind + 1e-9 * rng.random(masks.shape))).argmax(1)

    def resolved(self, node: Node, outcome: int, chance: float) -> Node:
        """As in every game; a hand is dealt together, so that its cards have no order."""
        after = super().resolved(node, outcome, chance)
        if node.game.phase == DEAL:
            for cards in after.game.received:
                cards[: self.variant.rule_set.hand_size] = in_order(cards, self.variant)
        return after

    def after_chance(self, node: Node, game: np.record, outcome: int) -> tuple[View, View]:
        views = node.views
        if game.round_number != node.game.round_number:
            return begun(game)
        if node.game.phase == DEAL:
            if game.dealt_cards < 2 * self.variant.rule_set.hand_size:
                return views
            return told(views, lambda me: ("deal", tuple(cards_of(game.hand[me]))))
        if node.game.phase in (LAY_TOKENS, DRAW_MARKERS):
            first = node.game.phase == DRAW_MARKERS and (node.game.marker == NONE).all()
            return told(views, lambda me: ("set out", outcome, first == (me == 0)))
        drawer = node.game.playing if node.game.phase == REDRAW else game.mover
        return told(views, lambda me: ("draw", me == drawer, outcome if me == drawer else None))

    def after_move(self, node: Node, game: np.record, action: int) -> tuple[View, View]:
        if game.round_number != node.game.round_number:
            return begun(game)
        before, move = node.game, self.variant.actions.moves[action]
        views = told(node.views, lambda me: self.move(before, game, move, me))
        for card in plays(before, game):
            views = told(views, played(before, game, card))
        return views

    def move(self, before: np.record, game: np.record, move: Move, me: int) -> Event:
        """A player's choice as `me` sees it."""
        who, mine = int(before.mover), bool(before.mover == me)
        if move.kind > HIDDEN_COUNTEROFFER:
            return ("choose", mine, move.kind, move.number)
        if move.kind >= COUNTEROFFER:
            out_by = int(game.counter_out_by[who])
            out = None if out_by == 1 - me else int(game.counter_out[who])
            hides = move.kind == HIDDEN_COUNTEROFFER
            card = None if hides and not mine else int(game.counter_in[who])
            return ("counter", mine, move.number, out, card, hides)
        action = move.kind - 2 if move.kind >= HIDDEN_GIFT else move.kind
        hidden = {INTRIGUE: (0, 1), HIDDEN_GIFT: (2,), HIDDEN_COMPETITION: (3,)}.get(move.kind, ())
        laid = game.laid[who, action, : SIZES[action]].tolist()
        cards = [None if place in hidden and not mine else c for place, c in enumerate(laid)]
        return ("lay", mine, move.kind, *cards)


def in_order(cards: NDArray[np.int8], variant: Any) -> list[int]:
    """A hand as it was dealt so far, ascending."""
    dealt = cards[: variant.rule_set.hand_size].tolist()
    return sorted(dealt, key=lambda card: (card == NONE, card))


def cards_of(cards: NDArray[np.int8]) -> list[int]:
    return [int(card) for card in cards if card != NONE]


def told(views: tuple[View, View], event: Callable[[int], Event]) -> tuple[View, View]:
    """Each seat has seen its side of one more event."""
    return (*views[0], event(0)), (*views[1], event(1))


def begun(game: np.record) -> tuple[View, View]:
    """A round begins: what each seat takes along from the rounds before."""
    return told(((), ()), lambda me: ("begin", *(carried(game, name, me) for name in CARRIED_OVER)))


def carried(game: np.record, name: str, me: int) -> Any:
    value = game[name]
    if name in ("wins", "points"):
        return int(value[me]), int(value[1 - me])
    if name in ("starter", "chooser", "marker"):  # who, if anybody
        return tuple(None if seat == NONE else bool(seat == me) for seat in np.ravel(value))
    return tuple(np.ravel(value).tolist())


def plays(before: np.record, game: np.record) -> Iterator[int]:
    """The cards played between two positions of a round, in order."""
    first, last = int(before.plays) + 1, int(game.plays)
    if first <= last:
        order = game.played_as.tolist()
        yield from (order.index(number) for number in range(first, last + 1))


def played(before: np.record, game: np.record, card: int) -> Callable[[int], Event]:
    """A card is played: by whom, and whose it was if it lay face down until then."""
    by = int(game.played_by[card])
    offer = zip(before.offer.tolist(), before.face_down.tolist(), strict=True)
    down = [seat for offered, seat in offer if offered == card and seat != NONE]
    if not down and card == game.laid[by, INTRIGUE, 0]:
        down = [by]
    return lambda me: ("play", by == me, card, *(seat == me for seat in down))
