"""Hanamikoji's rules: scoring, winning, options, the catalogue of actions, and RULES.md."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hanamikoji_positions import Hanamikoji, HanamikojiHistories
from numpy.typing import NDArray
from rules_pages import printed
from samples import UNCOMPILED

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.errors import UserError
from hanamachi.games.hanamikoji.rules import ACTIONS, NONE, TAKE_PAIR
from hanamachi.games.registry import variant as make_variant

pytestmark = pytest.mark.uncompiled

CARDS = (2, 2, 2, 3, 3, 4, 5)
GAMES = 60 if UNCOMPILED else 500
A, B, N = 0, 1, NONE  # seats, and nobody
TIES = [1, 1, 1, 1, 0, 2, 2]  # eight items a side: 1-1, 0-0 and 2-2


def scored(markers: list[int], round_number: int = 1, **options: Any) -> np.record:
    """The game after a round of nothing but ties in which the markers lay so."""
    table = Hanamikoji(**options)
    table.game.marker[: len(markers)] = markers
    table.game.round_number = round_number
    table.follow(table.round(TIES, TIES))
    return table.game


def holding(mine: tuple[int, ...], theirs: tuple[int, ...]) -> list[int]:
    """Markers by which A has geisha of these charms and B of those."""
    left = list(enumerate(CARDS))
    markers = [N] * len(CARDS)
    for seat, charms in ((A, mine), (B, theirs)):
        for charm in charms:
            geisha = next(g for g, value in left if value == charm)
            left.remove((geisha, charm))
            markers[geisha] = seat
    return markers


# --- Scoring and winning


@pytest.mark.parametrize(
    ("mine", "theirs"), [((2, 2, 4), (3, 3, 5)), ((2, 3, 3), (2, 4, 5))], ids=str
)
def test_eleven_charm_win(mine: tuple[int, ...], theirs: tuple[int, ...]) -> None:
    game = scored(holding(mine, theirs))
    assert (game.mover, game.winner) == (OVER, B)
    assert game.rewards.tolist() == [-1, 1]


def test_two_whole_rounds() -> None:
    table = Hanamikoji()
    table.follow(table.round([1, 0, 2, 1, 0, 1, 3], [1, 2, 0, 1, 2, 1, 1]))
    assert table.game.marker.tolist() == [N, B, A, N, B, N, A]
    assert (table.game.round_number, table.game.starter, table.game.winner) == (2, B, N)
    assert table.game.unseen.tolist() == list(CARDS)
    table.follow(table.round([0, 1, 2, 0, 1, 2, 2], [2, 0, 0, 2, 1, 1, 2]))  # B begins
    assert table.game.marker.tolist() == [A, B, B, A, B, B, A]
    assert (table.game.mover, table.game.winner) == (OVER, B)


@pytest.mark.parametrize(
    ("mine", "theirs", "winner"),
    [
        ((2, 2, 2, 3), (3, 4, 5), B),
        ((2, 2, 2, 4), (3, 3, 5), B),
        ((2, 2, 3, 3), (2, 4, 5), B),
        ((2, 2, 2, 5), (3, 3, 4), A),
        ((2, 2, 2, 3), (3, 4), A),
    ],
)
def test_eleven_charm_beat_four_geisha(
    mine: tuple[int, ...], theirs: tuple[int, ...], winner: int
) -> None:
    assert scored(holding(mine, theirs)).winner == winner
    assert scored(holding(theirs, mine)).winner == 1 - winner


@pytest.mark.parametrize(
    ("mine", "theirs", "by_geisha", "by_charm"),
    [
        ((4, 5), (2, 2, 2), B, A),
        ((2, 2, 2), (3, 3, 4), B, B),
        ((2, 3), (2, 3), N, N),
        ((), (), N, N),
    ],
)
def test_at_the_limit_geisha_count_then_charm(
    mine: tuple[int, ...], theirs: tuple[int, ...], by_geisha: int, by_charm: int
) -> None:
    markers = holding(mine, theirs)
    for rule, winner in (("geisha_then_charm", by_geisha), ("charm", by_charm)):
        game = scored(markers, round_number=3, id="hanamikoji:three_rounds", limit_rule=rule)
        assert (game.mover, game.winner) == (OVER, winner)
        assert game.rewards.sum() == 0
        assert game.rewards.any() == (winner != N)
        assert scored(markers, round_number=2, max_rounds=3, limit_rule=rule).mover != OVER


def test_equal_sides_leave_a_marker_where_it_is() -> None:
    markers = [A, B, N, B, A, N, N]  # over 1-1, 0-0 and 2-2
    game = scored(markers)
    assert game.marker.tolist() == markers
    assert game.round_number == 2


def test_all_2187_marker_states_end_or_go_on_as_an_enumeration_says() -> None:
    table = Hanamikoji()
    *steps, (_, last) = table.round(TIES, TIES)
    table.follow(steps)
    states = list(product((A, B, N), repeat=7))
    games = np.repeat(np.array([table.game], table.variant.game.record), len(states))
    games["marker"] = states
    kernels.step(table.rule_set, games, np.full(len(games), table.actions.parse(last)))
    winners = [enumerated_winner(state) for state in states]
    assert games["winner"].tolist() == winners
    assert (games["mover"] == OVER).tolist() == [winner != N for winner in winners]
    assert (len(states), winners.count(A), winners.count(B)) == (2187, 469, 469)
    conflicts = [s for s in states if s.count(A) >= 4 and charm(s, B) >= 11]
    assert len(conflicts) == 6
    assert all(enumerated_winner(state) == B for state in conflicts)


def enumerated_winner(state: tuple[int, ...]) -> int:
    for seat in (A, B):
        four_geisha = state.count(seat) >= 4 and charm(state, 1 - seat) < 11
        if charm(state, seat) >= 11 or four_geisha:
            return seat
    return N


def charm(state: tuple[int, ...], seat: int) -> int:
    return sum(value for value, owner in zip(CARDS, state, strict=True) if owner == seat)


# --- A round


def test_all_geisha_are_neutral_at_first() -> None:
    assert Hanamikoji().game.marker.tolist() == [N] * 7


@pytest.mark.parametrize("starter", [A, B])
def test_the_starter_is_dealt_to_first_and_draws_first(starter: int) -> None:
    table = Hanamikoji(starter=starter)
    table.draw("2a 2a 2b 2b 2c 2c  3a 3a 3a 3b 3b 3b  5")
    assert table.game.hand[starter].tolist() == [2, 2, 2, 0, 0, 0, 1]
    assert table.game.hand[1 - starter].tolist() == [0, 0, 0, 3, 3, 0, 0]
    assert table.game.mover == starter
    table.play("secret 5")
    table.draw("5")
    assert table.game.mover == 1 - starter


@pytest.mark.parametrize("starter", [A, B])
def test_the_other_player_begins_the_next_round(starter: int) -> None:
    table = Hanamikoji(starter=starter)
    for begins in (starter, 1 - starter):
        assert table.game.starter == begins
        table.follow(table.round(TIES, TIES))
    assert (table.game.round_number, table.game.starter) == (3, starter)


def test_a_secret_counts_for_its_owner() -> None:
    table = Hanamikoji(actions=("secret",), max_rounds=2)
    table.follow([("draw", "5"), ("play", "secret 5"), ("draw", "4"), ("play", "secret 4")])
    assert table.game.marker.tolist() == [N, N, N, N, N, B, A]


def test_a_trade_off_counts_for_nobody() -> None:
    table = Hanamikoji(actions=("trade_off",), max_rounds=2)
    table.draw("5 4  5")
    table.follow([("play", "trade-off 5 5"), ("draw", "4"), ("play", "trade-off 4 4")])
    assert (table.game.round_number, table.game.marker.tolist()) == (2, [N] * 7)


def test_an_offer_is_divided_at_once_and_answered_without_a_draw() -> None:
    table = Hanamikoji()
    table.draw("2a 3a 3b 4 4 5  2a 2b 2b 3a 5 5  2c")
    table.play("gift 2a 4 4")
    assert table.game.mover == B
    assert [table.actions.describe(a) for a in np.flatnonzero(table.mask())] == [
        "take 2a",
        "take 4",
    ]
    table.play("take 4")
    assert table.game.table.tolist() == [[1, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1, 0]]
    table.draw("3b")
    table.play("competition 5 2b | 3b 5")
    assert table.game.mover == A
    table.play("take 3b 5")
    assert table.game.table.tolist() == [[1, 0, 0, 0, 1, 1, 1], [0, 1, 0, 0, 0, 1, 1]]


def test_two_equal_pairs_are_one_choice() -> None:
    table = Hanamikoji()
    table.draw("2a 2a 5 5 4 4  2b 2b 3a 3a 5 5  2c")
    table.play("competition 2a 5 | 5 2a")
    assert table.mask().sum() == 1


def test_each_tile_is_used_once() -> None:
    table = Hanamikoji()
    table.draw("2a 2a 3a 3a 4 4  2b 2b 3b 3b 5 5  4")
    table.follow([("play", "secret 4"), ("draw", "5"), ("play", "secret 5"), ("draw", "4")])
    kinds = {words.split()[0] for words in table.choices()}  # with cards for any of them
    assert kinds == {"trade-off", "gift", "competition"}


@pytest.fixture(scope="module")
def endings() -> NDArray[Any]:
    """The ends of random games, (B,), every card having been accounted for on the way."""
    standard = make_variant("hanamikoji:three_rounds")
    rng = np.random.default_rng(0)
    games = standard.new(np.arange(GAMES, dtype=np.uint64))
    kernels.reset(standard.rule_set, games)
    ended = []
    while len(games):
        np.testing.assert_array_equal(all_cards(games), np.tile(CARDS, (len(games), 1)))
        ended.append(games[games["mover"] == OVER])
        games = games[games["mover"] != OVER]
        masks = np.zeros((len(games), standard.actions.size), np.int8)
        kernels.masks(standard.rule_set, games, masks)
        assert masks.any(1).all()
        kernels.step(
            standard.rule_set, games, HanamikojiHistories(standard).random_actions(masks, rng)
        )
    return np.concatenate(ended)


def all_cards(games: NDArray[Any]) -> NDArray[np.int64]:
    """Items wherever they are, (B, 7); a Secret that was revealed lies on the table."""
    everywhere = games["unseen"].astype(int)
    everywhere += (games["hand"] + games["table"] + games["trade_off"]).sum(1)
    for seat in (A, B):
        hidden = (games["secret"][:, seat] != NONE) & (games["mover"] != OVER)
        np.add.at(everywhere, (hidden.nonzero()[0], games["secret"][hidden, seat]), 1)
        gift_open = games["used_in"][:, seat, 2].astype(bool) & (
            games["gift_taken"][:, seat] == NONE
        )
        everywhere += games["gift"][:, seat] * gift_open[:, None]
        pairs_open = games["used_in"][:, seat, 3].astype(bool) & (
            games["pair_taken"][:, seat] == NONE
        )
        everywhere += games["pairs"][:, seat].sum(1) * pairs_open[:, None]
    return everywhere


def test_no_card_is_lost_and_16_items_are_scored(endings: NDArray[Any]) -> None:
    assert len(endings) == GAMES
    np.testing.assert_array_equal(endings["table"].sum(2), 8)
    np.testing.assert_array_equal(endings["trade_off"].sum(2), 2)
    np.testing.assert_array_equal(endings["hand"], 0)
    np.testing.assert_array_equal(endings["unseen"].sum(1), 1)  # the removed card


def test_rewards_name_the_winner(endings: NDArray[Any]) -> None:
    for seat in (A, B):
        np.testing.assert_array_equal(
            endings["rewards"][:, seat],
            (endings["winner"] == seat).astype(int) - (endings["winner"] == 1 - seat),
        )
    assert set(endings["winner"].tolist()) == {A, B, N}
    assert set(endings["round_number"].tolist()) == {1, 2, 3}


def test_both_seats_begin_the_first_round_unless_one_is_named() -> None:
    seeds = np.arange(100, dtype=np.uint64)
    for starter, expected in (("random", {A, B}), (A, {A}), (B, {B})):
        variant = make_variant("hanamikoji", starter=starter)
        games = variant.new(seeds)
        kernels.reset(variant.rule_set, games)
        assert set(games["starter"].tolist()) == expected
        np.testing.assert_array_equal(games["mover"], games["starter"])


# --- The catalogue


def test_the_catalogue_has_508_actions() -> None:
    kinds = make_variant("hanamikoji").actions.kind
    assert np.bincount(kinds).tolist() == [7, 28, 81, 383, 7, 2]
    assert len(kinds) == 508


@pytest.mark.parametrize("id", ["hanamikoji", "hanamikoji:eight_suits"])
def test_words_name_every_action(id: str) -> None:
    actions = make_variant(id).actions
    words = [actions.describe(action) for action in range(actions.size)]
    assert len(set(words)) == actions.size
    assert [actions.parse(text) for text in words] == list(range(actions.size))


def test_words_may_come_in_any_order_of_cards() -> None:
    actions = make_variant("hanamikoji").actions
    assert actions.describe(actions.parse(" Gift 5 2a 3B ")) == "gift 2a 3b 5"
    assert actions.parse("competition 5 4 | 2b 2a") == actions.parse("competition 2a 2b | 4 5")
    assert actions.parse("competition 5 4 / 2b 2a") == actions.parse("competition 2a 2b | 4 5")
    assert actions.parse("competition 5 4 | 2b 2a") != actions.parse("competition 2a 4 | 2b 5")


def test_an_answer_to_a_competition_names_the_cards() -> None:
    table = Hanamikoji()
    table.draw("2a 3a 3b 4 4 5  2a 2b 2b 3a 5 5  2c")
    second = table.actions.first[TAKE_PAIR] + 1
    assert table.actions.describe(second, table.game) == "take pair 2", "nothing is offered"
    table.play("competition 2a 5 | 3a 4")
    assert table.actions.describe(second, table.game) == "take 3a 4"
    assert table.actions.parse("take 4 3a", table.game) == second
    assert table.actions.describe(second) == "take pair 2"


def test_words_that_name_no_action_are_refused() -> None:
    with pytest.raises(UserError, match="'gift 2a' is no move of this game"):
        make_variant("hanamikoji").actions.parse("gift 2a")


# --- Options


def test_a_wrong_id_gets_the_nearest_right_one() -> None:
    with pytest.raises(UserError, match=r"did you mean hanamikoji:three_rounds\?"):
        make_variant("hanamikoji:3_rounds")


@pytest.mark.parametrize(
    ("cards", "actions", "dealt", "removed"),
    [
        (CARDS, ACTIONS, 6, 1),
        ((2, 3, 4), ("secret", "gift"), 2, 1),
        ((3, 3), ("secret", "trade_off"), 1, 0),
        ((4, 4), ("competition",), 3, 0),
        ((1, 1), ("secret",), 0, 0),
        (CARDS, ("secret", "gift", "competition"), 5, 5),
    ],
)
def test_small_versions_deal_one_card_less_for_each_tile(
    cards: tuple[int, ...], actions: tuple[str, ...], dealt: int, removed: int
) -> None:
    small = make_variant("hanamikoji", cards=cards, actions=actions, max_rounds=1)
    games = small.new(np.arange(50, dtype=np.uint64))
    kernels.reset(small.rule_set, games)
    np.testing.assert_array_equal(games["dealt"].sum(2), dealt)
    rng = np.random.default_rng(0)
    decisions = 2 * len(actions) + 2 * ("gift" in actions) + 2 * ("competition" in actions)
    for _ in range(decisions):
        masks = np.zeros((50, small.actions.size), np.int8)
        kernels.masks(small.rule_set, games, masks)
        kernels.step(small.rule_set, games, HanamikojiHistories(small).random_actions(masks, rng))
    np.testing.assert_array_equal(games["mover"], OVER)
    np.testing.assert_array_equal(games["unseen"].sum(1), removed)


# --- RULES.md


def test_the_printed_catalogue_is_the_one_in_use() -> None:
    actions = make_variant("hanamikoji").actions
    rows = ["| numbers | count | choice | first | last |", "|---|---|---|---|---|"]
    choices = (
        "Secret",
        "Trade-off",
        "Gift",
        "Competition",
        "answer a Gift",
        "answer a Competition",
    )
    for kind, choice in enumerate(choices):
        first, last = actions.first[kind], actions.first[kind + 1] - 1
        words = [f"`{actions.describe(action).replace('|', '/')}`" for action in (first, last)]
        rows.append(f"| {first}-{last} | {last - first + 1} | {choice} | {words[0]} | {words[1]} |")
    assert printed("hanamikoji", "catalogue") == "\n".join(rows)
