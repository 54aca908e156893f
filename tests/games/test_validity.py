"""Each game accepts all positions of its own play, and nothing that could not be played on."""

from collections import Counter

import numpy as np
import pytest
from altered_states import (
    RULE_SETS,
    altered_states,
    as_state,
    assert_playable,
    numbers,
    pool,
    real_play,
)
from messages import assert_one_sentence
from samples import UNCOMPILED, sample

import hanamachi
from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.sessions.states import checked_state

IDS = [f"{variant.id}-{variant.digest[:6]}" for variant in RULE_SETS]
every_variant = pytest.mark.parametrize("variant", RULE_SETS, ids=IDS)
every_game = pytest.mark.parametrize("game", hanamachi.GAMES)
GAMES = 1 if UNCOMPILED else sample(200, 0.01)
ALTERED = sample(100_000, 0.01)
DIFFERENT = sample(5_000, 0.02)


def variants_of(game: str) -> list[Variant]:
    return [variant for variant in RULE_SETS if variant.game.name == game]


@pytest.mark.uncompiled
@every_variant
def test_every_position_of_real_play_is_accepted(variant: Variant) -> None:
    """Also those in which chance decides, and the end."""
    for seed in range(GAMES):
        for place, games in enumerate(real_play(variant, 1_000 + seed)):
            assert kernels.is_valid(variant.rule_set_array, games), f"{seed=} {place=}"


@every_game
def test_an_altered_state_is_refused_or_can_be_played_to_the_end(game: str) -> None:
    variants, judged = variants_of(game), Counter[bool]()
    for number, variant in enumerate(variants):
        rng = np.random.default_rng(number)
        for altered in altered_states(variant, rng, -(-ALTERED // len(variants))):
            judged[was_accepted(variant, *altered, picture=judged[True] % 50 == 0)] += 1
    assert judged[False] > judged[True] > 0


def was_accepted(variant: Variant, how: str, row: np.ndarray, picture: bool) -> bool:
    state = as_state(variant, row)
    if not kernels.is_valid(variant.rule_set_array, row):
        with pytest.raises(UserError, match=variant.id) as refusal:
            checked_state(variant, state)
        assert_one_sentence(refusal.value)
        return False
    try:
        assert_playable(variant, state, seed=int(row["rng"][0] % 2**32), picture=picture)
    except Exception as error:
        error.add_note(f"{variant.id} {dict(variant.options)} altered by {how}: {row.tolist()}")
        raise
    return True


@every_game
def test_a_position_with_one_number_changed_is_seldom_a_position(game: str) -> None:
    """All numbers follow from each other but the generator, and what carried over from rounds."""
    accepted = judged = 0
    variants = variants_of(game)
    rng = np.random.default_rng(5)
    for _ in range(DIFFERENT):
        variant = variants[rng.integers(len(variants))]
        row = pool(variant)[[rng.integers(len(pool(variant)))]].copy()
        entries = numbers(row, rng)
        entries[rng.integers(len(entries))] += rng.choice((-1, 1))
        accepted += kernels.is_valid(variant.rule_set_array, row)
        judged += 1
    assert accepted <= judged // 5


@every_game
def test_before_the_end_nobody_has_won_and_the_last_action_brought_what_it_shows(
    game: str,
) -> None:
    for variant in variants_of(game)[:2]:
        for row in pool(variant)[:40]:
            altered = np.array([row])
            altered["rewards"][0, 0] += 1
            assert not kernels.is_valid(variant.rule_set_array, altered)
            if "winner" in row.dtype.names and row["mover"] != OVER:
                altered = np.array([row])
                altered["winner"] = 0
                assert not kernels.is_valid(variant.rule_set_array, altered)
