"""A canonical network decides alike in symmetric positions, whatever runs it."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from messages import assert_one_sentence

from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.networks.canonical import CANONICAL, seen
from hanamachi.policies.networks.checkpoint import load_checkpoint, save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.description import config_digest
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.networks.onnx_export import write_onnx
from hanamachi.policies.networks.onnx_policy import load_onnx
from hanamachi.training.build import starting_weights
from hanamachi.training.config import Config
from hanamachi.training.learner.past import PastSelves
from hanamachi.training.learner.vecenv import SelfPlayVecEnv
from hanamachi.training.modelcard import ONE_FORM, model_card

GAMES = 256
HANABI = {"colours": 3, "ranks": 3, "hand_size": 3, "max_clues": 4}
NETWORKS = [
    ("hanamikoji", {}, ()),
    ("hanamikoji:three_rounds", {}, ("advice",)),
    ("geishas_road:standard", {}, ("advice",)),
    ("geishas_road:2021", {}, ()),
    ("hanabi:2p", HANABI, ("advice",)),
]


def network_of(id, options, features):
    torch.manual_seed(0)
    network = for_variant(make_variant(id, **options), (16, 16), features, CANONICAL)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return network


def policy_of(id, options, features):
    network = network_of(id, options, features)
    return CompiledPolicy(checkpoint_of(network, make_variant(id, **options)))


def positions(variant, seed):
    """Observations and masks after some random moves in each game."""
    games, rng = SelfPlayVecEnv(variant, GAMES, seed), np.random.default_rng(seed)
    games.reset()
    for _ in range(int(rng.integers(12))):
        games.advance(np.array([rng.choice(np.flatnonzero(mask)) for mask in games.masks]))
    return games.observations.copy(), games.masks.copy()


def inputs(policy, observations, masks):
    """What the network is given."""
    extended, _ = policy.features.extend(observations, masks, policy.initial_memory(len(masks)))
    return np.ascontiguousarray(extended, np.float32), masks


def under(table, numbers, rows):
    """Rows under the symmetries of these numbers."""
    return np.ascontiguousarray(np.take_along_axis(rows, table[numbers], axis=1))


@settings(deadline=None, max_examples=10)
@given(st.sampled_from(NETWORKS), st.integers(0, 2**32 - 1))
def test_it_decides_alike_in_symmetric_positions(shape, seed):
    policy = policy_of(*shape)
    entries, actions = policy.variant.symmetries
    observations, masks = positions(policy.variant, seed)
    numbers = np.random.default_rng(seed).integers(len(entries), size=GAMES)
    keys = observations @ policy.forms.keys
    one_form = (keys == keys.max(1, keepdims=True)).sum(1) == 1
    memory = policy.initial_memory(GAMES)
    chances, values, _ = policy.distribution(observations, masks, memory)
    of_others, others, _ = policy.distribution(
        under(entries, numbers, observations), under(actions, numbers, masks), memory
    )
    expected = under(actions, numbers, chances)
    np.testing.assert_allclose(of_others[one_form], expected[one_form], atol=1e-4)
    np.testing.assert_allclose(others[one_form], values[one_form], atol=1e-4)


@pytest.mark.parametrize("shape", NETWORKS)
def test_positions_of_different_forms_have_different_keys(shape):
    """Almost always: where two forms have the largest key, they are the same position."""
    policy = policy_of(*shape)
    rows = positions(policy.variant, 3)
    entries, actions = policy.variant.symmetries
    numbers = np.random.default_rng(3).integers(len(entries), size=GAMES)
    shown = seen(policy.forms, *inputs(policy, *rows)).observations
    others = under(entries, numbers, rows[0]), under(actions, numbers, rows[1])
    size = policy.variant.observation.size
    alike = shown[:, :size] == seen(policy.forms, *inputs(policy, *others)).observations[:, :size]
    assert alike.all(1).mean() > 0.97


@pytest.mark.parametrize("shape", NETWORKS)
def test_pytorch_compiled_loops_and_onnx_agree(shape, tmp_path):
    network, policy = network_of(*shape), policy_of(*shape)
    write_onnx(policy.checkpoint, tmp_path / "policy.onnx")
    exported = load_onnx(tmp_path / "policy.onnx")
    observations, masks = positions(policy.variant, 5)
    extended, legal = inputs(policy, observations, masks)
    with torch.no_grad():
        chances, values = network(torch.from_numpy(extended), torch.from_numpy(legal != 0))
    expected = chances.table(torch.from_numpy(legal != 0)).numpy()
    for each in (policy, exported):
        probabilities, expected_values = each.evaluate(extended, masks)
        np.testing.assert_allclose(probabilities, expected, atol=1e-4)
        np.testing.assert_allclose(expected_values, values, atol=1e-4)


@pytest.mark.parametrize("precision", ["highest", "medium"])
def test_a_gpu_chooses_the_form_that_a_processor_chooses(precision):
    policy, network = policy_of(*NETWORKS[1]), network_of(*NETWORKS[1])
    rows = inputs(policy, *positions(policy.variant, 7))
    observations, masks = torch.from_numpy(rows[0]), torch.from_numpy(rows[1] != 0)
    torch.set_float32_matmul_precision(precision)
    try:
        one, other = (
            show(observations, masks)
            for show in (network.canonical.by_loops, network.canonical.by_matrices)
        )
    finally:
        torch.set_float32_matmul_precision("highest")
    assert all(map(torch.equal, one, other))


def test_it_is_saved_and_loaded(tmp_path):
    policy = policy_of(*NETWORKS[1])
    save_checkpoint(tmp_path / "policy", policy.checkpoint, "")
    loaded = load_checkpoint(tmp_path / "policy")
    assert loaded.checkpoint.symmetries == CANONICAL
    rows = inputs(policy, *positions(policy.variant, 9))
    for one, other in zip(policy.evaluate(*rows), loaded.evaluate(*rows), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_past_self_sees_what_the_learner_sees():
    policy = policy_of(*NETWORKS[0])
    past = PastSelves(policy.variant, (16, 16), (), CANONICAL)
    past.seat({0: policy.checkpoint.weights}, 0)
    rows = positions(policy.variant, 11)
    ours = policy.distribution(*rows, policy.initial_memory(GAMES))[0]
    np.testing.assert_array_equal(past.distribution(*rows, past.initial_memory(GAMES))[0], ours)


@pytest.mark.parametrize("symmetries", ["none", "other", 1, None, ["canonical"]])
def test_a_description_of_other_symmetries_is_refused(tmp_path, symmetries):
    save_checkpoint(tmp_path / "policy", policy_of(*NETWORKS[0]).checkpoint, "")
    path = tmp_path / "policy" / "config.json"
    config = json.loads(path.read_text())
    config["network"]["symmetries"] = symmetries
    config["digest"] = config_digest(config)
    path.write_text(json.dumps(config))
    with pytest.raises(UserError) as error:
        load_checkpoint(tmp_path / "policy")
    assert_one_sentence(error.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"game": "hanamikoji", "options": {"cards": [2, 3, 4, 5]}},
        {"game": "hanabi:2p", "network": {"features": ["convention"]}},
    ],
)
def test_what_has_no_symmetric_forms_cannot_be_canonical(settings):
    network = {**settings.get("network", {}), "symmetries": CANONICAL}
    with pytest.raises(UserError) as error:
        Config.from_dict({**settings, "network": network})
    assert_one_sentence(error.value)


def test_weights_go_on_with_the_symmetries_that_they_were_trained_with(tmp_path):
    save_checkpoint(tmp_path / "policy", policy_of(*NETWORKS[0]).checkpoint, "")
    config = Config.from_dict({"game": "hanamikoji", "network": {"hidden": [16, 16]}})
    with pytest.raises(UserError) as error:
        starting_weights(config, tmp_path / "policy")
    assert_one_sentence(error.value)
    assert load_policy(str(tmp_path / "policy")).name == "policy"


def test_the_model_card_says_so():
    whole, plain = (
        model_card(Config.from_dict({"game": "hanamikoji", "network": network}), {}, 512, [])
        for network in ({"symmetries": CANONICAL}, {})
    )
    assert ONE_FORM in whole
    assert ONE_FORM not in plain
