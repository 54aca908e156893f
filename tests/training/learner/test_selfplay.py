"""The learner as stable-baselines3 knows it: its settings, its rollouts, and how it is loaded."""

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from small_games import GIFTS
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecFrameStack, VecMonitor, VecNormalize

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

SMALL = variant("hanamikoji", **GIFTS)
GAMES = 8


def new_games(seed=0):
    games = SelfPlayVecEnv(SMALL, GAMES, seed)
    games.reset()
    return games


def new_model(games, **settings):
    return SelfPlayPPO(
        SelfPlayPolicy, games, n_steps=4, batch_size=16, n_epochs=1, seed=0, device="cpu",
        policy_kwargs={"hidden": (16,)}, **settings,
    )  # fmt: skip


# --- Settings


@pytest.mark.parametrize(
    "setting", [{"target_kl": 0.01}, {"clip_range_vf": 0.2}, {"normalize_advantage": False}]
)
def test_a_setting_that_is_not_read_is_refused(setting):
    (name,) = setting
    with pytest.raises(UserError, match=name):
        new_model(new_games(), **setting)


def test_the_learner_discounts_as_its_games_do():
    games = SelfPlayVecEnv(SMALL, GAMES, opponents=[("random", 0.5)])
    with pytest.raises(UserError, match="same gamma"):
        new_model(games, gamma=0.9).learn(1)
    new_model(games).learn(1)


def test_a_setting_that_is_not_read_may_have_its_default():
    new_model(new_games(), target_kl=None, clip_range_vf=None, normalize_advantage=True)


@pytest.mark.parametrize(
    "wrapper", [VecNormalize, VecMonitor, lambda games: VecFrameStack(games, 2)]
)
def test_a_wrapper_that_the_learner_would_not_see_is_refused(wrapper):
    with pytest.raises(UserError, match="without a wrapper"):
        new_model(wrapper(new_games()))
    learner = new_model(new_games())
    with pytest.raises(UserError, match="without a wrapper"):
        learner.set_env(wrapper(new_games()))


def test_environments_of_one_seat_are_refused():
    with pytest.raises(UserError, match="SelfPlayVecEnv"):
        new_model(make_vec_env("hanamachi/Hanamikoji-v0", 2))


@pytest.mark.parametrize("policy", ["MlpPolicy", MaskableActorCriticPolicy, None])
def test_a_policy_of_another_kind_is_refused(policy):
    with pytest.raises(UserError, match="SelfPlayPolicy"):
        SelfPlayPPO(policy, new_games())


def test_a_model_of_another_algorithm_is_refused(tmp_path):
    MaskablePPO("MlpPolicy", new_games(), n_steps=4, batch_size=16).save(tmp_path / "model.zip")
    with pytest.raises(UserError, match="SelfPlayPolicy"):
        SelfPlayPPO.load(tmp_path / "model.zip", env=new_games())


def test_a_schedule_for_a_magnet_that_is_not_set_is_refused():
    with pytest.raises(UserError, match="needs a magnet"):
        new_model(new_games(), kl_schedule=constant).learn(1)


def constant(left):
    return 0.1


# --- Models that are loaded


@pytest.fixture
def saved(tmp_path):
    """A model that has learned a little, and the file that it was saved to."""
    model = new_model(new_games()).learn(GAMES * 4)
    model.save(tmp_path / "model.zip")
    return model, tmp_path / "model.zip"


def test_a_model_that_is_loaded_without_games_predicts_as_before(saved):
    model, file = saved
    games = new_games(1)
    how = {"action_masks": games.masks, "deterministic": True}
    loaded = SelfPlayPPO.load(file)
    assert loaded.get_env() is None
    expected, _ = model.predict(games.observations, **how)
    np.testing.assert_array_equal(loaded.predict(games.observations, **how)[0], expected)


def test_a_model_that_is_loaded_learns_once_it_has_games(saved):
    _, file = saved
    loaded = SelfPlayPPO.load(file)
    with pytest.raises(UserError, match="set_env"):
        loaded.learn(1)
    loaded.set_env(new_games())
    assert loaded.learn(GAMES * 4).num_timesteps == GAMES * 4


# --- Its rollouts


def test_before_a_rollout_the_buffer_has_all_that_it_has_after_one():
    model = new_model(new_games())
    before = vars(model.rollout_buffer).keys() | set()
    model.learn(GAMES * 4)
    assert vars(model.rollout_buffer).keys() == before
