"""Hanamikoji with an eight-suited deck: which of its cards stand for what.

A geisha of charm v is the card of rank v in a suit; her items are that suit's cards of ranks
0 to v - 1. The action cards of one player are clubs, those of the other spades.
"""

from typing import NamedTuple

SUITS = ("club", "spade", "heart", "diamond", "coin", "crown", "moon", "star")
ACTION_RANKS = {"X": "trade_off", "J": "secret", "Q": "gift", "K": "competition"}
PLAYER_SUITS = ("club", "spade")


class Card(NamedTuple):
    """A card of the deck and its part in the game."""

    suit: str
    rank: str
    part: str  # "item", "geisha", or the name of an action


def suits(fifth_suit: str) -> tuple[str, ...]:
    """The suit of each geisha, from the left; the last, of charm 5, is a moon or a star."""
    return (*SUITS[:6], fifth_suit)


def deck(cards: tuple[int, ...], fifth_suit: str) -> list[Card]:
    """Every card that the game uses."""
    used = [Card(suit, rank, part) for suit in PLAYER_SUITS for rank, part in ACTION_RANKS.items()]
    for suit, charm in zip(suits(fifth_suit), cards, strict=False):
        used += [Card(suit, str(rank), "item") for rank in range(charm)]
        used.append(Card(suit, str(charm), "geisha"))
    return used
