"""Under a symmetry, a game looks as the game with the colours exchanged does."""

from dataclasses import replace

import numpy as np
import pytest
from hanabi_positions import VARIANTS, Hanabi
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import observed

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.errors import UserError
from hanamachi.games.registry import variant

SMALL = {"colours": 3, "ranks": 3, "hand_size": 3, "max_clues": 4}


def test_there_is_one_for_each_order_of_the_colours_and_the_first_changes_nothing():
    five, four = variant("hanabi:2p"), variant("hanabi:3p:multicolour", **SMALL)
    assert len(five.symmetries.entries) == len(five.symmetries.actions) == 120
    assert len(four.symmetries.entries) == 6  # the multicolour suit stays
    for table in five.symmetries:
        assert (table[0] == np.arange(table.shape[1])).all()
        assert len(np.unique(table, axis=0)) == 120


@settings(deadline=None, max_examples=12)
@given(st.sampled_from(VARIANTS), st.integers(0, 2**32 - 1))
def test_a_game_under_a_symmetry_is_the_game_with_its_colours_exchanged(any_variant, seed):
    rng = np.random.default_rng(seed)
    options = {**any_variant.options, "starter": 0}
    true, seen = Hanabi(any_variant.id, **options), Hanabi(any_variant.id, **options)
    number = int(rng.integers(len(true.variant.symmetries.entries)))
    entries, actions = (of_all[number] for of_all in true.variant.symmetries)
    fireworks = true.variant.observation.slice("fireworks")
    stands_for = entries[fireworks] - fireworks.start  # card -> the card of the true game
    while true.game.mover != OVER:
        if true.game.mover == CHANCE:
            card = int(rng.choice([card for card, _ in seen.outcomes()]))
            seen.bring(card)
            true.bring(int(stands_for[card]))
            continue
        assert (observations(seen) == observations(true)[:, entries]).all()
        assert (seen.mask() == true.mask()[actions]).all()
        action = rng.choice(np.flatnonzero(seen.mask()))
        kernels.apply_one(seen.rule_set, seen.game, action)
        kernels.apply_one(true.rule_set, true.game, actions[action])
    assert (seen.game.rewards == true.game.rewards).all()


def observations(table):
    """What every seat sees, (S, N)."""
    seats = np.arange(table.variant.seats)
    return observed(table.variant, np.repeat(np.array([table.game]), len(seats)), seats)


def test_a_game_that_declares_none_says_so():
    five = variant("hanabi:2p")
    with pytest.raises(UserError, match="hanabi"):
        _ = replace(five, game=replace(five.game, symmetries=None)).symmetries
