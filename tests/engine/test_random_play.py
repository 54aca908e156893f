"""Random play, whose speed the benchmark measures, is play by the rules, one choice at a time."""

import numpy as np
import pytest
from numpy.typing import NDArray
from positions import masked, observed

from hanamachi import variant as make_variant
from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.random_numbers import below

pytestmark = pytest.mark.uncompiled

GAMES, CHOICES = 4, 60  # enough for several games, one after the other


def play(variant: Variant, game: NDArray[np.void]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Play one game, (1,), step by step; returns the view of the last choice."""
    made = 0
    while made < CHOICES:
        if game["mover"] == OVER:
            kernels.reset(variant.rule_set, game)
        seen, mask = observed(variant, game, game["mover"].astype(np.int64)), masked(variant, game)
        legal = np.flatnonzero(mask)
        made += len(legal) > 1
        kernels.step(variant.rule_set, game, legal[[below(game[0], len(legal))]])
    return seen[0], mask[0]


def test_many_games_at_once_are_the_same_as_one_by_one() -> None:
    variant = make_variant("hanamikoji:three_rounds")
    games = variant.new(np.arange(GAMES, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    single = np.split(games.copy(), GAMES)
    observations = np.zeros((GAMES, variant.observation.size), np.float32)
    masks = np.zeros((GAMES, variant.actions.size), np.int8)
    kernels.random_decisions(variant.rule_set, games, CHOICES, observations, masks)
    for b, game in enumerate(single):
        seen, mask = play(variant, game)
        assert games[b] == game[0]
        np.testing.assert_array_equal(observations[b], seen)
        np.testing.assert_array_equal(masks[b], mask)
