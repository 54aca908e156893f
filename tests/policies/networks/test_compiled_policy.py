"""Compiled play gives what PyTorch gives."""

import numpy as np
import pytest
import torch
from samples import sample

from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.policies import load_policy
from hanamachi.policies.agents import agents
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks import network as network_module
from hanamachi.policies.networks.head import head_of
from hanamachi.policies.networks.legal_softmax import by_matrices
from hanamachi.policies.networks.network import for_variant
from hanamachi.policies.networks.tables import weight_shapes
from hanamachi.policies.sampling import sample as drawn
from hanamachi.policies.sampling import uniform

POSITIONS = sample(100_000, 0.01)
GAMES = 1_000


@pytest.mark.parametrize("id", agents())
def test_every_agent_decides_as_its_network_does_in_exact_arithmetic(id, monkeypatch):
    """In its games against random play, in which it plays every seventh action at random, too.

    Single precision rounds: PyTorch's probabilities are up to 0.8e-5 away, ours up to 1.1e-5.
    """
    monkeypatch.setattr(network_module, "legal_softmax", by_matrices)  # loops take single precision
    policy = load_policy(id)
    _, hidden, feature_sets, weights, symmetries = policy.checkpoint
    network = for_variant(policy.variant, hidden, feature_sets, symmetries)
    network.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
    exact = network.double()
    for observations, masks, probabilities, values in decisions(policy):
        legal = torch.from_numpy(masks != 0)
        with torch.no_grad():
            distribution, expected = exact(torch.from_numpy(observations).double(), legal)
        np.testing.assert_allclose(probabilities, distribution.table(legal), atol=2e-5)
        np.testing.assert_allclose(values, expected, atol=2e-5, rtol=1e-5)


def decisions(policy):
    """Observations with their features, masks, and what the policy answers."""
    games, rng = VectorSeatEnv(policy.variant.id, GAMES), np.random.default_rng(0)
    observations, info = games.reset(seed=0)
    for _ in range(-(-POSITIONS // GAMES)):
        masks = info["action_mask"]
        extended, _ = policy.features.extend(observations, masks, policy.initial_memory(GAMES))
        probabilities, values = policy.evaluate(extended, masks)
        yield extended, masks, probabilities, values
        at_random = rng.random((GAMES, 1)) < 1 / 7
        played = np.where(at_random, uniform(masks), probabilities)
        observations, *_, info = games.step(drawn(played, rng.random(GAMES)))


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced", "hanabi:3p"])
@pytest.mark.parametrize("features", [(), ("advice",)])
def test_the_weights_have_the_names_and_shapes_of_the_networks_in_pytorch(id, features):
    policy = load_policy("random", id)
    network = for_variant(policy.variant, (8, 4), features)
    layout = Features(policy.variant, features).layout
    shapes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    assert weight_shapes(head_of(policy.variant.actions, layout), layout.size, (8, 4)) == shapes
