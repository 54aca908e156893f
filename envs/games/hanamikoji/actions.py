"""The catalogue of actions of Hanamikoji: what each action number means, in order.

First the player's own actions by tile (Secret, Trade-off, Gift, Competition), each in ascending
order of its cards, then the answers to a Gift and to a Competition. Equal cards are one choice,
and what the number of items of a geisha makes impossible is left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement as multisets

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Actions
from hanamachi.games.four_actions import SIZES
from hanamachi.games.hanamikoji.rules import (
    ACTIONS,
    COMPETITION,
    GEISHA,
    GIFT,
    TAKE_CARD,
    TAKE_PAIR,
)

Cards = tuple[int, ...]


@dataclass(frozen=True)
class Move:
    """One entry of the catalogue; only a Competition has a second pile."""

    kind: int  # SECRET .. TAKE_PAIR
    cards: Cards = ()  # geisha of the cards named, ascending; the first pair of a Competition
    second: Cards = ()  # the second pair, not before the first in order
    pair: int = 0  # which pair TAKE_PAIR takes


def moves(cards: Sequence[int], in_use: Sequence[str]) -> Iterator[Move]:
    """Every move of a rule set, in catalogue order."""
    for kind, name in enumerate(ACTIONS):
        if name in in_use and kind != COMPETITION:
            for chosen in hands(cards, SIZES[kind]):
                yield Move(kind, chosen)
        elif name in in_use:
            pairs = list(hands(cards, 2))
            for i, first in enumerate(pairs):
                for second in pairs[i:]:
                    if there_are(cards, first + second):
                        yield Move(kind, first, second)
    if ACTIONS[GIFT] in in_use:
        for g in range(len(cards)):
            yield Move(TAKE_CARD, (g,))
    if ACTIONS[COMPETITION] in in_use:
        yield Move(TAKE_PAIR, pair=0)
        yield Move(TAKE_PAIR, pair=1)


def hands(cards: Sequence[int], size: int) -> Iterator[Cards]:
    """All multisets of `size` cards, ascending."""
    return (c for c in multisets(range(len(cards)), size) if there_are(cards, c))


def there_are(cards: Sequence[int], chosen: Cards) -> bool:
    return all(n <= cards[g] for g, n in Counter(chosen).items())


class Catalogue(Actions):
    """All moves of one rule set; a move's index is its action number."""

    kinds = TAKE_PAIR + 1

    def __init__(self, cards: Sequence[int], in_use: Sequence[str], names: Sequence[str]) -> None:
        super().__init__(moves(cards, in_use))
        self.names = tuple(names)  # of the geisha, as players write them

    @cached_property
    def piles(self) -> NDArray[np.int8]:
        """(A, 2, 7) the cards of each move's piles, as counts."""
        piles = np.zeros((self.size, 2, GEISHA), np.int8)
        for action, move in enumerate(self.moves):
            for pile, cards in enumerate((move.cards, move.second)):
                np.add.at(piles[action, pile], list(cards), 1)
        return piles

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """(A, 35) a move's kind, all its cards, doubled cards, and a Competition's pairs."""
        kinds = np.eye(TAKE_PAIR + 1)[self.kind]
        pair = [move.pair for move in self.moves]
        cards = self.piles.sum(1)
        pairs = self.piles * (self.kind == COMPETITION)[:, None, None]
        columns = (kinds, pair, cards, cards > 1, pairs.reshape(self.size, -1))
        return np.column_stack(columns).astype(np.float32)

    def describe(self, action: int, game: np.record | None = None) -> str:
        """The action in words; an answer to a Competition names its cards if the game is given."""
        move = self.move(action, game)
        if move.kind == TAKE_CARD:
            return f"take {self._cards(move.cards)}"
        if move.kind == TAKE_PAIR:
            if game is not None and game.mover >= 0:
                counts = game.pairs[1 - game.mover, move.pair]
                if counts.any():  # else nothing is offered
                    return f"take {self._cards(np.repeat(np.arange(GEISHA), counts))}"
            return f"take pair {move.pair + 1}"
        words = f"{ACTIONS[move.kind].replace('_', '-')} {self._cards(move.cards)}"
        return f"{words} | {self._cards(move.second)}" if move.second else words

    def _cards(self, cards: Sequence[int] | NDArray[np.int64]) -> str:
        return " ".join(self.names[g] for g in cards)

    def words(self, text: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
        """The word for the action, and its piles in an order that does not matter."""
        verb, _, rest = text.strip().lower().partition(" ")
        piles = (tuple(sorted(pile.split())) for pile in rest.replace("/", "|").split("|"))
        return verb, tuple(sorted(piles))
