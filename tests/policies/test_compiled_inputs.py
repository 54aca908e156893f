"""What no game gives is refused before compiled code reads it: observations, masks, memories."""

import numpy as np
import pytest

from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.policies import load_policy
from hanamachi.policies.rules.registry import rule_policies_for

READERS = [
    ("hanamikoji", "expert"),
    ("hanamikoji", "hanamikoji"),
    ("hanabi:3p", "hat"),
    ("hanabi:3p", "hanabi:3p"),
]
SHARES = [0, *np.geomspace(0.01, 1, 20)]  # of the entries of an observation


@pytest.mark.parametrize(("id", "name"), READERS)
@pytest.mark.parametrize("wrong", [np.float32(1e6), np.nan, "entries", "actions", "rows"])
def test_what_compiled_code_must_not_read_is_refused(id, name, wrong):
    policy = load_policy(name, game=id)
    rows, masks = nothing(policy.variant, 2)
    match wrong:
        case "entries":
            rows = rows[:, :3]
        case "actions":
            masks = masks[:, :3]
        case "rows":
            rows = rows[:1]
        case _:
            rows[1, 5] = wrong
    with pytest.raises(UserError, match=id):
        policy.distribution(rows, masks, policy.initial_memory(2))


@pytest.mark.parametrize("name", ["hat", "hanabi:3p"])
@pytest.mark.parametrize("cut", [np.s_[:1], np.s_[:, :-1]])
def test_a_memory_of_other_games_is_refused(name, cut):
    policy = load_policy(name, game="hanabi:3p")
    with pytest.raises(UserError, match="memory"):
        policy.distribution(*nothing(policy.variant, 2), policy.initial_memory(2)[cut])


@pytest.mark.parametrize("id", VARIANTS)
def test_rule_policies_play_or_refuse_whatever_lies_within_the_bounds(id):
    game, rng = variant(id), np.random.default_rng(0)
    for name in rule_policies_for(game):
        policy, played = load_policy(name, game=id), 0
        for share in SHARES:
            row = drawn(game, share, rng)
            mask = (rng.random(game.actions.size) < 0.3) | (np.arange(game.actions.size) == 0)
            asked = row[None], mask[None].astype(np.int8), policy.initial_memory(1)
            try:
                probabilities, _, _ = policy.distribution(*asked)
            except UserError:
                continue
            assert probabilities[0][mask].sum() == pytest.approx(1)
            played += 1
        assert played >= len(SHARES) // 3


def nothing(game, rows):
    """Empty observations, and masks that forbid nothing."""
    observations = np.zeros((rows, game.observation.size), np.float32)
    return observations, np.ones((rows, game.actions.size), np.int8)


def drawn(game, share, rng):
    """An observation: this share of its entries is drawn within their bounds; others are 0."""
    low, high = game.observation.low, game.observation.high
    every = rng.integers(low, high, endpoint=True, dtype=np.int64)
    return np.where(rng.random(len(low)) < share, every, np.maximum(low, 0)).astype(np.float32)
