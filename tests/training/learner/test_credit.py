"""Advantages of turn-based streams agree with a computation for each player on its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hanamachi.training.learner.rollout_buffer import mover_signed_advantages


def brute_force(rewards, values, terminated, movers, cooperative, gamma, gae_lambda):
    """Each decision's advantage by the definition: a weighted sum of all later errors.

    The error of a later decision is computed in the eyes of the player whose advantage it is: it
    sees the reward and the value of another's decision with its sign turned.
    """
    steps = len(rewards)
    advantages = np.zeros(steps)

    def seen_by(player, mover):
        return 1.0 if cooperative or player == mover else -1.0

    for t in range(steps):
        player = movers[t]
        weight = 1.0
        for k in range(t, steps):
            ends = terminated[k]
            after = 0.0 if ends else gamma * seen_by(player, movers[k + 1]) * values[k + 1]
            mine = seen_by(player, movers[k])
            error = mine * rewards[k] + after - mine * values[k]
            advantages[t] += weight * error
            if ends:
                break
            weight *= gamma * gae_lambda
    return advantages


@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(1, 40),
    seats=st.sampled_from([None, 2, 3, 5]),  # of partners; or two rivals
    gamma=st.sampled_from([1.0, 0.99, 0.5]),
    gae_lambda=st.sampled_from([0.0, 0.8, 0.95, 1.0]),
)
@settings(max_examples=200, deadline=None)
def test_advantages_agree_with_a_computation_for_each_player(seed, steps, seats, gamma, gae_lambda):
    rng = np.random.default_rng(seed)
    games, cooperative = 3, seats is not None
    movers = rng.integers(seats or 2, size=(steps + 1, games))  # one may move twice running
    rewards = rng.normal(size=(steps, games))
    values = rng.normal(size=(steps + 1, games))
    terminated = rng.random((steps, games)) < 0.2
    signs = np.where(cooperative | (movers[1:] == movers[:-1]), 1.0, -1.0)
    ours = mover_signed_advantages(rewards, values, terminated, signs, gamma, gae_lambda)
    for game in range(games):
        column = np.s_[:, game]
        expected = brute_force(
            rewards[column], values[column], terminated[column], movers[column],
            cooperative, gamma, gae_lambda,
        )  # fmt: skip
        assert ours[column] == pytest.approx(expected, abs=1e-6)


def test_the_loser_gets_its_loss_through_the_winners_last_decision():
    rewards = np.array([[0], [1]], np.float32)  # the second player wins with the last decision
    values = np.zeros((3, 1), np.float32)
    terminated = np.array([[False], [True]])
    signs = np.array([[-1], [-1]], np.float32)
    advantages = mover_signed_advantages(rewards, values, terminated, signs, 1.0, 1.0)
    assert advantages.ravel().tolist() == [-1, 1]


def test_rewards_that_are_whole_numbers_round_no_advantage():
    terminated, signs = np.array([[False], [True]]), np.ones((2, 1))
    values = np.array([[0.25], [0.5], [0]], np.float32)
    whole, exact = (
        mover_signed_advantages(np.array([[0], [1]], kind), values, terminated, signs, 1.0, 0.5)
        for kind in (np.int64, np.float64)
    )
    assert whole.tolist() == exact.tolist() == [[0.5], [0.5]]


def test_decisions_of_others_are_discounted_too():
    rewards, values = np.array([[0], [1]], np.float32), np.zeros((3, 1), np.float32)
    terminated, signs = np.array([[False], [True]]), np.ones((2, 1), np.float32)
    elapsed = np.array([[3], [1]], np.float32)
    advantages = mover_signed_advantages(rewards, values, terminated, signs, 0.5, 1.0, elapsed)
    assert advantages.ravel().tolist() == [0.125, 1]
