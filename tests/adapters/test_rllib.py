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


def test_a_copy_goes_on_by_itself_and_is_observed_as_rllib_wants_it():
    env = for_rllib(hanamachi.make("hanamikoji"))
    env.reset(seed=1)
    copy = env.clone()
    seen, *_ = copy.last()
    assert seen.keys() == {"observations", "action_mask"}
    assert seen["action_mask"].dtype == np.float32
    copy.step(int(seen["action_mask"].argmax()))
    np.testing.assert_array_equal(env.last()[0]["observations"], seen["observations"])


def test_a_space_of_an_agent_that_is_not_there_is_refused():
    with pytest.raises(UserError, match="player_9"):
        for_rllib(hanamachi.make("hanamikoji")).observation_space("player_9")


def test_for_rllib_takes_only_environments_of_pettingzoo():
    with pytest.raises(UserError, match="PettingZoo"):
        for_rllib(gymnasium.make("hanamachi/Hanamikoji-v0"))
