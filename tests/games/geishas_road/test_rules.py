"""Geisha's Road: its rules one by one, rare events, options and the catalogue."""

from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from geishas_road_positions import GeishasRoad, GeishasRoadHistories
from messages import assert_one_sentence
from positions import Table, legal, masked, observed
from samples import sample

from hanamachi import geishas_road_v0
from hanamachi.engine.contract import OVER
from hanamachi.errors import UserError
from hanamachi.games.geishas_road.rules import (
    ANSWER,
    DRAW,
    LAY_TOKENS,
    NONE,
    PICK_MARKER,
    PICK_STARTER,
    PICK_TOKENS,
    PUT_IN_ORDER,
    bit_of,
    influence_of,
    past,
)
from hanamachi.games.registry import variant as make_variant

pytestmark = pytest.mark.uncompiled

A, B, N = 0, 1, NONE  # seats, and nobody
PINK, RED, BLUE, GREEN, YELLOW = range(5)
EDITION_2021, INTRODUCTORY, STANDARD, ADVANCED = IDS = [
    f"geishas_road:{name}" for name in ("2021", "introductory", "standard", "advanced")
]
NOBODYS = [N] * 5


def scored(
    id: str, mine: list[int], theirs: list[int], options: dict[str, Any] | None = None, **state: Any
) -> GeishasRoad:
    """The table after a round that ended with this influence of A and B and this other state.

    Each has a single action, to reveal a yellow card; neither comes home nor collects.
    """
    table = GeishasRoad(id, **{"actions": ("reveal",), **(options or {})})
    first_markers(table)
    table.follow([("draw", "yellow3"), ("play", "reveal yellow3"), ("draw", "yellow4")])
    for name, value in state.items():
        table.game[name] = value
    table.game.influence[:] = mine, theirs
    table.game.influence[B, YELLOW] -= 4  # which are still to come
    table.play("reveal yellow4")
    return table


def first_markers(table: GeishasRoad) -> None:
    """In 2021 the starter takes the marker of pink, the other that of red."""
    if table.game.phase == PICK_MARKER:
        table.follow([("play", "take the marker of pink"), ("play", "take the marker of red")])


def dealt(id: str, first: str, second: str, **options: Any) -> GeishasRoad:
    """The table when both have their hands, and in 2021 their markers."""
    table = GeishasRoad(id, **options)
    table.draw(first)
    table.draw(second)
    first_markers(table)
    return table


# --- The edition of 2021


def test_cards_of_three_and_two_bring_a_marker_home_to_the_top_light_card() -> None:
    table = dealt(
        EDITION_2021,
        "blue3 pink1 pink2 pink3 pink4 red1",
        "blue2 red2 red3 red4 green1 green2",
    )
    table.follow([("draw", "yellow1"), ("play", "reveal blue3")])
    assert table.game.steps[BLUE] == 3
    table.follow([("draw", "yellow2"), ("play", "reveal blue2")])
    assert (table.game.steps[BLUE], table.game.returns[BLUE]) == (0, 1)
    assert table.game.prestige.tolist() == [0, 0, 3, 0, 0]
    assert table.game.taken.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("first", "second", "returns", "prestige"),
    [("3 2", "4 1", 2, 6), ("4 3", "2 1", 1, 3)],
)
def test_returns_are_landings_not_laps(
    first: str, second: str, returns: int, prestige: int
) -> None:
    table = dealt(EDITION_2021, "blue1 blue2 blue3", "red1 red2 red3", actions=("competition",))
    pairs = [" ".join(f"blue{value}" for value in pair.split()) for pair in (first, second)]
    table.draw("blue4")
    table.play(f"competition {pairs[0]} | {pairs[1]}")
    table.play(f"take {' '.join(sorted(pairs[0].split()))}")
    table.play(f"play blue{first[0]} first")
    table.play(f"play blue{second[0]} first")
    assert (table.game.returns[BLUE], table.game.prestige[BLUE]) == (returns, prestige)


@pytest.mark.parametrize("starter", [A, B])
def test_the_starter_takes_a_marker_first_and_the_other_one_of_the_rest(starter: int) -> None:
    table = GeishasRoad(EDITION_2021, starter=starter, actions=("reveal",))
    assert (table.game.phase, table.game.mover) == (PICK_MARKER, starter)
    markers = table.choices()
    assert len(markers) == 5
    table.play("take the marker of red")
    assert table.game.mover == 1 - starter
    assert table.choices() == [words for words in markers if words != "take the marker of red"]
    table.play("take the marker of blue")
    assert table.game.marker.tolist() == [N, starter, 1 - starter, N, N]


@pytest.mark.parametrize(
    ("id", "options"), [(EDITION_2021, {"start_marker": "random"}), (INTRODUCTORY, {})]
)
def test_by_lot_each_player_draws_one_of_the_markers_that_are_left(
    id: str, options: dict[str, Any]
) -> None:
    table = Table(id, **options)
    while table.game.phase == LAY_TOKENS:
        table.bring(table.outcomes()[0][0])
    assert table.outcomes() == [(colour, pytest.approx(1 / 5)) for colour in range(5)]
    table.bring(RED)
    left = [PINK, BLUE, GREEN, YELLOW]
    assert table.outcomes() == [(colour, pytest.approx(1 / 4)) for colour in left]
    table.bring(BLUE)
    assert table.game.marker.tolist() == [N, A, B, N, N]


# From home, pink, red, blue and green come home twice and yellow once.
EVERY_RETURN = [
    ("draw", "pink1 pink2 pink3 pink4 blue1 blue2"),
    ("draw", "red1 red2 red3 red4 green1 green2"),
]
LATER_RETURNS = [
    ("draw", "blue4"), ("play", "competition pink1 pink4 | pink2 pink3"),
    ("play", "take pink1 pink4"), ("play", "play pink1 first"), ("play", "play pink2 first"),
    ("draw", "green4"), ("play", "competition red1 red4 | red2 red3"),
    ("play", "take red1 red4"), ("play", "play red1 first"), ("play", "play red2 first"),
    ("draw", "blue3"), ("play", "gift blue1 blue2 blue4"),
    ("play", "take blue1"), ("play", "play blue4 first"),
    ("draw", "green3"), ("play", "gift green1 green2 green4"),
    ("play", "take green1"), ("play", "play green4 first"),
    ("draw", "yellow1"), ("play", "reveal blue3"),
    ("draw", "yellow3"), ("play", "reveal green3"),
    ("draw", "yellow2"), ("play", "intrigue yellow1 discarding yellow2"),
    ("draw", "yellow4"), ("play", "intrigue yellow4 discarding yellow3"),
]  # fmt: skip


@pytest.mark.parametrize("item_values", [(1, 2, 3, 4), (2, 5, 9)])
@pytest.mark.parametrize("colours", [2, 3, 5])
def test_every_card_leads_as_many_houses_on_as_its_value(
    colours: int, item_values: tuple[int, ...]
) -> None:
    options: dict[str, Any] = {"colours": colours, "item_values": item_values}
    variant = make_variant(EDITION_2021, actions=["reveal"], **options).rule_set
    for card in range(variant.cards):
        for steps in range(colours):
            after = past(variant, steps, variant.walk[card])
            assert after == (steps + item_values[variant.rank[card]]) % colours


def test_the_influence_of_a_hand_is_the_sum_of_its_cards() -> None:
    variant = make_variant(EDITION_2021).rule_set
    for cards in combinations(range(variant.cards), 3):
        hand = sum(bit_of(card) for card in (*cards, NONE))
        for c in range(variant.colours):
            held = [card for card in cards if variant.colour[card] == c]
            assert influence_of(variant, hand, c) == sum(variant.value[card] for card in held)


def test_first_and_second_returns_take_their_stacks_in_order() -> None:
    table = GeishasRoad(EDITION_2021, rounds_to_win=1)
    table.follow(EVERY_RETURN)
    first_markers(table)
    table.follow(LATER_RETURNS)
    assert table.game.prestige.tolist() == [3 + 3, 3 + 2, 4 + 2, 4 + 2, 4]
    assert table.game.returns.tolist() == [2, 2, 2, 2, 1]
    assert table.game.prestige.sum() == 18 + 9
    assert table.game.mover == OVER


@pytest.mark.parametrize(
    ("mine", "theirs", "holder", "winner"),
    [(3, 3, A, A), (3, 4, A, B), (3, 3, N, N), (0, 0, A, A), (0, 0, N, N), (1, 1, B, B)],
)
def test_a_marker_counts_one_half(mine: int, theirs: int, holder: int, winner: int) -> None:
    options = {"rounds_to_win": 1}
    markers = [N, N, holder, N, N]
    table = scored(EDITION_2021, [0, 0, mine, 0, 3], [0, 0, theirs, 0, 4], options, marker=markers)
    assert table.game.marker.tolist() == [N, N, winner, N, B]


def test_without_cards_a_marker_may_be_made_to_win_nothing() -> None:
    options = {"rounds_to_win": 1, "tiebreaker_alone_wins": False}
    table = scored(
        EDITION_2021, [0, 0, 0, 0, 3], [0, 0, 0, 0, 4], options,
        marker=[A, B, A, N, N], prestige=[9, 0, 9, 0, 1],
    )  # fmt: skip
    assert table.game.marker.tolist() == [A, B, A, N, B]  # it stays, but wins her no more
    assert table.game.winner == B


@pytest.mark.parametrize(
    ("mine", "theirs", "starter", "winner"),
    [
        ([4, 4, 4, 0, 3], [0, 0, 0, 4, 4], B, A),
        ([4, 0, 0, 0, 3], [0, 4, 0, 4, 4], A, B),
        ([4, 4, 2, 0, 3], [0, 0, 2, 4, 4], A, A),
        ([4, 4, 2, 0, 3], [0, 0, 2, 4, 4], B, B),
    ],
    ids=["three markers", "one marker", "the starter", "the other starter"],
)
def test_a_tied_round_goes_by_markers_then_to_its_starter(
    mine: list[int], theirs: list[int], starter: int, winner: int
) -> None:
    state = {"marker": NOBODYS, "prestige": [7, 0, 0, 7, 0], "starter": starter}
    table = scored(EDITION_2021, mine, theirs, {"rounds_to_win": 1}, **state)
    assert (table.game.mover, table.game.winner) == (OVER, winner)
    assert table.game.rewards.tolist() == ([1, -1] if winner == A else [-1, 1])


def test_the_loser_of_a_round_names_the_starter_of_the_next() -> None:
    for when, phases in (("after_deal", ["deal", "pick"]), ("before_deal", ["pick", "deal"])):
        options = {"loser_picks_starter": when}
        state = {"marker": NOBODYS, "prestige": [9, 0, 0, 0, 0]}
        table = scored(EDITION_2021, [4, 0, 0, 0, 3], [0, 0, 0, 0, 4], options, **state)
        assert table.game.wins.tolist() == [1, 0]
        for phase in phases:
            if phase == "pick":
                assert (table.game.phase, table.game.mover) == (PICK_STARTER, B)
                assert table.choices() == ["begin", "let the other begin"]
                table.play("let the other begin")
        assert table.game.phase == DRAW  # with one action there is nothing to deal
        assert (table.game.starter, table.game.round_number) == (A, 2)
        assert table.game.marker.tolist() == [A, N, N, N, B]


# --- The edition of 2022


def test_a_one_collects_two_guests_of_the_house_where_she_lands() -> None:
    table = dealt(
        STANDARD,
        "green1 pink1 pink2 pink3 pink4 red1",
        "green2 red2 red3 red4 blue1 blue2",
    )
    table.follow([("draw", "yellow1"), ("play", "reveal green1")])
    assert table.game.phase == PICK_TOKENS
    assert table.choices() == ["collect guests", "collect the tiebreaker"]
    table.play("collect guests")
    assert table.game.steps[GREEN] == 1
    assert table.game.collected.tolist() == [[0, 0, 0, 0, 2], [0] * 5]
    assert table.game.guests.tolist() == [3, 3, 3, 3, 1]


def test_two_cards_may_collect_one_after_the_other_at_different_houses() -> None:
    table = dealt(STANDARD, "green1 pink1 pink2", "red1 red2 red3", actions=("competition",))
    table.follow([("draw", "green2"), ("play", "competition green1 green2 | pink1 pink2")])
    table.follow([("play", "take green1 green2"), ("play", "play green2 first")])
    assert (table.game.phase, table.game.mover) == (PICK_TOKENS, B)
    table.play("collect the tiebreaker")  # at pink's house
    table.play("collect guests")  # green1 has gone on to red's
    assert table.game.marker.tolist() == [B, N, N, N, N]
    assert table.game.collected.tolist() == [[0] * 5, [0, 2, 0, 0, 0]]
    assert (table.game.phase, table.game.mover) == (PUT_IN_ORDER, A)  # the other pair


@pytest.mark.parametrize(
    ("id", "pair", "asked"),
    [
        (EDITION_2021, "pink1 pink2", True),  # of one colour
        (EDITION_2021, "pink3 red3", True),  # both bring their geisha home
        (EDITION_2021, "pink3 red4", False),
        (STANDARD, "blue2 green1", True),  # both collect at yellow's house
        (STANDARD, "blue2 green2", False),
        (STANDARD, "blue3 green2", False),
    ],
)
def test_the_order_of_two_cards_is_asked_where_it_may_matter(
    id: str, pair: str, asked: bool
) -> None:  # A-G23
    first, second = pair.split()
    table = dealt(id, f"{pair} yellow3", "pink4 red1 red2", actions=("competition",))
    table.game.steps[:2] = 2  # three short of home
    table.follow([("draw", "yellow4"), ("play", f"competition {pair} | yellow3 yellow4")])
    table.play(f"take {pair}")
    orders = [f"play {first} first", f"play {second} first"]
    assert (table.game.phase == PUT_IN_ORDER and table.choices() == orders) == asked


def test_a_return_brings_the_far_end_token_of_the_full_geisha_row() -> None:
    table = GeishasRoad(STANDARD)
    table.game.row[:] = [4, 2, 2, 2, 3], [3, 3, 4, 4, 0]
    table.draw("blue3 pink1 pink2 pink3 pink4 red1")
    table.draw("blue2 red2 red3 red4 green1 green2")
    table.follow([("draw", "yellow1"), ("play", "reveal blue3")])
    table.follow([("draw", "yellow2"), ("play", "reveal blue2"), ("play", "collect guests")])
    assert table.game.prestige.tolist() == [0, 0, 4, 0, 0]
    assert table.game.taken.tolist() == [1, 0]
    assert table.game.collected[B].tolist() == [0, 0, 1, 0, 0]


ROUND_ONE = {"marker": NOBODYS, "prestige": [0, 2, 3, 6, 2]}


def test_after_round_one_points_stand_and_round_two_begins() -> None:
    table = scored(INTRODUCTORY, [3, 3, 0, 0, 5], [0, 0, 3, 3, 4], **ROUND_ONE)
    assert table.game.points.tolist() == [7, 11]
    assert table.game.winner == N
    assert (table.game.round_number, table.game.chooser) == (2, A)
    assert table.game.marker.tolist() == [A, A, B, B, A]


@pytest.mark.parametrize(
    ("mine", "theirs", "prestige", "starter", "winner"),
    [
        ([3, 3, 0, 0, 5], [0, 0, 3, 3, 4], [1, 1, 1, 0, 1], B, A),
        ([3, 3, 2, 0, 3], [0, 0, 2, 3, 4], [4, 1, 0, 1, 0], A, A),
        ([3, 3, 2, 0, 3], [0, 0, 2, 3, 4], [4, 1, 0, 1, 0], B, B),
    ],
    ids=["more tiebreakers", "the starter", "the other starter"],
)
def test_a_tied_game_goes_by_tiebreakers_then_to_the_last_starter(
    mine: list[int], theirs: list[int], prestige: list[int], starter: int, winner: int
) -> None:
    state = {"marker": NOBODYS, "prestige": prestige, "starter": starter}
    table = scored(INTRODUCTORY, mine, theirs, round_number=2, points=[7, 11], chooser=A, **state)
    assert table.game.points.tolist() == [7 + 9, 11 + 5]
    assert (table.game.mover, table.game.winner) == (OVER, winner)


@pytest.mark.parametrize(("round_number", "worth"), [(1, 1), (2, 2)])
def test_a_geisha_is_worth_one_in_round_one_and_two_in_round_two(
    round_number: int, worth: int
) -> None:
    state = {"round_number": round_number, "marker": NOBODYS, "chooser": A}
    table = scored(INTRODUCTORY, [3, 0, 0, 0, 3], [0, 3, 3, 0, 4], **state)
    assert table.game.points.tolist() == [worth, 3 * worth]


def test_the_points_of_both_rounds_decide_the_game() -> None:
    """T-G22-3, continued: A wins round two by less than the four points that B has carried over."""
    state = {"round_number": 2, "points": [7, 11], "marker": NOBODYS, "chooser": A}
    table = scored(INTRODUCTORY, [3, 3, 0, 0, 5], [0, 0, 3, 3, 4], **state)
    assert table.game.points.tolist() == [7 + 6, 11 + 4]
    assert (table.game.mover, table.game.winner) == (OVER, B)


@pytest.mark.parametrize("round_number", [1, 2])
def test_four_geisha_win_at_once_whatever_the_points(round_number: int) -> None:
    state = {"marker": NOBODYS, "prestige": [0, 0, 0, 0, 8], "points": [0, 20]}
    table = scored(
        INTRODUCTORY, [3, 3, 3, 3, 3], [0, 0, 0, 0, 4], round_number=round_number, **state
    )
    assert (table.game.mover, table.game.winner) == (OVER, A)


def test_three_geisha_do_not_win_at_once() -> None:
    table = scored(INTRODUCTORY, [3, 3, 3, 0, 3], [0, 0, 0, 0, 4], marker=NOBODYS)
    assert table.game.winner == N


@cache
def best_sets(guests: tuple[int, ...]) -> int:
    """Every partition tried: the first guest alone, or in each set that it can be part of."""
    if not any(guests):
        return 0
    first = next(c for c, count in enumerate(guests) if count)
    others = [c for c in range(first + 1, len(guests)) if guests[c]]
    best = best_sets(without(guests, (first,)))
    for size, points in ((2, 1), (3, 4)):
        if guests[first] >= size:
            best = max(best, points + best_sets(without(guests, (first,) * size)))
    for size, points in ((2, 1), (3, 3), (4, 6), (5, 10)):
        for rest in combinations(others, size - 1):
            best = max(best, points + best_sets(without(guests, (first, *rest))))
    return best


def without(guests: tuple[int, ...], taken: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(count - taken.count(c) for c, count in enumerate(guests))


def test_guests_are_worth_their_best_sets() -> None:
    table = make_variant(STANDARD).rule_set.guest_points
    multisets = list(combinations_with_replacement((3, 2, 1, 0), 5))
    assert len(multisets) == 56
    for guests in multisets:
        place = sum(count * 4**c for c, count in enumerate(guests))
        turned = sum(count * 4**c for c, count in enumerate(reversed(guests)))
        assert table[place] == table[turned] == best_sets(guests), guests
    examples = {
        (1,): 0, (2,): 1, (3,): 4, (1, 1): 1, (1, 1, 1): 3, (1, 1, 1, 1): 6, (1, 1, 1, 1, 1): 10,
        (2, 1): 1, (2, 2): 2, (3, 1): 4, (3, 2): 5, (3, 3): 8, (2, 1, 1): 3, (3, 1, 1): 5,
        (2, 2, 1): 4, (2, 2, 2): 6, (3, 1, 1, 1): 7, (3, 2, 1): 5, (3, 2, 2): 6, (3, 3, 1): 8,
        (3, 3, 2): 9, (3, 3, 3): 12, (2, 2, 2, 2): 12, (3, 3, 3, 3): 18, (2, 1, 1, 1, 1): 10,
        (3, 1, 1, 1, 1): 11, (2, 2, 1, 1, 1): 11, (2, 2, 2, 2, 2): 20, (3, 2, 2, 2, 2): 20,
        (3, 3, 2, 2, 2): 21, (3, 3, 3, 2, 2): 23, (3, 3, 3, 3, 2): 26, (3, 3, 3, 3, 3): 30,
    }  # fmt: skip
    for guests, points in examples.items():
        assert table[sum(count * 4**c for c, count in enumerate(guests))] == points, guests


def test_guests_are_scored_in_each_round() -> None:
    guests = [[3, 1, 1, 1, 1], [0, 2, 2, 0, 0]]
    state = {"marker": NOBODYS, "collected": guests}
    table = scored(STANDARD, [3, 0, 0, 0, 3], [0, 0, 0, 0, 4], **state)
    assert table.game.points.tolist() == [1 + 11, 1 + 2]
    assert table.game.collected.sum() == 0
    assert table.game.guests.tolist() == [3] * 5


@pytest.mark.parametrize(("guests", "taken"), [(3, 2), (2, 2), (1, 1), (0, 0)])
def test_a_house_short_of_tokens_gives_what_it_has(guests: int, taken: int) -> None:
    table = GeishasRoad(STANDARD, actions=("reveal",))
    table.game.guests[YELLOW] = guests
    table.game.marker[YELLOW] = B
    table.follow([("draw", "green1"), ("play", "reveal green1")])
    assert table.game.collected[A, YELLOW] == taken
    assert table.game.phase == DRAW  # there was nothing to choose


def test_a_lone_tiebreaker_with_one_guest_is_taken_with_it() -> None:
    table = GeishasRoad(STANDARD, actions=("reveal",))
    table.game.guests[YELLOW] = 1
    table.follow([("draw", "green1"), ("play", "reveal green1")])
    assert (table.game.collected[A, YELLOW], table.game.marker[YELLOW]) == (1, A)


def test_collecting_may_be_declined_under_its_option_only() -> None:
    table = GeishasRoad(STANDARD, actions=("reveal",), decline_collecting=True)
    table.follow([("draw", "green1"), ("play", "reveal green1")])
    assert "collect nothing" in table.choices()
    table.play("collect nothing")
    assert table.game.guests.tolist() == [3] * 5


def test_returns_are_counted_anew_in_round_two() -> None:
    table = dealt(INTRODUCTORY, "blue1 blue3 pink1", "red1 red2 red3", actions=("competition",))
    table.follow([("draw", "blue4"), ("play", "competition blue1 blue4 | blue3 pink1")])
    table.follow([("play", "take blue1 blue4"), ("play", "play blue1 first")])
    assert (table.game.returns[BLUE], table.game.steps[BLUE]) == (1, 3)  # two short of home
    table.follow([("draw", "red4"), ("play", "competition red1 red4 | red2 red3")])
    table.play("take red1 red4")
    settle(table)
    assert table.game.round_number == 2
    table.set_out()  # the rows begin with 2 and 3
    table.draw("blue1 blue2 pink1")
    table.draw("red1 red2 red3")
    table.follow([("play", "begin"), ("draw", "blue4")])
    table.follow([("play", "competition pink1 blue2 | blue1 blue4"), ("play", "take pink1 blue2")])
    assert (table.game.returns[BLUE], table.game.prestige[BLUE]) == (1, 2)
    table.play("play blue1 first")
    assert (table.game.returns[BLUE], table.game.prestige[BLUE]) == (2, 2 + 3)


@pytest.mark.parametrize(("id", "steps"), [(EDITION_2021, 0), (INTRODUCTORY, 2), (ADVANCED, 2)])
def test_between_rounds_geisha_go_home_in_2021_and_stay_in_2022(id: str, steps: int) -> None:
    table = scored(id, [3, 0, 0, 0, 3], [0, 0, 0, 0, 4])  # yellow was led 3 + 4 houses on
    assert table.game.round_number == 2
    assert table.game.steps.tolist() == [0, 0, 0, 0, steps]


# --- Counteroffer and Hidden Offer


def offered(words: str = "gift blue1 green2 red4", **options: Any) -> GeishasRoad:
    """A has made this offer and has four pinks left, if it is a Gift; B has not answered it."""
    table = dealt(
        ADVANCED,
        "red4 green2 blue1 pink1 pink2 pink3",
        "yellow3 red1 red2 red3 green1 green3",
        **options,
    )
    table.follow([("draw", "pink4"), ("play", words)])
    return table


def test_a_counteroffer_and_a_counter_to_it() -> None:
    table = offered()
    pile = table.deck()
    table.play("counteroffer yellow3 for red4")
    assert table.offer() == "yellow3 blue1 green2"
    assert table.deck() == sorted([*pile, "red4"], key=table.card)
    table.draw("red4")  # the same card may come back
    assert (len(table.deck()), table.game.held.tolist()) == (len(pile), [4, 6])
    assert (table.game.phase, table.game.mover) == (ANSWER, A)
    table.play("counteroffer pink4 for yellow3")
    table.draw("yellow3")
    assert table.offer() == "pink4 blue1 green2"
    assert (table.game.phase, table.game.mover) == (ANSWER, B)
    assert table.choices() == ["take pink4", "take blue1", "take green2"]  # both tokens are used
    table.play("take pink4")
    assert table.game.played_by[table.card("pink4")] == B
    assert [table.game.played_by[table.card(name)] for name in ("blue1", "green2")] == [A, N]
    assert table.game.counter_to.tolist() == [0, 0]


def test_after_a_counteroffer_the_offerer_takes_one_and_the_other_two() -> None:
    table = offered()
    table.follow([("play", "counteroffer yellow3 for blue1"), ("draw", "yellow4")])
    table.play("take red4")
    assert table.game.played_by[table.card("red4")] == A
    table.play("collect guests")  # by green2, of the two that are left to B
    assert [table.game.played_by[table.card(name)] for name in ("green2", "yellow3")] == [B, B]


@pytest.mark.parametrize(
    ("countered", "hid", "points"),
    [((N, N), (N, N), [3, 3]), ((0, 1), (N, N), [2, 2]), ((N, 0), (2, 6), [2, 1])],
)
def test_each_unused_token_is_a_point(
    countered: tuple[int, int], hid: tuple[int, int], points: list[int]
) -> None:
    state = {"marker": [A, N, N, N, N], "counter_to": countered, "hidden_use": hid}
    table = scored(ADVANCED, [1, 0, 0, 0, 3], [0, 0, 0, 0, 4], **state)
    assert table.game.points.tolist() == points  # each has one geisha


def test_a_tiebreaker_at_the_teahouse_goes_to_who_wins_her() -> None:
    table = scored(STANDARD, [2, 2, 0, 0, 3], [1, 2, 0, 0, 4], marker=NOBODYS)
    assert table.game.marker.tolist() == [A, N, N, N, B]
    table.set_out()
    table.play("begin" if table.game.chooser == A else "let the other begin")
    table.follow([("draw", "pink1"), ("play", "reveal pink1")])
    assert table.choices() == ["collect guests", "collect the tiebreaker"]  # red's, still there
    table.play("collect the tiebreaker")
    assert table.game.marker[RED] == A


def test_without_counteroffers_nine_cards_each_are_played() -> None:
    table = GeishasRoad(INTRODUCTORY, rounds=1)
    table.follow([*EVERY_RETURN, *LATER_RETURNS])
    assert table.game.mover == OVER
    assert np.bincount(table.game.played_by[:20] + 1).tolist() == [2, 9, 9]
    assert (table.game.unseen, table.game.held.tolist()) == (0, [0, 0])
    assert (table.game.influence.sum(0)[:4] == 10).all()


def test_a_card_face_down_shows_in_nothing_that_the_other_gets() -> None:
    shown = set()
    for hidden in ("blue1", "pink1", "pink2", "pink3", "pink4"):
        table = offered(f"gift green2 red4 ({hidden})")
        seen = [shown_to(table, B)]
        table.follow([("play", "counteroffer yellow3 for green2"), ("draw", "green2")])
        seen.append(shown_to(table, B))
        table.play("take yellow3")
        assert table.game.phase == PUT_IN_ORDER  # which is asked as one of two lies face down
        shown.add((*seen, shown_to(table, B)))
    assert len(shown) == 1


def shown_to(table: GeishasRoad, seat: int) -> bytes:
    """A seat's observation and, in its turn, its mask."""
    games = np.array([table.game], table.variant.game.record)
    mask = masked(table.variant, games) if table.game.mover == seat else np.zeros(0)
    return observed(table.variant, games, np.array([seat])).tobytes() + mask.tobytes()


def test_two_cards_face_down_are_each_known_to_their_own_seat() -> None:
    table = offered("gift green2 red4 (blue1)")
    assert "counteroffer yellow3 for ?3" in table.choices()
    table.follow([("play", "counteroffer (yellow3) for green2"), ("draw", "green2")])
    assert table.game.face_down.tolist() == [N, B, A, N]
    assert table.choices()[:3] == [
        "counteroffer pink1 for red4",
        "counteroffer pink1 for ?2",
        "counteroffer pink1 for (blue1)",
    ]
    assert table.choices()[-3:] == ["take red4", "take ?2", "take (blue1)"]
    assert not any("(pink" in words for words in table.choices())  # its token is used
    table.play("take red4")
    assert table.choices() == ["play (yellow3) first", "play ?3 first"]
    before = table.game.played_as.copy()
    table.play("play ?3 first")
    assert before[table.card("blue1")] == 0
    assert table.game.played_by[table.card("blue1")] == B
    assert table.game.hidden_use.tolist() == [2, 6]


def test_shares_may_be_kept_after_a_counteroffer_on_a_gift() -> None:
    table = offered(counteroffer_shares="keep")
    table.follow([("play", "counteroffer yellow3 for blue1"), ("draw", "yellow4")])
    assert table.choices()[-3:] == ["leave red4", "leave yellow3", "leave green2"]
    table.follow([("play", "leave green2"), ("play", "collect guests")])
    names = ("yellow3", "red4", "green2")
    assert [table.game.played_by[table.card(name)] for name in names] == [A, A, B]


def test_a_hidden_card_may_be_made_safe_from_counteroffers() -> None:
    for allowed in (True, False):
        table = offered("gift green2 red4 (blue1)", can_counter_hidden=allowed)
        assert any("for ?3" in words for words in table.choices()) == allowed


def test_own_cards_may_be_made_safe_from_a_counteroffer_to_a_counteroffer() -> None:
    for allowed in (True, False):
        table = offered("gift green2 red4 blue1", counter_own=allowed)
        assert any("for green2" in words for words in table.choices())  # none of them is B's
        table.follow([("play", "counteroffer yellow3 for green2"), ("draw", "green2")])
        assert any("for yellow3" in words for words in table.choices())
        assert any("for red4" in words for words in table.choices()) == allowed


# --- Rare events


def test_a_fifth_second_return_finds_the_okaasan_row_empty() -> None:
    table = GeishasRoad(INTRODUCTORY)
    table.follow(EVERY_RETURN)
    table.game.round_number = 2
    table.game.steps[[GREEN, YELLOW]] = 2, 3  # three and two steps short of home
    table.follow(LATER_RETURNS[:14])
    table.follow([("draw", "green3"), ("play", "gift green1 green3 green4")])
    table.follow([("play", "take green3"), ("play", "play green1 first")])
    table.follow([("draw", "yellow1"), ("play", "reveal blue3")])
    table.follow([("draw", "yellow2"), ("play", "reveal yellow2")])
    assert table.game.returns.tolist() == [2, 2, 2, 2, 1]
    assert table.game.taken.tolist() == [5, 4]
    table.follow([("draw", "yellow3"), ("play", "intrigue yellow1 discarding yellow3")])
    table.follow([("draw", "yellow4"), ("play", "intrigue yellow4 discarding green2")])
    assert table.game.mover == OVER
    assert table.game.returns.tolist() == [2, 2, 2, 2, 2]
    assert table.game.prestige.tolist() == [2 + 3, 2 + 4, 2 + 4, 3 + 4, 3]


def test_a_third_landing_brings_nothing() -> None:
    table = dealt(
        INTRODUCTORY, "red1 red2 red5", "pink1 pink2 pink5",
        actions=("competition",), item_values=(1, 2, 5, 6),
    )  # fmt: skip
    table.follow([("draw", "red6"), ("play", "competition red1 red2 | red5 red6")])
    table.game.returns[RED] = 2
    table.follow([("play", "take red5 red6"), ("play", "play red5 first")])
    assert (table.game.returns[RED], table.game.prestige[RED]) == (3, 0)
    assert table.game.taken.tolist() == [0, 0]


def test_a_counteroffer_on_turn_7_draws_from_two_cards() -> None:
    table = last_but_one_turn()
    assert table.deck() == ["yellow4"]
    table.play("counteroffer green1 for blue1")
    assert [table.actions.names[card] for card, _ in table.outcomes()] == ["blue1", "yellow4"]
    assert [chance for _, chance in table.outcomes()] == [0.5, 0.5]
    table.draw("blue1")
    assert (table.hand(B), table.deck()) == ("blue1 green4", ["yellow4"])
    table.play("take green1")
    settle(table)
    table.draw("yellow4")
    assert table.hand(B) == "blue1 green4 yellow4"


def last_but_one_turn() -> GeishasRoad:
    """A has made a Gift as the last action; B still has one, with green1 and green4 in hand."""
    table = dealt(
        ADVANCED,
        "pink1 pink2 pink3 pink4 red3 red4",
        "green1 green4 red1 red2 green2 green3",
    )
    table.follow([("draw", "blue3"), ("play", "competition pink1 pink4 | pink2 pink3")])
    table.follow([("play", "take pink1 pink4")])
    settle(table)
    table.follow([("draw", "yellow1"), ("play", "competition red1 yellow1 | red2 green3")])
    table.play("take red1 yellow1")
    settle(table)
    table.follow([("draw", "blue4"), ("play", "reveal red3")])
    table.follow([("draw", "yellow2"), ("play", "reveal yellow2")])
    settle(table)
    table.follow([("draw", "blue1"), ("play", "intrigue red4 discarding blue3")])
    table.follow([("draw", "yellow3"), ("play", "intrigue yellow3 discarding green2")])
    table.follow([("draw", "blue2"), ("play", "gift blue1 blue2 blue4")])
    return table


def settle(table: GeishasRoad) -> None:
    """The first of the choices of order and of tokens, until there are none."""
    while table.game.phase in (PUT_IN_ORDER, PICK_TOKENS):
        table.play(table.choices()[0])


def test_on_the_last_turn_the_starter_has_no_card_to_counter_with() -> None:
    table = last_but_one_turn()
    assert len(table.choices()) == 3 + 3 * 2 * 2
    table.play("take blue4")
    settle(table)
    table.follow([("draw", "yellow4"), ("play", "gift green1 green4 yellow4")])
    assert table.choices() == ["take green1", "take green4", "take yellow4"]


def test_a_hidden_card_may_be_removed_unseen_and_come_to_the_hand_of_the_other() -> None:
    table = offered("gift green2 red4 (blue1)")
    table.play("counteroffer yellow3 for ?3")
    assert "blue1" in table.deck()
    table.draw("blue1")
    assert table.hand(B) == "red1 red2 red3 blue1 green1 green3"
    assert table.game.counter_out_by.tolist() == [N, A]


def test_who_offered_may_take_back_the_own_hidden_card_by_a_counter_to_a_counter() -> None:
    table = offered("gift green2 red4 (blue1)")
    table.follow([("play", "counteroffer yellow3 for red4"), ("draw", "red4")])
    table.follow([("play", "counteroffer pink1 for (blue1)"), ("draw", "blue1")])
    assert table.hand(A) == "pink2 pink3 pink4 blue1"
    assert table.game.face_down.tolist() == [N] * 4
    assert table.choices() == ["take yellow3", "take green2", "take pink1"]


def test_intrigue_cards_are_turned_up_and_collect_starter_first() -> None:
    table = dealt(STANDARD, "green1", "pink1", actions=("intrigue",))
    table.follow([("draw", "red1"), ("play", "intrigue green1 discarding red1")])
    table.follow([("draw", "red2"), ("play", "intrigue pink1 discarding red2")])
    assert (table.game.phase, table.game.mover) == (PICK_TOKENS, A)
    assert table.game.played_as[table.card("pink1")] == 0
    table.play("collect guests")
    assert (table.game.phase, table.game.mover) == (PICK_TOKENS, B)
    table.play("collect the tiebreaker")
    assert table.game.round_number == 2
    assert table.game.marker.tolist() == [B, B, N, A, N]  # red's was taken, then two were won


# --- The catalogue


def test_sizes_of_the_catalogues() -> None:
    assert [make_variant(id).actions.size for id in IDS] == [203, 198, 200, 773]


ROUND_TRIPS = {
    EDITION_2021: {}, INTRODUCTORY: {}, STANDARD: {"decline_collecting": True}, ADVANCED: {},
    f"{ADVANCED}, kept": {"counteroffer_shares": "keep"},
}  # fmt: skip


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_words_name_every_legal_action(name: str) -> None:
    variant = make_variant(name.removesuffix(", kept"), **ROUND_TRIPS[name])
    for node in GeishasRoadHistories(variant).random_positions(sample(2_000), seed=1):
        actions = np.flatnonzero(legal(variant, node.game)).tolist()
        first: dict[str, int] = {}
        for action in range(variant.actions.size):
            first.setdefault(variant.actions.describe(action, node.game), action)
        words = [variant.actions.describe(action, node.game) for action in actions]
        assert [first[text] for text in words] == actions
        assert variant.actions.parse(words[-1], node.game) == actions[-1]


@pytest.mark.parametrize("id", IDS)
def test_words_name_every_action_without_a_game(id: str) -> None:
    actions = make_variant(id).actions
    words = [actions.describe(action) for action in range(actions.size)]
    assert len(set(words)) == actions.size
    assert [actions.parse(text) for text in words[::20]] == list(range(0, actions.size, 20))


def test_cards_of_an_offer_may_come_in_any_order() -> None:
    table = dealt(
        ADVANCED, "red4 green2 blue1 pink1 pink2 pink3", "red1 red2 red3 blue2 blue3 blue4"
    )
    table.draw("pink4")
    parsed = [table.actions.parse(text, table.game) for text in (
        "gift blue1 green2 red4", " Gift red4 GREEN2 blue1", "gift (red4) green2 blue1",
        "gift green2 (red4) blue1", "competition red4 blue1 | pink1 pink2",
        "competition pink2 pink1 | blue1 red4", "intrigue pink1 discarding pink2",
        "intrigue pink2 discarding pink1",
    )]  # fmt: skip
    assert parsed[0] == parsed[1] != parsed[2] == parsed[3]
    assert parsed[4] == parsed[5]
    assert parsed[6] != parsed[7]
    with pytest.raises(UserError, match="'gift red4' is no move of this game"):
        table.actions.parse("gift red4", table.game)


# --- Options


@pytest.mark.parametrize(
    ("edition", "mode", "word"),
    [
        (2021, "standard", "mode='standard'"),
        (2022, None, "introductory, standard, advanced"),
        (2022, "advance", "advanced"),
        (2020, None, "not 2020"),
    ],
)
def test_an_edition_has_its_own_modes(edition: int, mode: Any, word: str) -> None:
    for make in (geishas_road_v0.env, geishas_road_v0.raw_env):
        with pytest.raises(UserError) as error:
            make(edition=edition, mode=mode)
        assert_one_sentence(error.value, word)


def test_editions_and_modes_are_the_four_ids() -> None:
    editions = [(2021, None), *((2022, mode) for mode in geishas_road_v0.MODES)]
    assert [geishas_road_v0.id_of(*edition) for edition in editions] == IDS
    env = geishas_road_v0.env(edition=2022, mode="advanced", counteroffer_shares="keep")
    assert env.unwrapped.variant is make_variant(ADVANCED, counteroffer_shares="keep")
