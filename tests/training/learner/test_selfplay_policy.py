"""The policy as stable-baselines3 knows it agrees with its network."""

import pickle

import numpy as np
import pytest
import torch
from small_games import GIFTS

from hanamachi.games.registry import variant
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

GAMES = 8


@pytest.fixture
def games():
    games = SelfPlayVecEnv(variant("hanamikoji", **GIFTS), GAMES)
    games.reset()
    return games


@pytest.fixture
def policy(games):
    """A policy that prefers some actions, with a value that differs from row to row."""
    torch.manual_seed(0)
    spaces = games.observation_space, games.action_space
    policy = SelfPlayPolicy(*spaces, learning_rate, hidden=(16,))
    with torch.no_grad():
        policy.network.free.normal_()
    return policy


def learning_rate(left):
    return 1e-3


def test_a_policy_can_be_pickled(policy, games):
    again = pickle.loads(pickle.dumps(policy))
    rows = torch.as_tensor(games.observations)
    for one, other in zip(policy(rows, True), again(rows, True), strict=True):
        assert torch.equal(one, other)


def test_the_methods_of_a_policy_agree_with_its_network(games, policy):
    seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
    chances, values = policy.network(seen, masks != 0)
    table = chances.table(masks != 0)
    actions = table.argmax(1)
    for given in (games.masks, masks):  # of numpy and of PyTorch
        distribution = policy.get_distribution(seen, given).distribution
        torch.testing.assert_close(distribution.probs, table)
        taken, its_values, log_probabilities = policy(seen, True, given)
        assert taken.tolist() == actions.tolist()
        torch.testing.assert_close(its_values[:, 0], values)
        torch.testing.assert_close(log_probabilities, chances.of(actions))
    torch.testing.assert_close(policy.predict_values(seen)[:, 0], values)


def test_evaluated_actions_have_their_gradients(games, policy):
    seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
    actions = masks.argmax(1)
    values, log_probabilities, entropy = policy.evaluate_actions(seen, actions, masks)
    chances, expected = policy.network(seen, masks != 0)
    torch.testing.assert_close(values[:, 0], expected)
    torch.testing.assert_close(log_probabilities, chances.of(actions))
    table = chances.table(masks != 0)
    torch.testing.assert_close(entropy, -torch.xlogy(table, table).sum(1))
    (values.sum() + log_probabilities.sum() + entropy.sum()).backward()
    assert all(weights.grad.isfinite().all() for weights in policy.network.parameters())


def test_drawn_actions_are_legal(games, policy):
    for _ in range(20):
        taken, _, _ = policy(torch.from_numpy(games.observations), action_masks=games.masks)
        assert games.masks[np.arange(GAMES), taken].all()
