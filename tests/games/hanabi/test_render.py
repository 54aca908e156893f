"""The table of Hanabi shows a seat all but its own cards, and those too to whoever may see all."""

import numpy as np
import pytest
from hanabi_positions import VARIANTS, Hanabi, set_up
from positions import random_positions

from hanamachi.engine.game import Variant
from hanamachi.games.hanabi import COLOURS, MULTICOLOUR
from hanamachi.games.hanabi.render import WIDTH, drawing, height, text
from hanamachi.rendering.pixels import pixels

pytestmark = pytest.mark.uncompiled

IDS = [f"{v.id.partition(':')[2]}-{v.rule_set.copies.sum()}" for v in VARIANTS]
HANDS = ["red1 red3 blue3 green5 green2", "red2 yellow2 black4 green4 blue5"]


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_a_hand_is_shown_to_everybody_but_its_owner(variant: Variant) -> None:
    game = random_positions(variant, 2)[0]
    views = {seat: rows("hand", text(variant, game, seat)) for seat in range(variant.seats)}
    for viewer, shown in views.items():
        owners = [(viewer + side) % variant.seats for side in range(1, variant.seats + 1)]
        hands = [names(variant, game, owner) for owner in owners[:-1]]
        assert shown == [*hands, ["?"] * int(game.held[viewer])]
    assert (pixels(drawing(variant, game, 0)) != pixels(drawing(variant, game))).any()


def rows(name: str, table: str) -> list[list[str]]:
    """What stands in the rows of this name, from top to bottom."""
    return [line[14:].split() for line in table.splitlines() if line[:14].strip() == name]


def names(variant: Variant, game: np.record, seat: int) -> list[str]:
    suits = (*COLOURS[: variant.options["colours"]], MULTICOLOUR)
    cards = (divmod(card, variant.rule_set.ranks) for card in game.hand[seat, : game.held[seat]])
    return [f"{suits[suit]}{rank + 1}" for suit, rank in cards]


# --- All that is to be seen


def test_clues_are_shown_with_what_they_leave_possible() -> None:
    table = set_up("hanabi:2p", HANDS, "red4 red5", [0] * 5)
    table.play("tell player 1 about 4s")
    table.play("tell player 0 about red")
    theirs, mine = cut(text(table.variant, table.game, 0))
    assert theirs == [
        "player 1        told player 0 about red: cards 1 2",
        "  card        1            2            3            4            5",
        "  hand        red2         yellow2      black4       green4       blue5",
        "  told                                  4            4",
        "  may be      RKYGB 123·5  RKYGB 123·5  RKYGB ···4·  RKYGB ···4·  RKYGB 123·5",
    ]
    assert mine == [
        "player 0 (you)  told player 1 about 4s: cards 3 4",
        "  card        1            2            3            4            5",
        "  hand        red?         red?         ?            ?            ?",
        "  told        R            R",
        "  may be      R···· 12345  R···· 12345  ·KYGB 12345  ·KYGB 12345  ·KYGB 12345",
    ]


def cut(table: str) -> list[list[str]]:
    """The hands of a table, each a list of lines."""
    return [part.splitlines() for part in table.split("\n\n")[2:-1]]


def test_own_cards_are_shown_as_far_as_clues_tell_them() -> None:
    table = set_up("hanabi:2p", HANDS, "red4 red5", [0] * 5)
    for seat, clue in enumerate(("4s", "red", "blue", "3s")):
        table.play(f"tell player {1 - seat % 2} about {clue}")
    assert rows("hand", text(table.variant, table.game, 0))[-1] == ["red?", "red3", "?3", "?", "?"]


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("discard card 3", "discarded card 3, blue3"),
        ("play card 1", "played card 1, red1"),
        ("play card 4", "played card 4, green5, and a clue token came back"),
        ("play card 5", "played card 5, green2, an error"),
        ("tell player 1 about yellow", "told player 1 about yellow: card 2"),
        ("tell player 1 about 1s", "told player 1 about 1s: no card"),
    ],
)
def test_the_last_turn_of_every_player_is_told_in_words(move: str, words: str) -> None:
    options = {"allow_empty_hints": True}
    table = set_up("hanabi:2p", HANDS, "red4 red5 red3", [0, 0, 0, 4, 0], options, clues=4)
    table.play(move)
    assert cut(text(table.variant, table.game))[-1][0] == f"player 0        {words}"


def test_fireworks_discards_tokens_and_cards_not_seen_are_shown() -> None:
    table = set_up("hanabi:2p", HANDS, "red4 red5", [0, 3, 0, 4, 2], clues=6, errors=1)
    first, board = text(table.variant, table.game, 0).split("\n\n")[:2]
    assert first == "Hanabi · 2 players · score 9 of 25 · deck 2"
    assert board.splitlines() == [
        "              red        black      yellow     green      blue",
        "  letter      R          K          Y          G          B",
        "  firework    0          3          0          4          2",
        "  discards    11234      112345     111233445  113        112344",
        "  unseen      1345                             25         3",
        "  clue tokens ●●●●●●○○",
        "  errors      ●○○",
    ]


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_every_card_is_somewhere(variant: Variant) -> None:
    for game in random_positions(variant, 2):
        shown = text(variant, game)
        piles = "".join(rows("discards", shown)[0] + rows("deck", shown)[0])
        played = sum(map(int, rows("firework", shown)[0]))
        held = sum(map(len, rows("hand", shown)))
        assert len(piles) + played + held == variant.rule_set.copies.sum()


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_the_image_has_a_place_for_every_player(variant: Variant) -> None:
    game = random_positions(variant, 3)[0]
    assert pixels(drawing(variant, game)).shape == (height(variant), WIDTH, 3)


# --- The end


def last_line(table: Hanabi) -> str:
    return text(table.variant, table.game).splitlines()[-1]


@pytest.mark.parametrize(
    ("fireworks", "words"),
    [
        ([2, 0, 0, 0, 0], "3 points: terrible"),
        ([2, 2, 2, 2, 1], "10 points: poor"),
        ([2, 3, 4, 2, 1], "13 points: fair"),
        ([2, 3, 4, 5, 1], "16 points: excellent"),
        ([2, 5, 5, 5, 3], "21 points: amazing"),
        ([2, 5, 5, 5, 5], "23 points: amazing"),
    ],
)
def test_the_end_tells_the_points_and_what_they_are_worth(fireworks: list[int], words: str) -> None:
    hands = ["red3 black1 black2 yellow1 green1", "green4 blue1 red1 red2 black3"]
    table = set_up("hanabi:2p", hands, "", fireworks, turns_left=1)
    table.play("play card 1")
    assert last_line(table) == f"the fireworks are worth {words}"


@pytest.mark.parametrize(
    ("id", "fireworks", "words"),
    [
        ("hanabi:2p", [4, 5, 5, 5, 5], "25 points: legendary"),
        ("hanabi:2p:multicolour", [4, 5, 5, 5, 5, 4], "29 points: legendary"),
        ("hanabi:2p:multicolour", [4, 5, 5, 5, 5, 5], "30 points: transcendent"),
    ],
)
def test_a_display_of_all_colours_is_legendary(id: str, fireworks: list[int], words: str) -> None:
    hands = ["red5 black1 black2 yellow1 green1", "green4 blue1 red1 red2 black3"]
    table = set_up(id, hands, "", fireworks, turns_left=1)
    table.play("play card 1")
    assert last_line(table) == f"the fireworks are worth {words}"


def test_small_versions_are_not_rated() -> None:
    options = {"colours": 1, "ranks": 2, "hand_size": 1}
    table = set_up("hanabi:2p", ["red1", "red2"], "", [0], options)
    table.play("play card 1")
    assert last_line(table) == "it is the turn of player 1, 1 turn left"
    table.play("play card 1")
    assert last_line(table) == "the fireworks are worth 2 points"


@pytest.mark.parametrize(("strikeout_score", "points"), [("zero", 0), ("fireworks", 7)])
def test_a_game_lost_by_errors_says_so(strikeout_score: str, points: int) -> None:
    options = {"strikeout_score": strikeout_score}
    table = set_up("hanabi:2p", HANDS, "red4 red5", [0, 3, 0, 4, 0], options, errors=2)
    assert last_line(table) == "it is the turn of player 0"
    table.play("play card 2")
    assert last_line(table) == f"lost by the last error, with {points} points"
