"""What other libraries want otherwise is renamed or reordered, and nothing else changes."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import hanamachi
from hanamachi.adapters.rllib import for_rllib
from hanamachi.adapters.tianshou import for_tianshou
from hanamachi.adapters.torchrl import for_torchrl
from hanamachi.errors import UserError

pytestmark = pytest.mark.uncompiled

# --- RLlib


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


# --- Tianshou


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced"])
def test_for_tianshou_shows_the_mask_of_the_observation_beside_it(id):
    face = f"hanamachi/{'Hanamikoji' if id == 'hanamikoji' else 'GeishasRoad'}-v0"
    env, plain = for_tianshou(gymnasium.make(face, game=id)), gymnasium.make(face, game=id)
    (seen, _), (expected, info) = env.reset(seed=1), plain.reset(seed=1)
    terminated = False
    while not terminated:
        assert env.observation_space.contains(seen)
        np.testing.assert_array_equal(seen["obs"], expected)
        np.testing.assert_array_equal(seen["mask"], info["action_mask"])
        action = info["action_mask"].argmax()
        seen, reward, terminated, _, _ = env.step(action)
        expected, same_reward, same_over, _, info = plain.step(action)
        assert (reward, terminated) == (same_reward, same_over)
    assert not seen["mask"].any()


# --- TorchRL


def test_for_torchrl_shows_the_end_and_then_the_next_game():
    made = {"num_envs": 16, "max_rounds": 1}
    plain = gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made)
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made))
    assert games.autoreset_mode == AutoresetMode.DISABLED
    seen, infos = plain.reset(seed=1)
    told, _ = games.reset(seed=1)
    ended = 0
    for _ in range(20):
        assert games.observation_space.contains(told)
        np.testing.assert_array_equal(told["observation"], seen)
        np.testing.assert_array_equal(told["action_mask"], infos["action_mask"])
        actions = infos["action_mask"].argmax(1)
        seen, rewards, terminated, _, infos = plain.step(actions)
        told, same_rewards, same_over, _, _ = games.step(actions)
        np.testing.assert_array_equal(same_rewards, rewards)
        np.testing.assert_array_equal(same_over, terminated)
        if terminated.any():
            ended += terminated.sum()
            last = np.stack(infos["final_obs"][terminated])
            np.testing.assert_array_equal(told["observation"][terminated], last)
            assert told["action_mask"][terminated].all()
            told, _ = games.reset(options={"reset_mask": terminated})
    assert ended > 16


def test_for_torchrl_refuses_to_go_on_with_games_that_are_over():
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=2, max_rounds=1))
    told, _ = games.reset(seed=1)
    with pytest.raises(UserError, match="games that have ended"):
        games.reset(options={"reset_mask": np.array([True, False])})
    terminated = np.zeros(2, bool)
    while not terminated.any():
        told, _, terminated, _, _ = games.step(told["action_mask"].argmax(1))
    with pytest.raises(UserError, match="call reset"):
        games.step(told["action_mask"].argmax(1))
