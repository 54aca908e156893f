"""Weights that overflow are refused at the first decision, whatever the network's role."""

import warnings

import gymnasium
import numpy as np
import pytest
import torch
from searching import answers, midgame
from small_games import GIFTS

from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.tabular import TabularPolicy
from hanamachi.training.config import Config
from hanamachi.training.evaluation.matches import match
from hanamachi.training.run import train

pytestmark = pytest.mark.usefixtures("on_one_thread")

HANABI = {"colours": 2, "ranks": 2, "hand_size": 2}
HUGE = 1e37  # finite, but not its products


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def overflowing(folder, variant):
    torch.manual_seed(0)
    network = for_variant(variant, (16,))
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=HUGE)
    save_checkpoint(folder, checkpoint_of(network, variant), "")
    return str(folder)


@pytest.fixture(scope="module")
def huge(tmp_path_factory):
    folder = tmp_path_factory.mktemp("huge") / "policy"
    return overflowing(folder, make_variant("hanamikoji", **GIFTS))


@pytest.fixture(scope="module")
def huge_partner(tmp_path_factory):
    folder = tmp_path_factory.mktemp("huge") / "partner"
    return overflowing(folder, make_variant("hanabi:2p", **HANABI))


@pytest.mark.parametrize("deterministic", [False, True])
def test_as_a_policy(deterministic, huge):
    policy = load_policy(huge)
    size, actions = policy.variant.observation.size, policy.variant.actions.size
    seen, mask = np.ones(size, np.float32), np.ones(actions, np.int8)
    with pytest.raises(UserError):
        policy.predict(seen, action_masks=mask, deterministic=deterministic)


@pytest.mark.parametrize(
    "search",
    ["improve:{}:worlds=2", "mcts:{}:worlds=64", "mcts:{}:seconds=0.01", "endgame:{}:worlds=2"],
)
def test_as_the_blueprint_of_a_competitive_search(search, huge):
    policy = load_policy(f"search:{search.format(huge)}")
    with pytest.raises(UserError):
        answers(policy, midgame(policy.variant, 2))


def test_as_the_blueprint_of_a_cooperative_search(huge_partner):
    policy = load_policy(f"search:single_agent:{huge_partner}:worlds=2")
    with pytest.raises(UserError):
        answers(policy, midgame(policy.variant, 4))


def test_as_an_opponent_in_one_game(huge):
    env = gymnasium.make("hanamachi/Hanamikoji-v0", opponent=load_policy(huge), **GIFTS)
    with pytest.raises(UserError):
        play(env)


def test_as_an_opponent_in_many_games(huge):
    opponent = load_policy(huge)
    env = gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=3, opponent=opponent, **GIFTS)
    with pytest.raises(UserError):
        play(env)


def test_as_a_partner_in_hanabi(huge_partner):
    policy = load_policy(huge_partner)
    good = load_policy("greedy", policy.variant.id, **HANABI)
    with pytest.raises(UserError):
        match((good, policy), policy.variant, games=2, seed=0)


def play(env):
    _, info = env.reset(seed=0)
    for _ in range(20):
        *_, info = env.step(info["action_mask"].argmax(-1))


@pytest.mark.parametrize("role", ["opponent", "start", "teacher"])
def test_in_training(role, huge, tmp_path):
    name = f"search:mcts:{huge}:worlds=64" if role == "teacher" else huge
    roles = {
        "opponent": {"opponents": {"self": 0.5, name: 0.5}},
        "start": {"init_from": name},
        "teacher": {"init_from": name, "clone": {"steps": 64}},
    }
    tiny = {"game": "hanamikoji", "options": GIFTS, "steps": 64, "num_games": 4}
    tiny |= {"network": {"hidden": [16]}, "ppo": {"batch_size": 32}}
    with pytest.raises(UserError):
        train(Config.from_dict(tiny | roles[role]), tmp_path / "run")


@pytest.mark.parametrize("probability", [np.nan, np.inf, 1e300, -1])
def test_as_a_table(probability):
    variant = make_variant("hanamikoji", **GIFTS)
    rows = np.zeros((1, variant.observation.size), np.float32)
    table = TabularPolicy(variant, rows, np.full((1, variant.actions.size), probability))
    with pytest.raises(UserError):
        table.act(rows, np.ones((1, variant.actions.size), np.int8), np.zeros((1, 0)), None)
