"""Advice gives a network the scores of the game's `expert`; the network decides how to use them."""

from functools import partial

import numpy as np
import pytest
import torch
from learners import learned

from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.features.advice import write_gaps
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.training.learner.critic import Critic
from hanamachi.training.learner.vecenv import FeaturedVecEnv, SelfPlayVecEnv

GAMES = (
    "hanamikoji",
    "hanamikoji:eight_suits",
    "geishas_road:2021",
    "geishas_road:advanced",
    "hanabi:2p",
    "hanabi:3p:multicolour",
)
advised = partial(learned, network={"hidden": [32], "features": ["advice"]})


@pytest.fixture(params=GAMES)
def games(request):
    """Games in all stages of a round, each move the likeliest by lot."""
    variant = make_variant(request.param)
    games = FeaturedVecEnv(SelfPlayVecEnv(variant, 64, seed=1), Features(variant, ["advice"]))
    games.reset()
    rng = np.random.default_rng(0)
    for _ in range(20):
        games.advance(np.where(games.masks, rng.random(games.masks.shape), 0).argmax(1))
    return games


def views(games):
    """What the seats to move see, may do, and remember of the game: as the expert does."""
    return games.seen, games.masks, games.memory[np.arange(games.num_envs), games.movers]


def expert_scores(games):
    """The scores of `expert`, (B, A); -inf where an action is illegal."""
    return load_policy("expert", games.variant.id).scores(*views(games))[0]


def advice(games):
    """(B, A) and (B,)."""
    layout = games.features.layout
    gaps = games.observations[:, layout.slice("advice")]
    return gaps, games.observations[:, layout.slice("best advice")][:, 0]


def test_it_is_the_gap_of_each_action_to_the_best(games):
    expected, (advised_gaps, best) = expert_scores(games), advice(games)
    legal = games.masks != 0
    gaps = (expected.max(1, keepdims=True) - expected).clip(0, 1)
    np.testing.assert_allclose(-advised_gaps[legal] / 10, gaps[legal], atol=1e-5)
    np.testing.assert_array_equal(advised_gaps[~legal], 0)
    np.testing.assert_allclose(best, expected.max(1).clip(-1, 1))


@pytest.mark.parametrize(("best", "kept"), [(-3, -1), (0.5, 0.5), (3, 1)])
def test_what_lies_beyond_its_bounds_is_clipped(best, kept):
    scores = np.array([[best - 7, best, best - 0.25, -np.inf]], np.float32)
    features = np.zeros((1, 5), np.float32)
    write_gaps(scores, np.array([[1, 1, 1, 0]], np.int8), features)
    np.testing.assert_allclose(features, [[-10, 0, -2.5, 0, kept]], atol=1e-5)


def test_it_keeps_within_its_bounds(games):
    layout = games.features.layout
    assert (layout.low <= games.observations).all()
    assert (games.observations <= layout.high).all()


def test_a_network_with_an_open_gate_plays_like_the_expert(games):
    network = for_variant(games.variant, (16,), ["advice"])
    torch.nn.init.constant_(network.trust.weights.bias, 1_000)
    policy = CompiledPolicy(checkpoint_of(network, games.variant))
    chosen, expected = policy.distribution(*views(games))[0].argmax(1), expert_scores(games)
    taken = expected[np.arange(games.num_envs), chosen]
    np.testing.assert_allclose(taken, expected.max(1), atol=1e-4)


def test_a_network_with_a_closed_gate_plays_as_without_advice():
    torch.manual_seed(0)
    network = for_variant(make_variant("hanamikoji"), (16,), ["advice"])
    for weights in network.trust.parameters():
        torch.nn.init.zeros_(weights)
    seen, mask = torch.rand(5, 254 + 509), torch.ones(5, 508, dtype=torch.bool)
    other = seen.clone()
    other[:, 254 : 254 + 508] = 0
    for one, same in zip(network(seen, mask)[0], network(other, mask)[0], strict=True):
        assert torch.equal(one, same)


def test_values_come_from_the_rest_of_what_is_seen():
    network = for_variant(make_variant("hanamikoji"), (16,), ["advice"])
    critic = Critic(np.ones(254 + 509 + 254), (16,), np.arange(254, 254 + 508))
    torch.nn.init.normal_(critic.change.weight)
    seen, hidden, mask = torch.rand(5, 763), torch.rand(5, 254), torch.ones(5, 508) > 0
    other = seen.clone()
    other[:, 254 : 254 + 508] = 0
    values = network(seen, mask)[1]
    assert torch.equal(values, network(other, mask)[1])
    assert torch.equal(critic(seen, hidden, values), critic(other, hidden, values))


def test_a_learner_learns_to_open_the_gate():
    learner = advised(8_192)
    games = learner.env
    seen = torch.from_numpy(games.observations)
    network = learner.policy.network
    h = network.trunk(network.input_scaling(seen))
    assert (network.trust.weights(h) > 0).float().mean() > 0.9


def test_with_it_a_learner_that_sees_all_hands_exports_a_policy_that_loads(tmp_path):
    learner = advised(critic="all")
    variant, network = learner.env.variant, learner.policy.network
    save_checkpoint(tmp_path / "policy", checkpoint_of(network, variant), "")
    policy, games = load_policy(str(tmp_path / "policy")), learner.env
    given = games.seen, games.masks, policy.initial_memory(games.num_envs)
    inputs = torch.from_numpy(games.observations), torch.from_numpy(games.masks != 0)
    with torch.no_grad():
        expected = network(*inputs)[0].table(inputs[1])
    np.testing.assert_allclose(policy.distribution(*given)[0], expected, atol=1e-6)
