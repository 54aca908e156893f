"""Under a symmetry, a game looks as the game with the colours exchanged does."""

import numpy as np
import pytest
from hanabi_positions import Hanabi
from hypothesis import given, settings
from hypothesis import strategies as st

from hanamachi.engine import kernels
from hanamachi.engine.game import CHANCE, OVER
from hanamachi.errors import UserError
from hanamachi.games.registry import variant

SMALL = {"colours": 3, "ranks": 3, "hand_size": 3, "max_clues": 4}
TABLES = [
    ("hanabi:2p", {}),
    ("hanabi:3p:multicolour", SMALL),
    ("hanabi:5p", {"hand_size": 3, "colours": 4}),
]


def test_there_is_one_for_each_order_of_the_colours_and_the_first_changes_nothing():
    five, four = variant("hanabi:2p"), variant("hanabi:3p:multicolour", **SMALL)
    assert len(five.symmetries.entries) == len(five.symmetries.actions) == 120
    assert len(four.symmetries.entries) == 6  # the multicolour suit stays
    for table in five.symmetries:
        assert (table[0] == np.arange(table.shape[1])).all()
        assert len(np.unique(table, axis=0)) == 120


@settings(deadline=None, max_examples=12)
@given(st.sampled_from(TABLES), st.integers(0, 2**32 - 1))
def test_a_game_under_a_symmetry_is_the_game_with_its_colours_exchanged(table, seed):
    id, options = table
    rng = np.random.default_rng(seed)
    true, seen = Hanabi(id, **options), Hanabi(id, **options)
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
        for seat in range(true.variant.seats):
            assert (observation(seen, seat) == observation(true, seat)[entries]).all()
        assert (seen.mask() == true.mask()[actions]).all()
        action = rng.choice(np.flatnonzero(seen.mask()))
        kernels.apply_one(seen.rule_set, seen.game, action)
        kernels.apply_one(true.rule_set, true.game, actions[action])
    assert (seen.game.rewards == true.game.rewards).all()


def observation(table, seat):
    """What a seat sees, (N,)."""
    games = np.array([table.game], table.variant.game.record)
    out = np.empty((1, table.variant.observation.size), np.float32)
    kernels.observations(table.rule_set, games, np.array([seat]), out)
    return out[0]


def test_a_game_that_declares_none_says_so():
    with pytest.raises(UserError, match="hanamikoji"):
        _ = variant("hanamikoji").symmetries
