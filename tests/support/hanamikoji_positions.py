"""Positions of Hanamikoji for the tests, and what its seats see.

A view begins with whether the seat began and its hand as dealt; then come draws and moves. Of
the other seat it holds that a card was drawn (None), and a hidden action without its cards.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from positions import Histories, Node, Table, View

from hanamachi.games.hanamikoji.actions import Move
from hanamachi.games.hanamikoji.rules import CHOOSE_STARTER, DEAL, DRAW, SECRET, TRADE_OFF


class Hanamikoji(Table):
    """A table of Hanamikoji."""

    def __init__(self, id: str = "hanamikoji", **options: object) -> None:
        super().__init__(id, **options)

    def round(self, *sides: list[int]) -> list[tuple[str, str]]:
        """Steps of a round that leaves these 8 items on the starter's side and on the other's."""
        (a, b), names = map(spelled, sides), self.actions.names
        rest = spelled(np.array(self.variant.options["cards"]) - sides[0] - sides[1])
        a, b, rest = ([names[g] for g in cards] for cards in (a, b, rest))
        first = [*a[:2], *b[:2], *a[2:4], b[2], *rest[:2], a[4]]
        second = [*b[3:5], *a[5:7], *b[5:7], a[7], *rest[2:4], b[7]]
        steps = [("draw", " ".join(first[:6])), ("draw", " ".join(second[:6]))]
        for turn in range(4):
            for cards in (first, second):
                steps.append(("draw", cards[6 + turn]))
                steps += [("play", words) for words in turns(cards)[turn]]
        return steps


def spelled(counts: Iterable[int]) -> list[int]:
    return [g for g, n in enumerate(counts) for _ in range(n)]


def turns(cards: list[str]) -> list[list[str]]:
    """Four turns with ten cards: the second pair and the third card of the Gift are taken."""
    words = " ".join
    return [
        [f"competition {words(cards[:2])} | {words(cards[2:4])}", f"take {words(cards[2:4])}"],
        [f"gift {words(cards[4:7])}", f"take {cards[6]}"],
        [f"trade-off {words(cards[7:9])}"],
        [f"secret {cards[9]}"],
    ]


class HanamikojiHistories(Histories):
    """What the seats see of a round of Hanamikoji."""

    def is_deal(self, game: np.record) -> bool:
        return game.phase in (CHOOSE_STARTER, DEAL)

    def after_chance(self, node: Node, game: np.record, outcome: int) -> tuple[View, View]:
        if node.game.phase == DRAW:
            return seen(node.views, game.mover, outcome, None)
        if game.phase == DRAW:  # both hands have just been dealt
            first, second = ((game.starter == s, tuple(game.hand[s].tolist())) for s in (0, 1))
            return first, second
        return node.views

    def after_move(self, node: Node, game: np.record, action: int) -> tuple[View, View]:
        move = self.variant.actions.moves[action]
        public = Move(move.kind) if move.kind in (SECRET, TRADE_OFF) else move
        return seen(node.views, node.game.mover, move, public)

    def random_actions(
        self, masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A tile first and then its cards, as most actions are Competitions."""
        tile = rng.random((len(masks), 6))[:, self.variant.actions.kind]
        return (masks * (1 + tile + 1e-9 * rng.random(masks.shape))).argmax(1)


def seen(views: tuple[View, View], me: int, mine: object, theirs: object) -> tuple[View, View]:
    events = (mine, theirs) if me == 0 else (theirs, mine)
    return (*views[0], events[0]), (*views[1], events[1])
