"""What holds at every step of every game of Geisha's Road, whoever plays it."""

from collections.abc import Iterator

import numpy as np
import pytest
from geishas_road_positions import GeishasRoadHistories, cards_of
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import UNCOMPILED, WHOLE

from hanamachi.engine.game import OVER, Variant
from hanamachi.games.geishas_road.rules import (
    INTRIGUE,
    NONE,
    PICK_MARKER,
    PICK_STARTER,
    base_points,
)
from hanamachi.games.registry import variant

EXAMPLES = 500 if WHOLE else 3 if UNCOMPILED else 12
VARIANTS = {
    name: variant(f"geishas_road:{id}", **options)
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
every_variant = pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS.keys())
every_game = given(seed=st.integers(0, 2**32 - 1))
some = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)


def positions(rules: Variant, seed: int) -> Iterator[np.record]:
    """All positions of a game in which everybody plays at random, chance's included."""
    for node in GeishasRoadHistories(rules).random_game(np.random.default_rng(seed)):
        yield node.game


def deck(game: np.record) -> list[int]:
    return [card for card in range(30) if game.unseen >> card & 1]


@every_variant
@some
@every_game
def test_no_card_and_no_token_is_lost(rules: Variant, seed: int) -> None:
    for game in positions(rules, seed):
        everywhere = [*deck(game), *cards_of(game.hand.ravel()), *cards_of(game.offer)]
        everywhere += np.flatnonzero(game.played_by != NONE).tolist()
        kept = cards_of(game.laid[:, INTRIGUE, 0])
        everywhere += [card for card in kept if card not in everywhere]
        everywhere += cards_of(game.laid[:, INTRIGUE, 1])
        if game.round_number > 0:
            assert sorted(everywhere) == list(range(rules.rules.cards))
        assert game.held.tolist() == (game.hand != NONE).sum(1).tolist()
        assert_tokens_are_kept(rules, game)


def assert_tokens_are_kept(rules: Variant, game: np.record) -> None:
    n = rules.rules.colours
    if game.round_number > 0:
        guests = game.guests + game.collected.sum(0)
        assert guests[:n].tolist() == [rules.rules.guests] * n
    taken = sum(int(game.row[row, : game.taken[row]].sum()) for row in (0, 1))
    assert game.prestige.sum() == taken
    if rules.rules.shuffled and game.round_number > 0:
        face_up = np.bincount(game.row[game.row > 0], minlength=10)
        assert (face_up + game.tokens == rules.rules.tokens).all()


@every_variant
@some
@every_game
def test_the_deck_shrinks_by_one_a_turn_also_through_counteroffers(
    rules: Variant, seed: int
) -> None:
    sizes = []
    for game in positions(rules, seed):
        if game.mover >= 0 and cards_of(game.hand.ravel()) and game.starter != NONE:
            undealt = rules.rules.cards - 2 * rules.rules.hand_size
            drawn = min(game.turn + 1, 2 * rules.rules.markers)
            if game.phase not in (PICK_MARKER, PICK_STARTER):
                assert len(deck(game)) == undealt - drawn
                sizes.append(len(deck(game)))
    assert set(sizes) >= set(range(undealt - 8, undealt))


@every_variant
@some
@every_game
def test_a_round_plays_all_cards_but_those_discarded(rules: Variant, seed: int) -> None:
    *_, last = positions(rules, seed)
    assert last.mover == OVER
    assert last.plays == 18
    assert last.held.tolist() == [0, 0]
    each = np.bincount(last.played_by[last.played_by != NONE], minlength=2).tolist()
    if (last.counter_to == NONE).all():
        assert each == [9, 9]
    assert abs(each[0] - each[1]) <= 4
    assert rules.rules.cards - last.plays - len(deck(last)) == 2  # discarded
    value = rules.rules.value
    for seat in (0, 1):
        cards = np.flatnonzero(last.played_by == seat)
        influence = np.bincount(rules.rules.colour[cards], weights=value[cards], minlength=5)
        assert last.influence[seat].tolist() == influence.tolist()


@every_variant
@some
@every_game
def test_geisha_return_twice_at_most_with_the_usual_cards(rules: Variant, seed: int) -> None:
    returns = max(int(game.returns.max()) for game in positions(rules, seed))
    assert 1 <= returns <= (2 if rules.options["item_values"] == (1, 2, 3, 4) else 4)


@every_variant
@some
@every_game
def test_points_of_earlier_rounds_count_in_full_at_the_end(rules: Variant, seed: int) -> None:
    before = np.zeros(2, int)
    for game in positions(rules, seed):
        if game.mover != OVER:
            before = game.points.copy()  # of the rounds before the last
    won_at_once = rules.rules.instant_win and game.wins.sum() < game.round_number
    scored = [0 if won_at_once else points(rules, game, seat) for seat in (0, 1)]
    assert game.points.tolist() == (before + scored).tolist()
    if rules.rules.rounds and not won_at_once and game.points[0] != game.points[1]:
        assert game.winner == game.points.argmax()


def points(rules: Variant, game: np.record, seat: int) -> int:
    """What a seat scores in a round at whose end it lies so."""
    base = base_points(rules.rules, game)
    won = game.marker == seat  # whoever wins a geisha has her marker then, and nobody else
    guests = sum(int(count) * 4**c for c, count in enumerate(game.collected[seat]))
    unused = int(game.hidden_use[seat] == NONE) + int(game.counter_to[seat] == NONE)
    return int(
        won.sum() * base
        + game.prestige[won].sum()
        + rules.rules.guest_points[guests]
        + unused * rules.rules.offer_tokens
    )
