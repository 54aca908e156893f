"""A canonical network decides alike in symmetric positions, whatever runs it."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from learners import last_rollout, learned
from messages import assert_one_sentence

from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.networks.canonical import CANONICAL, canonical
from hanamachi.policies.networks.checkpoint import load_checkpoint, save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.description import config_digest
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.networks.onnx_export import write_onnx
from hanamachi.policies.networks.onnx_policy import load_onnx
from hanamachi.training.build import past_selves, starting_weights
from hanamachi.training.config import Config
from hanamachi.training.learner.past import PastSelves
from hanamachi.training.learner.vecenv import SelfPlayVecEnv, relabelled_others
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


def have_one_form(forms, observations):
    """Whether a single form has the largest key, (B,)."""
    keys = observations[:, : len(forms.keys)] @ forms.keys
    return (keys == keys.max(1, keepdims=True)).sum(1) == 1


@settings(deadline=None, max_examples=10)
@given(st.sampled_from(NETWORKS), st.integers(0, 2**32 - 1))
def test_it_decides_alike_in_symmetric_positions(shape, seed):
    policy = policy_of(*shape)
    entries, actions = policy.variant.symmetries
    observations, masks = positions(policy.variant, seed)
    numbers = np.random.default_rng(seed).integers(len(entries), size=GAMES)
    one_form = have_one_form(policy.forms, observations)
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
    """But for a few in a thousand, and for features that rounding tells apart."""
    policy = policy_of(*shape)
    rows = positions(policy.variant, 3)
    entries, actions = policy.variant.symmetries
    numbers = np.random.default_rng(3).integers(len(entries), size=GAMES)
    shown = canonical(policy.forms, *inputs(policy, *rows)).observations
    others = under(entries, numbers, rows[0]), under(actions, numbers, rows[1])
    size = policy.variant.observation.size
    of_others = canonical(policy.forms, *inputs(policy, *others)).observations
    assert (shown[:, :size] == of_others[:, :size]).all(1).mean() > 0.98


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
def test_matrix_products_choose_the_form_that_loops_choose(precision):
    policy, network = policy_of(*NETWORKS[1]), network_of(*NETWORKS[1])
    rows = inputs(policy, *positions(policy.variant, 7))
    observations, masks = torch.from_numpy(rows[0]), torch.from_numpy(rows[1] != 0)
    torch.set_float32_matmul_precision(precision)
    try:
        one, other = (
            show(observations, masks)
            for show in (network.forms.by_loops, network.forms.by_matrices)
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


SECRET = {"actions": ["secret"], "max_rounds": 1}
NONE, TOO_MANY = [1, 2, 3], [1] * 7


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"game": "hanamikoji", "options": {**SECRET, "cards": NONE}}, "no symmetries"),
        ({"game": "hanamikoji", "options": {**SECRET, "cards": TOO_MANY}}, "5040"),
        ({"game": "hanabi:2p", "network": {"features": ["convention"]}}, "convention"),
    ],
)
def test_what_has_no_symmetric_forms_cannot_be_canonical(settings, why):
    network = {**settings.get("network", {}), "symmetries": CANONICAL}
    with pytest.raises(UserError, match=why) as error:
        Config.from_dict({**settings, "network": network})
    assert_one_sentence(error.value)


@pytest.mark.parametrize("cards", [NONE, TOO_MANY])
def test_a_canonical_checkpoint_without_symmetric_forms_is_refused(tmp_path, cards):
    variant = make_variant("hanamikoji", cards=cards, **SECRET)
    plain = checkpoint_of(for_variant(variant, (4,)), variant)
    save_checkpoint(tmp_path / "policy", plain._replace(symmetries=CANONICAL), "")
    with pytest.raises(UserError, match="symmetries") as error:
        load_checkpoint(tmp_path / "policy")
    assert_one_sentence(error.value)


@pytest.mark.parametrize("file", ["policy", "policy.onnx"])
def test_a_variant_that_looks_the_same_but_has_other_symmetries_is_refused(tmp_path, file):
    own, other = {**SECRET, "cards": [2, 2, 3]}, {**SECRET, "cards": [1, 2, 3]}
    assert make_variant("hanamikoji", **own).understands(make_variant("hanamikoji", **other))
    policy = policy_of("hanamikoji", own, ())
    save_checkpoint(tmp_path / "policy", policy.checkpoint, "")
    write_onnx(policy.checkpoint, tmp_path / "policy.onnx")
    assert load_policy(str(tmp_path / file)).variant == policy.variant
    with pytest.raises(UserError, match="symmetries") as error:
        load_policy(str(tmp_path / file), "hanamikoji", **other)
    assert_one_sentence(error.value)


@pytest.mark.parametrize("wanted", ["none", CANONICAL])
def test_weights_keep_the_symmetries_that_they_were_trained_with(tmp_path, wanted):
    network = network_of(*NETWORKS[0])
    other = "none" if wanted == CANONICAL else CANONICAL
    checkpoint = checkpoint_of(network, make_variant("hanamikoji"))._replace(symmetries=other)
    save_checkpoint(tmp_path / "policy", checkpoint, "")
    settings = {"hidden": [16, 16], "symmetries": wanted}
    with pytest.raises(UserError, match=f"symmetries: {other}") as error:
        starting_weights(Config(game="hanamikoji", network=settings), tmp_path / "policy")
    assert_one_sentence(error.value)


def test_training_gives_the_setting_to_the_policy_the_critic_and_past_selves():
    """With both seats' views under one symmetry, the critic's values stay as they are."""
    settings = {"hidden": [16], "symmetries": CANONICAL}
    more = {"options": {}, "critic": "all", "opponents": {"self": 0.5, "past": 0.5}}
    learner = learned(512, network=settings, **more)
    checkpoint = checkpoint_of(learner.policy.network, learner.env.variant)
    past = past_selves(learner.env)
    assert checkpoint.symmetries == past.shape.symmetries == CANONICAL
    seen, symmetries = last_rollout(learner), learner.env.variant.symmetries
    assert len(symmetries.entries) > 1
    others = relabelled_others(learner.env.variant)
    critic, values = learner.policy.critic, torch.zeros(len(seen.observations))
    with torch.no_grad():
        expected = critic(seen.observations, seen.centralised, values)
        one_form = have_one_form(critic.forms.tables, seen.observations.numpy())
        for entries, of_others in zip(symmetries.entries, others, strict=True):
            found = critic(seen.observations[:, entries], seen.centralised[:, of_others], values)
            assert torch.allclose(found[one_form], expected[one_form], atol=1e-6)


def test_gradients_reach_the_inputs_of_a_canonical_network():
    policy, network = policy_of(*NETWORKS[0]), network_of(*NETWORKS[0])
    extended, masks = inputs(policy, *positions(policy.variant, 13))
    observations, legal = torch.from_numpy(extended).requires_grad_(), torch.from_numpy(masks != 0)
    _, values = network(observations, legal)
    values.sum().backward()
    assert observations.grad.abs().sum() > 0
    with torch.no_grad():
        assert torch.equal(network(observations.detach(), legal)[1], values)


def test_the_model_card_says_so():
    whole, plain = (
        model_card(Config.from_dict({"game": "hanamikoji", "network": network}), {}, 512, [])
        for network in ({"symmetries": CANONICAL}, {})
    )
    assert ONE_FORM in whole
    assert ONE_FORM not in plain
