"""Hanabi: its rules one by one, options and the catalogue."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hanabi_positions import Hanabi, set_up

import hanamachi
from hanamachi import hanabi_v0
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.errors import UserError
from hanamachi.games.hanabi import COLOURS, HAND_SIZES, VARIANTS
from hanamachi.games.hanabi.rules import CLUE
from hanamachi.games.registry import variant

pytestmark = pytest.mark.uncompiled

A, B = 0, 1  # seats
ANY_COLOUR = " ".join(COLOURS)
HELD_BY_A = "red2 red3 red4 black2 black3"
HELD_BY_B = "red1 green1 red5 blue3 yellow1"


def dealt(id: str = "hanabi:2p", **options: Any) -> Hanabi:
    """The table of two when A and B have their hands."""
    table = Hanabi(id, **options)
    table.draw(f"{HELD_BY_A} {HELD_BY_B}")
    return table


def hands_of(players: int) -> list[str]:
    """Hands of different cards, the lowest first; nobody holds a 5."""
    cards = [f"{colour}{rank}" for rank in range(1, 5) for colour in COLOURS]
    size = HAND_SIZES[players]
    return [" ".join(cards[size * seat : size * (seat + 1)]) for seat in range(players)]


def kinds_of_choices(table: Hanabi) -> set[str]:
    return {words.split()[0] for words in table.choices()}


# --- Setup


@pytest.mark.parametrize(
    ("id", "cards", "deck"),
    [
        ("hanabi:2p", 50, 40),
        ("hanabi:3p", 50, 35),
        ("hanabi:4p", 50, 34),
        ("hanabi:5p", 50, 30),
        ("hanabi:2p:multicolour", 55, 45),
        ("hanabi:3p:multicolour", 55, 40),
        ("hanabi:4p:multicolour", 55, 39),
        ("hanabi:5p:multicolour", 55, 35),
    ],
)
def test_everybody_gets_a_hand_and_the_rest_is_the_deck(id: str, cards: int, deck: int) -> None:
    table = Hanabi(id)
    assert table.game.deck == table.game.unseen.sum() == cards
    while table.game.mover == CHANCE:
        table.bring(table.outcomes()[-1][0])
    assert table.game.deck == table.game.unseen.sum() == deck
    players = table.rule_set.seats
    assert table.game.held.tolist() == [HAND_SIZES[players]] * players + [0] * (5 - players)
    assert (table.game.clues, table.game.errors, table.game.mover) == (8, 0, A)


def test_a_suit_has_three_ones_one_five_and_two_of_each_between() -> None:
    assert Hanabi("hanabi:2p").game.unseen[:25].tolist() == [3, 2, 2, 2, 1] * 5
    assert Hanabi("hanabi:2p", ranks=3).game.unseen[:15].tolist() == [3, 2, 1] * 5
    assert Hanabi("hanabi:2p", ranks=1).game.unseen[:5].tolist() == [3] * 5


def test_a_card_comes_as_often_as_it_is_left() -> None:
    table = Hanabi("hanabi:2p")
    table.draw("red1 red1 red1 blue5")
    chances = dict(table.outcomes())
    assert table.card("red1") not in chances
    assert table.card("blue5") not in chances
    assert chances[table.card("red2")] == pytest.approx(2 / 46)
    assert chances[table.card("blue1")] == pytest.approx(3 / 46)
    assert sum(chances.values()) == pytest.approx(1)


@pytest.mark.parametrize("players", HAND_SIZES)
def test_anybody_may_begin_or_a_seat_of_choice(players: int) -> None:
    table = Hanabi(f"hanabi:{players}p", starter="random")
    assert table.outcomes() == [(seat, pytest.approx(1 / players)) for seat in range(players)]
    for seat in range(players):
        table = Hanabi(f"hanabi:{players}p", starter=seat)
        table.draw(" ".join(hands_of(players)))
        assert table.game.mover == seat


def test_turns_go_round_clockwise() -> None:
    table = Hanabi("hanabi:3p", starter=1)
    table.draw(f"{HELD_BY_A} {HELD_BY_B} black1 black1 black4 green2 green3")
    movers = []
    for words in ("play card 1", "tell player 0 about red", "play card 5", "play card 1"):
        movers.append(int(table.game.mover))
        table.play(words)
        if table.game.mover == CHANCE:
            table.draw("blue1")
    assert movers == [1, 2, 0, 1]


# --- Clues


def test_a_clue_points_out_every_card_that_matches() -> None:
    table = dealt()
    table.play("tell player 1 about red")
    assert table.game.touched[A] == 0b00101
    others = "black yellow green blue 12345"
    red = "red 12345"
    assert table.may_be(B) == [red, others, red, others, others]
    assert table.told(B) == ["red", "", "red", "", ""]
    table.play("play card 1")
    table.draw("red1")
    table.play("tell player 1 about 1s")
    assert table.may_be(B)[0] == "black yellow green blue 1"
    assert table.may_be(B)[1] == "red 2345"
    assert table.told(B) == ["1s", "red", "", "1s", "1s"]
    assert table.may_be(A) == [f"{ANY_COLOUR} 12345"] * 5


@pytest.mark.parametrize("id", VARIANTS)
def test_a_clue_that_leaves_a_card_out_cannot_be_expressed(id: str) -> None:
    actions, rule_set = variant(id).actions, variant(id).rule_set
    clues = [(move.offset, move.trait) for move in actions.moves if move.kind == CLUE]
    assert sorted(clues) == [*product(range(1, rule_set.seats), range(rule_set.traits))]


def test_a_clue_must_touch_a_card_unless_empty_ones_are_allowed() -> None:
    assert "tell player 1 about black" not in dealt().choices()
    assert "tell player 1 about 2s" not in dealt().choices()
    table = dealt(allow_empty_hints=True)
    assert {"tell player 1 about black", "tell player 1 about 2s"} <= set(table.choices())
    table.play("tell player 1 about black")
    assert (table.game.clues, table.game.touched[A]) == (7, 0)
    assert table.may_be(B) == ["red yellow green blue 12345"] * 5
    assert table.told(B) == [""] * 5


def test_the_newest_card_is_the_last_and_the_others_keep_their_order() -> None:
    table = dealt()
    table.play("tell player 1 about red")
    table.play("play card 2")
    table.draw("blue1")
    assert table.hand(B) == "red1 red5 blue3 yellow1 blue1"
    assert table.told(B) == ["red", "red", "", "", ""]
    assert table.may_be(B)[4] == f"{ANY_COLOUR} 12345"


# --- Chips


def test_all_clues_in_the_box_no_discard() -> None:
    table = dealt()
    assert kinds_of_choices(table) == {"play", "tell"}
    table.play("tell player 1 about red")
    assert table.game.clues == 7
    assert kinds_of_choices(table) == {"discard", "play", "tell"}
    table.play("discard card 2")
    table.draw("blue1")
    assert (table.game.clues, table.game.discards[table.card("green1")]) == (8, 1)


def test_no_clue_in_the_box_no_clue_to_give() -> None:
    table = dealt(max_clues=1)
    table.play("tell player 1 about red")
    assert table.game.clues == 0
    assert kinds_of_choices(table) == {"discard", "play"}


@pytest.mark.parametrize(("before", "after"), [(0, 1), (7, 8), (8, 8)])
def test_a_complete_firework_brings_a_clue_back_if_one_is_out(before: int, after: int) -> None:
    table = set_up("hanabi:2p", [HELD_BY_B, HELD_BY_A], "blue1", [4, 0, 0, 0, 0], clues=before)
    table.play("play card 3")
    assert table.game.fireworks[:5].tolist() == [5, 0, 0, 0, 0]
    assert (table.game.clues, table.game.score) == (after, 5)


def test_no_more_clues_come_back_than_are_in_use() -> None:
    hands, options = [HELD_BY_B, HELD_BY_A], {"max_clues": 3}
    table = set_up("hanabi:2p", hands, "blue1", [4, 0, 0, 0, 0], options, clues=3)
    table.play("play card 3")
    assert (table.game.fireworks[0], table.game.clues) == (5, 3)


def test_a_firework_of_fewer_ranks_is_complete_with_its_last() -> None:
    hands = ["red3 red1 black1 black1 green1", "red2 black2 green2 yellow2 blue2"]
    table = set_up("hanabi:2p", hands, "blue1", [2, 0, 0, 0, 0], {"ranks": 3}, clues=5)
    table.play("play card 1")
    assert (table.game.fireworks[0], table.game.clues) == (3, 6)


def test_a_lower_card_brings_no_clue_back() -> None:
    table = set_up("hanabi:2p", [HELD_BY_A, HELD_BY_B], "blue1", [3, 0, 0, 0, 0], clues=5)
    table.play("play card 3")
    assert (table.game.fireworks[0], table.game.clues, table.game.errors) == (4, 5, 0)


@pytest.mark.parametrize("fireworks", [[0] * 5, [2, 0, 0, 0, 0], [4, 0, 0, 0, 0]], ids=str)
def test_a_card_that_does_not_continue_its_firework_is_an_error(fireworks: list[int]) -> None:
    hands = ["red2 red4 black4 green1 blue1", HELD_BY_B]
    table = set_up("hanabi:2p", hands, "blue1 blue1", fireworks, clues=5)
    before = table.game.discards[table.card("red4")]
    table.play("play card 2")
    assert table.game.discards[table.card("red4")] == before + 1
    assert (table.game.errors, table.game.clues, table.game.score) == (1, 5, sum(fireworks))
    assert table.game.fireworks[0] == fireworks[0]


# --- The end of the game


def play_any_clue(table: Hanabi) -> None:
    table.play(next(words for words in table.choices() if words.startswith("tell")))


@pytest.mark.parametrize("players", HAND_SIZES)
def test_after_the_last_card_everybody_has_one_more_turn(players: int) -> None:
    table = set_up(f"hanabi:{players}p", hands_of(players), "blue5", [0] * 5, clues=7)
    table.play("discard card 1")
    table.draw("blue5")
    movers = []
    while table.game.mover != OVER:
        movers.append(int(table.game.mover))
        play_any_clue(table)
    assert movers == [*range(1, players), A]  # whoever drew the last card comes last


def test_nobody_draws_in_the_final_round() -> None:
    table = set_up("hanabi:2p", hands_of(2), "blue5", [0] * 5, clues=7)
    table.play("play card 1")
    table.draw("blue5")
    table.play("discard card 1")
    assert table.game.mover == A
    assert table.hand(B) == "black2 yellow2 green2 blue2"
    table.play("play card 1")
    assert table.hand(A) == "yellow1 green1 blue1 blue5"
    assert (table.game.mover, table.game.score) == (OVER, 2)


def test_clues_alone_do_not_begin_the_final_round() -> None:
    table = set_up("hanabi:2p", hands_of(2), "blue5", [0] * 5)
    for _ in range(8):
        play_any_clue(table)
    assert (table.game.mover, table.game.clues) == (A, 0)


def test_without_a_deck_everybody_has_a_single_turn() -> None:
    table = Hanabi("hanabi:2p", colours=1, hand_size=5)
    table.draw("red1 red1 red2 red3 red4 red1 red2 red3 red4 red5")
    table.play("play card 1")
    assert table.game.mover == B
    table.play("play card 2")
    assert (table.game.mover, table.game.score) == (OVER, 2)


@pytest.mark.parametrize("turns_left", [1, 2])
def test_the_last_card_of_all_wins_at_once(turns_left: int) -> None:
    table = set_up(
        "hanabi:2p", ["blue5 red1 red2 red3 black1", "red1 green1 red4 blue3 yellow1"],
        "", [5, 5, 5, 5, 4], turns_left=turns_left,
    )  # fmt: skip
    table.play("play card 1")
    assert (table.game.mover, table.game.score) == (OVER, 25)
    assert table.game.rewards.tolist() == [1, 1, 0, 0, 0]


def test_the_last_card_of_all_wins_before_the_deck_is_empty() -> None:
    hands = ["blue5 red1 red1 red2 red3", "green1 green2 green3 yellow1 yellow2"]
    table = set_up("hanabi:2p", hands, "black1 black1", [5, 5, 5, 5, 4], clues=3)
    table.play("play card 1")
    assert (table.game.mover, table.game.score, table.game.clues) == (OVER, 25, 4)


def test_the_highest_cards_count_at_the_end() -> None:
    hands = ["blue3 red1 red1 red2 red3", "green1 yellow1 yellow1 yellow2 black1"]
    table = set_up("hanabi:2p", hands, "", [5, 4, 3, 2, 1], turns_left=1)
    table.play("tell player 1 about green")
    assert (table.game.mover, table.game.score) == (OVER, 15)
    assert not table.game.rewards.any()


def test_the_game_goes_on_when_no_more_points_can_be_had() -> None:
    hands = ["red2 red3 red4 black2 black3", "green2 green3 yellow2 yellow3 black4"]
    table = set_up("hanabi:2p", hands, "red2 red3", [0] * 5)  # every 1 has been discarded
    table.play("play card 5")
    table.draw("red2")
    assert (table.game.mover, table.game.errors) == (B, 1)


@pytest.mark.parametrize(("strikeout_score", "score"), [("zero", 0), ("fireworks", 20)])
@pytest.mark.parametrize("deck", ["", "red1"], ids=["final round", "before"])
def test_the_third_error_loses(strikeout_score: str, score: int, deck: str) -> None:
    hands = ["red3 red1 red2 black1 black2", "green1 green2 yellow1 yellow2 blue1"]
    options = {"strikeout_score": strikeout_score}
    table = set_up("hanabi:2p", hands, deck, [4, 4, 4, 4, 4], options, errors=2)
    assert table.game.score == 20
    table.play("play card 1")
    assert (table.game.mover, table.game.errors, table.game.score) == (OVER, 3, score)
    assert table.game.rewards.tolist() == [score - 20, score - 20, 0, 0, 0]
    assert table.choices() == []


@pytest.mark.parametrize("max_errors", [1, 2, 3])
def test_the_last_error_chip_in_use_loses(max_errors: int) -> None:
    hands = ["red3 red4 black3 black4 green3", "red2 black2 green2 yellow2 blue2"]
    deck = "red1 red1 red1 black1 black1"
    table = set_up("hanabi:2p", hands, deck, [0] * 5, {"max_errors": max_errors})
    for error in range(max_errors):
        assert (table.game.mover, table.game.errors) == (error % 2, error)
        assert not lost(table)
        table.play("play card 1")
        if table.game.mover == CHANCE:
            table.draw("red1")
    assert (table.game.mover, table.game.score) == (OVER, 0)
    assert lost(table)


def lost(table: Hanabi) -> bool:
    games = np.array([table.game], table.variant.game.record)
    return bool(table.variant.lost(games)[0])


@pytest.mark.parametrize(
    ("id", "options", "points"),
    [
        ("hanabi:2p", {}, 25),
        ("hanabi:5p:multicolour", {}, 30),  # T-HB6
        ("hanabi:2p", {"colours": 2, "ranks": 3, "hand_size": 2}, 6),
    ],
)
def test_the_best_score_is_a_point_for_each_card_of_all_fireworks(
    id: str, options: dict[str, Any], points: int
) -> None:
    assert variant(id, **options).best_score == points


# --- The sixth suit


def test_the_multicolour_suit_is_a_suit_of_its_own() -> None:
    table = Hanabi("hanabi:2p:multicolour")
    table.draw(f"{HELD_BY_A} green1 multicolour1 multicolour5 blue3 green4")
    assert "tell player 1 about multicolour" in table.choices()
    table.play("tell player 1 about green")
    assert table.told(B) == ["green", "", "", "", "green"]
    table.play("play card 1")
    table.draw("multicolour2")
    table.play("tell player 1 about multicolour")
    assert table.game.touched[A] == 0b10011
    assert table.told(B) == ["multicolour", "multicolour", "", "green", "multicolour"]
    assert table.may_be(B)[:3] == [
        "multicolour 12345", "multicolour 12345", "red black yellow blue 12345",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("multicolour", "copies"), [("none", []), ("five", [1] * 5), ("ten", [3, 2, 2, 2, 1])]
)
def test_one_or_two_of_each_multicolour_card(multicolour: str, copies: list[int]) -> None:
    table = Hanabi("hanabi:3p", multicolour=multicolour)
    assert table.game.unseen[25 : 25 + len(copies)].tolist() == copies
    assert table.game.deck == 50 + sum(copies)


def test_six_fireworks_are_worth_thirty() -> None:
    hands = ["multicolour5 red1 red1 red2 red3", "green1 green2 yellow1 yellow2 blue1"]
    table = set_up("hanabi:2p:multicolour", hands, "blue2", [5, 5, 5, 5, 5, 4])
    table.play("play card 1")
    assert (table.game.mover, table.game.score) == (OVER, 30)


def test_five_fireworks_do_not_win_with_six() -> None:
    hands = ["blue5 red1 red1 red2 red3", "green1 green2 yellow1 yellow2 blue1"]
    table = set_up("hanabi:2p:multicolour", hands, "blue2", [5, 5, 5, 5, 4, 0])
    table.play("play card 1")
    assert (table.game.mover, table.game.score) == (CHANCE, 25)


# --- The catalogue


@pytest.mark.parametrize("id", VARIANTS)
def test_actions_have_words_of_their_own(id: str) -> None:
    actions = variant(id).actions
    words = [actions.describe(action) for action in range(actions.size)]
    assert [actions.parse(text) for text in words] == list(range(actions.size))


@pytest.mark.parametrize(
    ("short", "full"), [("Play 2", "play card 2"), ("tell 1 red", "tell player 1 about red")]
)
def test_a_move_is_understood_without_its_filling_words(short: str, full: str) -> None:
    table = dealt()
    assert table.actions.parse(short, table.game) == table.actions.parse(full, table.game)


@pytest.mark.parametrize(
    ("players", "size"), [(2, 10 + 10), (3, 10 + 20), (4, 8 + 30), (5, 8 + 40)]
)
def test_actions_are_numbered_by_slot_then_colours_then_ranks(players: int, size: int) -> None:
    actions = variant(f"hanabi:{players}p").actions
    hand = HAND_SIZES[players]
    assert actions.size == size
    words = [actions.describe(action) for action in range(size)]
    assert words[:hand] == [f"discard card {slot + 1}" for slot in range(hand)]
    assert words[hand : 2 * hand] == [f"play card {slot + 1}" for slot in range(hand)]
    others = [f"player +{offset}" for offset in range(1, players)]
    colours = [f"tell {player} about {colour}" for player in others for colour in COLOURS]
    ranks = [f"tell {player} about {rank}s" for player in others for rank in range(1, 6)]
    assert words[2 * hand :] == colours + ranks


# --- Options


@pytest.mark.parametrize("players", HAND_SIZES)
def test_an_environment_for_each_number_of_players(players: int) -> None:
    env = hanabi_v0.env(players=players, max_errors=1)
    assert env.unwrapped.variant is variant(f"hanabi:{players}p", max_errors=1)
    env.reset(seed=1)
    assert env.agents == [f"player_{seat}" for seat in range(players)]


@pytest.mark.parametrize("players", HAND_SIZES)
def test_everybody_gets_what_a_card_adds_and_loses_it_with_the_game(players: int) -> None:
    env = hanamachi.make(f"hanabi:{players}p", max_errors=1, starter=0)
    red1, red2, red3 = range(3)
    mine = [red1, red2, red2, red3, red3][: HAND_SIZES[players]]
    env.reset(options={"deal": [*mine, red1]})
    play_the_oldest = env.unwrapped.variant.actions.parse("play card 1")
    for reward in (1, -1):
        env.step(play_the_oldest)
        assert env.unwrapped.rewards == dict.fromkeys(env.possible_agents, reward)
    assert all(env.terminations.values())


def test_the_number_of_players_and_the_sixth_suit_make_the_id() -> None:
    env = hanabi_v0.env(players=3, multicolour="five")
    assert env.unwrapped.variant is variant("hanabi:3p:multicolour")
    for make in (hanabi_v0.env, hanabi_v0.raw_env):
        with pytest.raises(UserError, match="players must be a whole number from 2 to 5, not 6"):
            make(players=6)
