"""For RLlib an environment is renamed, and nothing else changes."""

import gymnasium
import numpy as np
import pytest

import hanamachi
from hanamachi import UserError
from hanamachi.adapters.rllib import for_rllib

pytestmark = pytest.mark.uncompiled


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced", "hanabi:3p"])
def test_for_rllib_renames_and_changes_nothing_else(id, capsys):
    env, plain = for_rllib(hanamachi.make(id)), hanamachi.make(id)
    env.reset(seed=1)
    plain.reset(seed=1)
    for agent in plain.agent_iter(50):
        (seen, _, terminated, *_), (expected, *_) = env.last(), plain.last()
        assert env.observation_space(agent).contains(seen)
        assert seen["action_mask"].dtype == np.float32
        np.testing.assert_array_equal(seen["action_mask"], expected["action_mask"])
        np.testing.assert_array_equal(seen["observations"], expected["observation"])
        for each in env, plain:
            each.step(None if terminated else int(expected["action_mask"].argmax()))


def test_for_rllib_takes_only_environments_of_pettingzoo():
    with pytest.raises(UserError, match="PettingZoo"):
        for_rllib(gymnasium.make("hanamachi/Hanamikoji-v0"))
