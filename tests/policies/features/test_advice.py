"""Advice tells a network what the game's `expert` thinks of each action, and binds it to none."""

from functools import partial

import numpy as np
import pytest
import torch
from learners import learned

from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.network import NetworkPolicy, for_variant
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


def worths(games):
    """What `expert` thinks of each action, (B, A); -inf where it is not legal."""
    return load_policy("expert", games.variant.id).scores(*views(games))[0]


def advice(games):
    """(B, A) and (B,)."""
    layout = games.features.layout
    told = games.observations[:, layout.slice("advice")]
    return told, games.observations[:, layout.slice("best advice")][:, 0]


def test_it_says_how_far_each_action_is_behind_the_best(games):
    expected, (told, best) = worths(games), advice(games)
    legal = games.masks != 0
    behind = (expected.max(1, keepdims=True) - expected).clip(0, 1)
    np.testing.assert_allclose(-told[legal] / 10, behind[legal], atol=1e-5)
    np.testing.assert_array_equal(told[~legal], 0)
    np.testing.assert_allclose(best, expected.max(1).clip(-1, 1))


def test_it_keeps_within_its_bounds(games):
    layout = games.features.layout
    assert (layout.low <= games.observations).all()
    assert (games.observations <= layout.high).all()


def test_whoever_trusts_it_plays_like_the_expert(games):
    network = for_variant(games.variant, (16,), ["advice"])
    torch.nn.init.constant_(network.trust.weights.bias, 1_000)
    policy = NetworkPolicy(games.variant, network)
    chosen, expected = policy.distribution(*views(games))[0].argmax(1), worths(games)
    taken = expected[np.arange(games.num_envs), chosen]
    np.testing.assert_allclose(taken, expected.max(1), atol=1e-4)


def test_whoever_does_not_trust_it_plays_as_without():
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


def test_a_learner_comes_to_trust_it():
    learner = advised(8_192)
    games = learner.env
    seen = torch.from_numpy(games.observations)
    network = learner.policy.network
    h = network.trunk(network.seen(seen))
    assert (network.trust.weights(h) > 0).float().mean() > 0.9


def test_with_it_a_learner_that_sees_all_hands_exports_a_policy_that_loads(tmp_path):
    learner = advised(critic="all")
    variant, network = learner.env.variant, learner.policy.network
    save_checkpoint(tmp_path / "policy", network, variant, "")
    policy, games = load_policy(str(tmp_path / "policy")), learner.env
    given = games.seen, games.masks, policy.initial_memory(games.num_envs)
    told = torch.from_numpy(games.observations), torch.from_numpy(games.masks != 0)
    with torch.no_grad():
        expected = network(*told)[0].table(told[1])
    np.testing.assert_allclose(policy.distribution(*given)[0], expected, atol=1e-6)
