"""The eight-suited deck holds Hanamikoji, card for card."""

from collections import Counter

import pytest
from hanamikoji_positions import Hanamikoji

from hanamachi.games.hanamikoji import CARDS
from hanamachi.games.hanamikoji.eight_suits import PLAYER_SUITS, SUITS, Card, deck, suits
from hanamachi.games.hanamikoji.rules import ACTIONS
from hanamachi.games.registry import variant

pytestmark = pytest.mark.uncompiled

FIFTH = pytest.mark.parametrize("fifth_suit", ["moon", "star"])
RANKS = "0123456789XJQKA"


@FIFTH
def test_36_different_cards_are_used(fifth_suit: str) -> None:
    cards = deck(CARDS, fifth_suit)
    assert len({(card.suit, card.rank) for card in cards}) == len(cards) == 36
    assert all(card.suit in SUITS and card.rank in RANKS for card in cards)
    parts = Counter("action" if card.part in ACTIONS else card.part for card in cards)
    assert parts == {"item": 21, "geisha": 7, "action": 8}


@FIFTH
def test_suits_are_geisha_and_their_items(fifth_suit: str) -> None:
    cards = deck(CARDS, fifth_suit)
    for suit, charm in zip(suits(fifth_suit), CARDS, strict=True):
        assert Card(suit, str(charm), "geisha") in cards
        items = [card.rank for card in cards if card.suit == suit and card.part == "item"]
        assert items == list("01234"[:charm])


@FIFTH
def test_the_unused_suit_is_left_in_the_box(fifth_suit: str) -> None:
    used = {card.suit for card in deck(CARDS, fifth_suit)}
    assert set(SUITS) - used == {"moon", "star"} - {fifth_suit}


def test_each_player_has_the_four_actions_in_one_suit() -> None:
    for suit in PLAYER_SUITS:
        held = {card.rank: card.part for card in deck(CARDS, "moon") if card.suit == suit}
        assert {rank: held[rank] for rank in "XJQK"} == {
            "X": "trade_off",
            "J": "secret",
            "Q": "gift",
            "K": "competition",
        }


@FIFTH
def test_it_is_hanamikoji_under_other_names(fifth_suit: str) -> None:
    """The same cards and words, suit for geisha, lead to the same game."""
    plain, suited = Hanamikoji(), Hanamikoji("hanamikoji:eight_suits", fifth_suit=fifth_suit)
    names = dict(zip(plain.actions.names, suited.actions.names, strict=True))
    assert suited.actions.digest == plain.actions.digest
    for step, words in plain.round([1, 0, 2, 1, 0, 1, 3], [1, 2, 0, 1, 2, 1, 1]):
        plain.follow([(step, words)])
        suited.follow([(step, " ".join(names.get(word, word) for word in words.split()))])
        assert suited.game == plain.game
    assert plain.game.round_number == 2


def test_no_round_limit_is_the_default() -> None:
    assert variant("hanamikoji:eight_suits").options["max_rounds"] is None
