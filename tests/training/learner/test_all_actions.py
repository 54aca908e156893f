"""A policy learns from the values of all legal actions."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from learners import SETTINGS, last_rollout, learned
from small_games import GIFTS

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.training.config import Config
from hanamachi.training.exact import nash_conv, tabulate, tree_of
from hanamachi.training.learner.critic import Critic
from hanamachi.training.learner.rollout_buffer import mover_signed_advantages

BY_ACTION = SETTINGS | {"critic": "action_values"}


# --- Advantages


def by_definition(rewards, values, terminated, signs, gae_lambda, expected):
    """Expected SARSA(lambda), from the last decision to the first.

    The return of a decision is its reward, and if the game goes on, a mix of what is expected of
    the next one's policy and of that one's own return, corrected by what its action promised.
    """
    promised = values[:-1] + expected
    found, following = np.zeros_like(rewards), values[-1]
    for t in reversed(range(len(rewards))):
        found[t] = rewards[t] + signs[t] * ~terminated[t] * following
        error = found[t] - promised[t]
        following = values[t] + gae_lambda * error
    return found - values[:-1]


@given(seed=st.integers(0, 2**32 - 1), gae_lambda=st.sampled_from([0.0, 0.8, 1.0]))
@settings(max_examples=100, deadline=None)
def test_advantages_are_those_of_expected_sarsa(seed, gae_lambda):
    rng, decisions = np.random.default_rng(seed), (20, 3)
    rewards, expected = rng.normal(size=(2, *decisions))
    values = rng.normal(size=(21, 3))
    terminated, signs = rng.random(decisions) < 0.2, rng.choice([-1, 1], decisions)
    played = rewards, values, terminated, signs
    found = mover_signed_advantages(*played, 1.0, gae_lambda, expected=expected)
    np.testing.assert_allclose(found, by_definition(*played, gae_lambda, expected), atol=1e-9)


# --- The critic


def test_it_begins_as_the_networks_value_of_every_action():
    critic, values = Critic(np.ones(5), (8,), actions=4), torch.tensor([0.5, -1.0])
    found = critic(torch.rand(2, 3), torch.rand(2, 2), values)
    torch.testing.assert_close(found, values.unsqueeze(-1).expand(2, 4))


def test_a_value_is_the_mean_of_the_actions_values_and_the_rest_is_the_actions():
    learner = learned(**BY_ACTION)
    buffer, policy = learner.rollout_buffer, learner.policy
    learner.play()
    seen = buffer.fields(("observations", "masks", "centralised"), torch.arange(32 * 16))
    with torch.no_grad():
        chances, own = policy.network(*seen[:2])
        of_actions = policy.critic(seen[0], seen[2], own)
        mean = (chances.table(seen[1]) * of_actions).sum(-1)
    played = of_actions.gather(1, buffer.actions.flatten().unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(buffer.values[:-1].flatten(), mean, atol=1e-5, rtol=0)
    torch.testing.assert_close(buffer.expected.flatten(), played - mean, atol=1e-5, rtol=0)
    assert buffer.expected.abs().max() > 1e-3


# --- The loss


def test_the_gradient_is_that_of_the_mean_return_whatever_the_critic_says():
    learner = learned(**BY_ACTION)
    network, scale = learner.policy.network, learner.rollout_buffer.advantage_scale
    batch = last_rollout(learner)
    returns, said = torch.rand(2, *batch.masks.shape)
    for row in batch.masks.sum(1).topk(3).indices.tolist():
        one = type(batch)(*(field[row : row + 1] for field in batch))
        chances, _ = network(one.observations, one.masks)
        mean = (chances.table(one.masks) * returns[row]).sum()
        found = torch.zeros_like(network.free)
        for action, log_probability in zip(*chances[1:], strict=True):
            drawn = one._replace(
                actions=action[None],
                log_probabilities=log_probability.detach()[None],
                returns=returns[row, action][None],
            )
            loss, _ = learner.policy_loss(chances, said[row : row + 1], drawn, {})
            found += log_probability.exp().detach() * gradient(loss, network)
        torch.testing.assert_close(found, -gradient(mean, network) / scale, atol=1e-6, rtol=1e-3)


def gradient(loss, network):
    return torch.autograd.grad(loss, network.free, retain_graph=True)[0]


# --- Learning


def test_self_play_with_it_comes_nearer_to_equilibrium():
    small = variant("hanamikoji", **GIFTS)
    learner = learned(60_000, **BY_ACTION | {"num_games": 256, "ppo": {"batch_size": 512}})
    tree = tree_of(small)
    policy = CompiledPolicy(checkpoint_of(learner.policy.network, small))
    assert nash_conv(tree, tabulate(tree, policy)) < nash_conv(tree, tree.uniform) / 2


# --- Settings


@pytest.mark.parametrize(
    "settings",
    [
        {"ppo": {"clip_range": 0.1}},
        {"distillation": {"share": 0.5}},
        {"game": "hanamikoji", "options": {}, "network": {"symmetries": "canonical"}},
    ],
)
def test_what_does_not_go_with_it_is_refused(settings):
    with pytest.raises(UserError):
        Config.from_dict({**BY_ACTION, **settings})
