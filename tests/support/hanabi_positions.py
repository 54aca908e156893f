"""Positions of Hanabi for the tests: led by hand, or by players who see every card."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from positions import Table

from hanamachi.engine.game import Variant
from hanamachi.games.hanabi.rules import NONE
from hanamachi.games.registry import variant

PLAYERS = (2, 3, 4, 5)
VARIANTS = [
    *(variant(f"hanabi:{players}p") for players in PLAYERS),
    *(variant(f"hanabi:{players}p:multicolour") for players in PLAYERS),
    variant("hanabi:3p", multicolour="ten", allow_empty_hints=True, strikeout_score="fireworks"),
    variant("hanabi:2p", colours=2, ranks=3, hand_size=2, max_clues=3, max_errors=1),
]

# --- Led by hand


class Hanabi(Table):
    """A table of Hanabi; cards are named like red1 and multicolour5."""

    def card(self, name: str) -> int:
        suit = self.actions.traits.index(name[:-1])
        return suit * self.rule_set.ranks + int(name[-1]) - 1

    def name(self, card: int) -> str:
        suit, rank = divmod(card, self.rule_set.ranks)
        return f"{self.actions.traits[suit]}{rank + 1}"

    def draw(self, names: str) -> None:
        self.bring(*(self.card(name) for name in names.split()))

    def hand(self, seat: int) -> str:
        """The names of the cards that a seat holds, the oldest first."""
        return " ".join(self.name(card) for card in self.game.hand[seat] if card != NONE)

    def may_be(self, seat: int) -> list[str]:
        """What clues leave possible for each card of a hand, such as "red green 125"."""
        return [self.spelled(cards) for cards in self.game.possible[seat, : self.game.held[seat]]]

    def spelled(self, cards: int) -> str:
        names = [self.name(card) for card in range(self.rule_set.cards) if cards >> card & 1]
        suits = dict.fromkeys(name[:-1] for name in names)
        return f"{' '.join(suits)} {''.join(sorted({name[-1] for name in names}))}"

    def told(self, seat: int) -> list[str]:
        """What clues have named of each card of a hand, such as "red 3s"."""
        named = self.game.named[seat, : self.game.held[seat]].tolist()
        traits = list(enumerate(self.actions.traits))
        return [" ".join(trait for i, trait in traits if cards >> i & 1) for cards in named]


def set_up(
    id: str,
    hands: list[str],
    deck: str,
    fireworks: list[int],
    options: dict[str, Any] | None = None,
    **state: Any,
) -> Hanabi:
    """The table with these hands, deck and fireworks, and this other state.

    All other cards have been discarded.
    """
    table = Hanabi(id, **(options or {}))
    table.draw(" ".join(hands))
    game, rule_set = table.game, table.rule_set
    game.fireworks[: rule_set.suits] = fireworks
    game.score = sum(fireworks)
    built = np.arange(rule_set.ranks) < np.array(fireworks)[:, None]
    outside = game.unseen[: rule_set.cards] - built.ravel()
    game.unseen[:] = 0
    for name in deck.split():
        game.unseen[table.card(name)] += 1
    game.deck = game.unseen.sum()
    game.discards[: rule_set.cards] = outside - game.unseen[: rule_set.cards]
    assert (game.discards >= 0).all(), "more cards than there are"
    for name, value in state.items():
        game[name] = value
    return table


# --- Led by players who see every card

# What a move is worth to a player who sees all cards; between equals the dice decide.
MISPLAY, DISCARD_LAST, DISCARD, CLUE, DISCARD_USELESS, PLAY = range(6)


def noise(seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
    """How much of each game is left to the dice, (B,): in turn all of it and a tenth of it."""
    return np.where(seeds % np.uint64(2), 0.1, 1.0)


def seeing_actions(
    variant: Variant,
    games: NDArray[Any],
    masks: NDArray[np.int8],
    noise: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Legal actions, (B,), of movers who see all cards and now and then leave it to the dice.

    They play what fits, else discard what is of no use, else give any clue, else discard.
    """
    worth = worth_of_actions(variant, games)
    worth[rng.random(len(games)) < noise] = 0
    return (masks * (1 + worth + rng.random(masks.shape) / 2)).argmax(1)


def worth_of_actions(variant: Variant, games: NDArray[Any]) -> NDArray[np.float64]:
    """What each action is worth to the movers, (B, A), be it legal or not."""
    rule_set = variant.rule_set
    hand = games["hand"][np.arange(len(games)), games["mover"], : rule_set.hand_size]  # (B, H)
    of_cards = worth_of_discards(variant, games), worth_of_plays(variant, games)
    worth = np.full((len(games), variant.actions.size), float(CLUE))
    worth[:, : 2 * rule_set.hand_size] = np.hstack(
        [np.take_along_axis(worths, hand.astype(np.int64), axis=1) for worths in of_cards]
    )
    return worth


def worth_of_plays(variant: Variant, games: NDArray[Any]) -> NDArray[np.int64]:
    """Of each card, (B, C * R)."""
    suits, ranks = variant.rule_set.suits, np.arange(variant.rule_set.ranks)
    fits = ranks == games["fireworks"][:, :suits, None]
    return np.where(fits, PLAY, MISPLAY).reshape(len(games), variant.rule_set.cards)


def worth_of_discards(variant: Variant, games: NDArray[Any]) -> NDArray[np.int64]:
    """Of each card, (B, C * R); useless are those played, out of reach, and held twice."""
    rule_set = variant.rule_set
    suits, ranks = rule_set.suits, np.arange(rule_set.ranks)
    left = rule_set.copies[: rule_set.cards] - games["discards"][:, : rule_set.cards]
    gone = (left == 0).reshape(len(games), suits, rule_set.ranks)
    out_of_reach = np.maximum.accumulate(gone, axis=2)
    played = ranks < games["fireworks"][:, :suits, None]
    useless = (out_of_reach | played).reshape(left.shape)
    held = (games["hand"][..., None] == np.arange(rule_set.cards)).sum((1, 2))
    spare = np.where(left > 1, DISCARD, DISCARD_LAST)
    return np.where(useless | (held > 1), DISCARD_USELESS, spare)
