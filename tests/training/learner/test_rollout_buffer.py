"""What the learner learns from a rollout: advantages, returns and errors of values."""

import numpy as np
import pytest
import torch
from small_games import GIFTS

from hanamachi.games.registry import variant
from hanamachi.training.learner.rollout_buffer import SelfPlayBuffer, mover_signed_advantages
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.vecenv import SelfPlayVecEnv


def finished(scale: float) -> SelfPlayBuffer:
    """The buffer after a rollout with rewards of this standard deviation."""
    small = variant("hanamikoji", **GIFTS)
    learner = SelfPlayPPO(SelfPlayPolicy, SelfPlayVecEnv(small, 8), n_steps=16, device="cpu")
    buffer, rng = learner.rollout_buffer, np.random.default_rng(0)
    buffer.rewards[:] = scale * rng.normal(size=buffer.rewards.shape)
    buffer.values[:] = torch.from_numpy(rng.normal(size=buffer.values.shape))
    buffer.signs[:] = rng.choice([-1, 1], size=buffer.signs.shape)
    buffer.terminated[:] = rng.random(buffer.terminated.shape) < 0.2
    buffer.finish()
    return buffer


def test_a_return_is_the_value_and_the_advantage() -> None:
    buffer = finished(scale=1)
    values = buffer.values.numpy()
    played = buffer.rewards, values, buffer.terminated, buffer.signs
    advantages = mover_signed_advantages(*played, buffer.gamma, buffer.gae_lambda)
    np.testing.assert_allclose(buffer.returns, values[:-1] + advantages, rtol=1e-5)


@pytest.mark.parametrize("scale", [0.1, 1, 100])
def test_advantages_have_the_mean_0_and_the_standard_deviation_1(scale: float) -> None:
    advantages = finished(scale).advantages.numpy()
    assert advantages.mean() == pytest.approx(0, abs=1e-5)
    assert advantages.std() == pytest.approx(1, abs=1e-5)


def test_errors_of_values_count_the_same_however_large_the_scores_are() -> None:
    buffer = finished(scale=100)
    returns = buffer.returns.numpy()
    error = float(buffer.value_error(torch.zeros_like(buffer.returns), buffer.returns))
    assert error == pytest.approx((returns**2).mean() / returns.var(), rel=1e-4)


def test_small_errors_of_values_are_not_magnified() -> None:
    buffer = finished(scale=0.1)
    buffer.values *= 0.1
    buffer.finish()
    error = float(buffer.value_error(torch.zeros_like(buffer.returns), buffer.returns))
    assert error == pytest.approx((buffer.returns.numpy() ** 2).mean(), rel=1e-4)
