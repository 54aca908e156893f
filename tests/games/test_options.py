"""A refused option is named in one sentence, with the value that was given."""

from typing import Any

import numpy as np
import pytest
from messages import assert_one_sentence

from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant

pytestmark = pytest.mark.uncompiled

HANAMIKOJI, HANABI = "hanamikoji", "hanabi:2p"
EDITION_2021, INTRODUCTORY, STANDARD, ADVANCED = (
    f"geishas_road:{name}" for name in ("2021", "introductory", "standard", "advanced")
)
FOUR_COLOURS = {"colours": 4, "item_values": (1, 2, 3, 4, 5)}

# the last option is the wrong one; the others are what it must fit
WRONG: list[tuple[str, dict[str, Any]]] = [
    (HANAMIKOJI, {"starter": 2}),
    (HANAMIKOJI, {"starter": True}),
    (HANAMIKOJI, {"limit_rule": "geisha"}),
    (HANAMIKOJI, {"max_rounds": 0}),
    (HANAMIKOJI, {"max_rounds": 2.5}),
    (HANAMIKOJI, {"cards": (1,) * 8}),
    (HANAMIKOJI, {"cards": (11, 11)}),
    (HANAMIKOJI, {"cards": (2, 0, 4)}),
    (HANAMIKOJI, {"cards": "all"}),
    (HANAMIKOJI, {"actions": ()}),
    (HANAMIKOJI, {"cards": (2, 3, 4), "actions": ("secret",)}),  # nobody can win
    ("hanamikoji:eight_suits", {"fifth_suit": "sun"}),
    (STANDARD, {"starter": 2}),
    (STANDARD, {"colours": 6}),
    (STANDARD, {"item_values": (0, 1)}),
    (STANDARD, {"item_values": (2, 1)}),
    (STANDARD, {"prestige_tokens": (2,) * 4}),
    (INTRODUCTORY, {**FOUR_COLOURS, "prestige_tokens": (1,) * 9}),
    (STANDARD, {"instant_win": 2}),
    (STANDARD, {**FOUR_COLOURS, "instant_win": 2}),
    (STANDARD, {"rounds": 0}),
    (STANDARD, {"base": ()}),
    (EDITION_2021, {"light": (1,) * 6}),
    (EDITION_2021, {"start_marker": "none"}),
    (EDITION_2021, {"rounds_to_win": 0}),
    (STANDARD, {"loser_picks_starter": "never"}),
    (STANDARD, {"tiebreaker_alone_wins": 1}),
    (STANDARD, {"decline_collecting": "no"}),
    (ADVANCED, {"counteroffer_shares": "both"}),
    (ADVANCED, {"can_counter_hidden": None}),
    (ADVANCED, {"counter_own": 1}),
    (HANABI, {"starter": 2}),
    ("hanabi:4p", {"starter": True}),
    (HANABI, {"multicolour": 6}),
    (HANABI, {"max_clues": 9}),
    (HANABI, {"max_errors": 0}),
    (HANABI, {"allow_empty_hints": 1}),
    ("hanabi:3p", {"strikeout_score": 0}),
    (HANABI, {"colours": 6}),
    (HANABI, {"ranks": 0}),
    ("hanabi:5p", {"hand_size": 6}),
]

TOO_FEW_CARDS: list[tuple[str, dict[str, Any], int, int]] = [
    (HANAMIKOJI, {"cards": (2, 3, 4), "max_rounds": 1}, 20, 9),
    (EDITION_2021, {"item_values": (1, 2, 3)}, 20, 15),
    (ADVANCED, {"colours": 2, "item_values": (1, 2, 3), "actions": ("reveal", "gift")}, 8, 6),
    ("hanabi:5p", {"colours": 1}, 20, 10),
]

UNKNOWN: list[tuple[str, dict[str, Any]]] = [
    (HANAMIKOJI, {"fifth_suit": "star"}),
    (INTRODUCTORY, {"decline_collecting": True}),
    (EDITION_2021, {"rounds": 2}),
    (HANABI, {"players": 3}),
]


def refusal(id: str, options: dict[str, Any]) -> UserError:
    with pytest.raises(UserError) as refused:
        variant(id, **options)
    return refused.value


@pytest.mark.parametrize(("id", "options"), WRONG, ids=str)
def test_a_wrong_option_is_named_with_its_value(id: str, options: dict[str, Any]) -> None:
    name, value = list(options.items())[-1]
    assert_one_sentence(refusal(id, options), name, shown(value))


@pytest.mark.parametrize(("id", "options", "needed", "there"), TOO_FEW_CARDS, ids=str)
def test_too_few_cards_are_counted(
    id: str, options: dict[str, Any], needed: int, there: int
) -> None:
    assert_one_sentence(refusal(id, options), f"{needed} cards", f"only {there}")


@pytest.mark.parametrize(("id", "options"), UNKNOWN, ids=str)
def test_an_option_of_another_game_or_edition_is_refused(id: str, options: dict[str, Any]) -> None:
    assert_one_sentence(refusal(id, options), id, *map(repr, options))


@pytest.mark.parametrize(
    ("id", "options", "near"),
    [
        (HANAMIKOJI, {"max_round": 3}, "max_rounds"),
        (HANAMIKOJI, {"actions": ("gifts",)}, "gift"),
        (ADVANCED, {"actions": ("gifts",)}, "gift"),
    ],
    ids=str,
)
def test_a_misspelt_name_gets_the_nearest_right_one(
    id: str, options: dict[str, Any], near: str
) -> None:
    assert_one_sentence(refusal(id, options), f" {near}?")


@pytest.mark.parametrize("id", [HANAMIKOJI, ADVANCED])
def test_an_action_is_listed_once(id: str) -> None:
    assert_one_sentence(refusal(id, {"actions": ("gift", "gift")}), "once", "('gift', 'gift')")


@pytest.mark.parametrize(("value", "told"), [(np.int64(3), True), ({}, False)])
def test_numpy_is_named_where_it_is_the_cause(value: object, told: bool) -> None:
    sentence = assert_one_sentence(refusal(HANAMIKOJI, {"max_rounds": value}), "max_rounds")
    assert ("of numpy" in sentence) == told
