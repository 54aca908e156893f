"""What holds at every step of every game of Geisha's Road, whoever plays it."""

from collections.abc import Iterator

import numpy as np
import pytest
from geishas_road_positions import GeishasRoadHistories, cards_of
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import UNCOMPILED, WHOLE

from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road.rules import (
    INTRIGUE,
    NONE,
    PICK_MARKER,
    PICK_STARTER,
    base_points,
)
from hanamachi.games.registry import variant as make_variant

pytestmark = pytest.mark.uncompiled

EXAMPLES = 500 if WHOLE else 3 if UNCOMPILED else 12
VARIANTS = {
    name: make_variant(f"geishas_road:{id}", **options)
    for name, id, options in (
        ("2021", "2021", {}),
        ("introductory", "introductory", {}),
        ("standard", "standard", {}),
        ("advanced", "advanced", {}),
        ("declining", "standard", {"decline_collecting": True}),
        ("shares kept", "advanced", {"counteroffer_shares": "keep", "rounds": 3}),
        ("more cards", "advanced", {"item_values": (1, 2, 3, 4, 5, 6)}),
        ("before the deal", "2021", {"loser_picks_starter": "before_deal", "rounds_to_win": 1}),
    )
}
every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
every_game = given(seed=st.integers(0, 2**32 - 1))
some = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)


def positions(variant: Variant, seed: int) -> Iterator[np.record]:
    """All positions of a game in which everybody plays at random, chance's included."""
    for node in GeishasRoadHistories(variant).random_game(np.random.default_rng(seed)):
        yield node.game


def deck(game: np.record) -> list[int]:
    return [card for card in range(30) if game.unseen >> card & 1]


@every_variant
@some
@every_game
def test_no_card_and_no_token_is_lost(variant: Variant, seed: int) -> None:
    for game in positions(variant, seed):
        everywhere = [*deck(game), *cards_of(game.hand.ravel()), *cards_of(game.offer)]
        everywhere += np.flatnonzero(game.played_by != NONE).tolist()
        kept = cards_of(game.laid[:, INTRIGUE, 0])
        everywhere += [card for card in kept if card not in everywhere]
        everywhere += cards_of(game.laid[:, INTRIGUE, 1])
        if game.round_number > 0:
            assert sorted(everywhere) == list(range(variant.rule_set.cards))
        assert game.held.tolist() == (game.hand != NONE).sum(1).tolist()
        assert_tokens_are_kept(variant, game)


def assert_tokens_are_kept(variant: Variant, game: np.record) -> None:
    n = variant.rule_set.colours
    if game.round_number > 0:
        guests = game.guests + game.collected.sum(0)
        assert guests[:n].tolist() == [variant.rule_set.guests] * n
    taken = sum(int(game.row[row, : game.taken[row]].sum()) for row in (0, 1))
    assert game.prestige.sum() == taken
    if variant.rule_set.shuffled and game.round_number > 0:
        face_up = np.bincount(game.row[game.row > 0], minlength=10)
        assert (face_up + game.tokens == variant.rule_set.tokens).all()


@every_variant
@some
@every_game
def test_the_deck_shrinks_by_one_a_turn_also_through_counteroffers(
    variant: Variant, seed: int
) -> None:
    sizes = []
    for game in positions(variant, seed):
        if game.mover >= 0 and cards_of(game.hand.ravel()) and game.starter != NONE:
            undealt = variant.rule_set.cards - 2 * variant.rule_set.hand_size
            drawn = min(game.turn + 1, 2 * variant.rule_set.markers)
            if game.phase not in (PICK_MARKER, PICK_STARTER):
                assert len(deck(game)) == undealt - drawn
                sizes.append(len(deck(game)))
    assert set(sizes) >= set(range(undealt - 8, undealt))


@every_variant
@some
@every_game
def test_a_round_plays_all_cards_but_those_discarded(variant: Variant, seed: int) -> None:
    *_, last = positions(variant, seed)
    assert last.mover == OVER
    assert last.plays == 18
    assert last.held.tolist() == [0, 0]
    each = np.bincount(last.played_by[last.played_by != NONE], minlength=2).tolist()
    if (last.counter_to == NONE).all():
        assert each == [9, 9]
    assert abs(each[0] - each[1]) <= 4
    assert variant.rule_set.cards - last.plays - len(deck(last)) == 2  # discarded
    value = variant.rule_set.value
    for seat in (0, 1):
        cards = np.flatnonzero(last.played_by == seat)
        influence = np.bincount(variant.rule_set.colour[cards], weights=value[cards], minlength=5)
        assert last.influence[seat].tolist() == influence.tolist()


@every_variant
@some
@every_game
def test_geisha_return_twice_at_most_with_the_usual_cards(variant: Variant, seed: int) -> None:
    returns = max(int(game.returns.max()) for game in positions(variant, seed))
    if variant.options["item_values"] == (1, 2, 3, 4):
        assert 1 <= returns <= 2  # at most two colours miss a card; each other one moves 10 in all
    else:
        assert returns <= 4


@every_variant
@some
@every_game
def test_points_of_earlier_rounds_count_in_full_at_the_end(variant: Variant, seed: int) -> None:
    before = np.zeros(2, int)
    for game in positions(variant, seed):
        if game.mover != OVER:
            before = game.points.copy()  # of the rounds before the last
    won_at_once = variant.rule_set.instant_win and game.wins.sum() < game.round_number
    scored = [0 if won_at_once else points(variant, game, seat) for seat in (0, 1)]
    assert game.points.tolist() == (before + scored).tolist()
    if variant.rule_set.rounds and not won_at_once and game.points[0] != game.points[1]:
        assert game.winner == game.points.argmax()


def points(variant: Variant, game: np.record, seat: int) -> int:
    """What a seat scores in a round at whose end it lies so."""
    base = base_points(variant.rule_set, game)
    won = game.marker == seat  # whoever wins a geisha has her marker then, and nobody else
    guests = sum(int(count) * 4**c for c, count in enumerate(game.collected[seat]))
    unused = int(game.hidden_use[seat] == NONE) + int(game.counter_to[seat] == NONE)
    return int(
        won.sum() * base
        + game.prestige[won].sum()
        + variant.rule_set.guest_points[guests]
        + unused * variant.rule_set.offer_tokens
    )
