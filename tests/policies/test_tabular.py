"""A tabular policy plays its table, and plays uniformly where the table has no row."""

import numpy as np
import pytest
from small_games import GIFTS

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.sampling import uniform
from hanamachi.policies.tabular import TabularPolicy

RULES = variant("hanamikoji", **GIFTS)
ROWS = 200


@pytest.fixture
def table():
    """Observations that differ, and a distribution for each."""
    rng = np.random.default_rng(0)
    observations = rng.integers(0, 2, (ROWS, RULES.observation.size)).astype(np.float32)
    chances = rng.dirichlet(np.ones(RULES.actions.size), ROWS).astype(np.float32)
    return observations, chances


def test_known_observations_get_their_row_and_others_uniform_play(table):
    observations, chances = table
    policy = TabularPolicy(RULES, observations, chances)
    order = np.random.default_rng(1).permutation(ROWS)
    asked = np.vstack([observations[order], 2 * np.ones_like(observations[:1])])
    masks = np.ones((ROWS + 1, RULES.actions.size), np.int8)
    masks[-1, ::2] = 0
    answers, value, memory = policy.distribution(asked, masks, policy.initial_memory(ROWS + 1))
    np.testing.assert_array_equal(answers[:-1], chances[order])
    np.testing.assert_array_equal(answers[-1:], uniform(masks[-1:]))
    assert value is None
    assert memory.shape == (ROWS + 1, 0)


def test_zeros_of_either_sign_are_the_same_observation(table):
    observations, chances = table
    policy = TabularPolicy(RULES, np.where(observations == 0, -0.0, observations), chances)
    masks = np.ones((ROWS, RULES.actions.size), np.int8)
    answers, *_ = policy.distribution(observations, masks, policy.initial_memory(ROWS))
    np.testing.assert_array_equal(answers, chances)


def test_a_table_that_does_not_fit_is_refused(table):
    observations, chances = table
    with pytest.raises(UserError, match=str(RULES.observation.size)):
        TabularPolicy(RULES, observations[:, :-1], chances)
    with pytest.raises(UserError):
        TabularPolicy(RULES, observations[[0, 1, 1]], chances[:3])
    for nothing in (5, [[1.0], [1.0, 2.0]], [["a"] * RULES.observation.size] * 4):
        with pytest.raises(UserError):
            TabularPolicy(RULES, nothing, chances)
    with pytest.raises(UserError, match="float32"):  # no seat would ever see these
        TabularPolicy(RULES, observations.astype(np.int8), chances)
