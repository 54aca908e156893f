"""For TorchRL the games show their ends and wait for reset, and nothing else changes."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from hanamachi.adapters.torchrl import for_torchrl
from hanamachi.errors import UserError

pytestmark = pytest.mark.uncompiled


def play_to_an_end(games, shown):
    """Which games end, (B,), in the first step in which one does."""
    terminated = np.zeros(games.num_envs, bool)
    while not terminated.any():
        shown, _, terminated, _, _ = games.step(shown["action_mask"].argmax(1))
    return terminated


def test_for_torchrl_shows_the_end_and_then_the_next_game():
    made = {"num_envs": 16, "max_rounds": 1}
    plain = gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made)
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made))
    assert games.autoreset_mode == AutoresetMode.DISABLED
    seen, infos = plain.reset(seed=1)
    shown, _ = games.reset(seed=1)
    ended = 0
    for _ in range(20):
        assert games.observation_space.contains(shown)
        np.testing.assert_array_equal(shown["observation"], seen)
        np.testing.assert_array_equal(shown["action_mask"], infos["action_mask"])
        actions = infos["action_mask"].argmax(1)
        seen, rewards, terminated, _, infos = plain.step(actions)
        shown, same_rewards, same_over, _, _ = games.step(actions)
        np.testing.assert_array_equal(same_rewards, rewards)
        np.testing.assert_array_equal(same_over, terminated)
        if terminated.any():
            ended += terminated.sum()
            last = np.stack(infos["final_obs"][terminated])
            np.testing.assert_array_equal(shown["observation"][terminated], last)
            assert shown["action_mask"][terminated].all()
            shown, _ = games.reset(options={"reset_mask": terminated})
    assert ended > 16


def test_for_torchrl_refuses_a_step_of_games_that_are_over():
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=2, max_rounds=1))
    shown, _ = games.reset(seed=1)
    with pytest.raises(UserError, match="games that have ended"):
        games.reset(options={"reset_mask": np.array([True, False])})
    play_to_an_end(games, shown)
    with pytest.raises(UserError, match="call reset"):
        games.step(shown["action_mask"].argmax(1))


def test_for_torchrl_takes_only_games_that_begin_anew_by_themselves():
    made = {"num_envs": 2, "autoreset_mode": "NextStep"}
    with pytest.raises(UserError, match="SAME_STEP"):
        for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made))


def test_for_torchrl_takes_only_batches():
    for other in (gymnasium.make("hanamachi/Hanamikoji-v0"), 5):
        with pytest.raises(UserError, match="make_vec"):
            for_torchrl(other)


def test_for_torchrl_begins_all_games_with_a_mask_of_all():
    made = {"num_envs": 2, "max_rounds": 1}
    games, other = (
        for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made)) for _ in range(2)
    )
    shown, _ = games.reset(seed=1, options={"reset_mask": np.ones(2, bool)})
    same, _ = other.reset(seed=1)
    for name, rows in shown.items():
        np.testing.assert_array_equal(rows, same[name])
    terminated = play_to_an_end(games, shown)
    with pytest.raises(UserError, match="leave out the seed"):
        games.reset(seed=1, options={"reset_mask": terminated})
    games.reset(options={"reset_mask": terminated})


def test_for_torchrl_reads_all_options_of_every_reset():
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=2, max_rounds=1))
    with pytest.warns(UserWarning, match="ignores") as warned:
        shown, _ = games.reset(seed=1, options={"colour": 1})
    assert len(warned) == 1
    options = {"reset_mask": play_to_an_end(games, shown)}
    with pytest.raises(UserError, match="no options but reset_mask"):
        games.reset(options={**options, "deal": []})
    with pytest.warns(UserWarning, match="ignores"):
        games.reset(options={**options, "colour": 1})


def test_for_torchrl_takes_options_by_name_alone():
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=2))
    with pytest.raises(UserError, match="dict"):
        games.reset(options=["reset_mask"])


@pytest.mark.parametrize("mask", [[True, True], np.zeros(2, bool)], ids=str)
def test_for_torchrl_begins_all_games_first(mask):
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=2))
    with pytest.raises(UserError, match="reset_mask"):
        games.reset(options={"reset_mask": mask})
