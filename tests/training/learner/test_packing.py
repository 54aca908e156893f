"""Packed rows are those that the engine writes as int8, and masks come back to the bit."""

import numpy as np
import pytest
import torch
from learners import SETTINGS, last_rollout, learned

from hanamachi.engine import kernels
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.training.build import learner_settings, make_games
from hanamachi.training.cluster.rollouts import on_cpu, rollout
from hanamachi.training.config import Config
from hanamachi.training.learner.packing import Bits, Int8
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.shards import one_thread_each
from hanamachi.training.learner.vecenv import SelfPlayVecEnv


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced", "hanabi:3p"])
def test_packed_observations_are_the_engines_int8_observations(id):
    variant = make_variant(id)
    games = SelfPlayVecEnv(variant, 64, seed=5, opponents=[(load_policy("random", id), 0.5)])
    games.reset()
    for _ in range(9):
        games.advance(games.masks.argmax(1))
    rows = np.empty(games.observations.shape, np.int8)
    kernels.observations(variant.rule_set, games.games, games.movers, rows)
    packed = Int8(games.units.observations).pack(games.observations).numpy()
    np.testing.assert_array_equal(packed, rows)


def test_unpacked_observations_are_exact_but_for_fractions():
    units = np.array([1, 1, 25], np.float32)
    packing, rows = Int8(units), np.array([[3, -2, 0.33], [500, 0, -1]], np.float32)
    unpacked = packing.unpack(packing.pack(rows))
    torch.testing.assert_close(unpacked, torch.tensor([[3, -2, 0.32], [127, 0, -1]]))


@pytest.mark.parametrize(
    ("id", "features"),
    [
        ("hanamikoji", ["advice"]),
        ("geishas_road:2021", ["advice"]),
        ("hanabi:3p", ["belief", "convention", "hat"]),
    ],
)
def test_packed_features_come_back_as_exactly_as_a_byte_can_hold_them(id, features):
    games = make_games(Config(game=id, num_games=64, network={"features": features}))
    games.reset()
    for _ in range(9):
        games.advance(games.masks.argmax(1))
    units, rows = games.units.observations, games.observations
    here = np.abs(rows) <= 127  # beyond, counts are cut
    unpacked = Int8(units).unpack(Int8(units).pack(rows)).numpy()
    assert (np.abs(unpacked - rows) <= 0.501 / units)[here].all()
    assert (unpacked == rows)[here & (rows % 1 == 0)].all()
    assert (rows % 1 == 0)[:, units == 1].all()


@pytest.mark.parametrize("entries", [1, 7, 8, 9, 508])
def test_bits_come_back(entries):
    packing, masks = Bits(entries), np.random.default_rng(0).random((5, entries)) < 0.3
    packed = packing.pack(masks)
    assert packed.shape == (5, packing.size)
    np.testing.assert_array_equal(packing.unpack(packed).numpy(), masks)


def compact_learner(**settings):
    """A learner whose rollouts are packed, as on a GPU."""
    config = Config(**SETTINGS | settings)
    games = make_games(config)
    return SelfPlayPPO(SelfPlayPolicy, games, compact=True, **learner_settings(config, games))


def test_a_packed_rollout_is_at_most_a_quarter_of_the_size():
    packed, plain = compact_learner(critic="all"), learned(critic="all")
    for name in ("observations", "masks", "centralised"):
        here, there = (getattr(one.rollout_buffer, name) for one in (packed, plain))
        assert here.nbytes <= there.nbytes / 4 + here[..., 0].numel()


def test_the_policy_has_seen_in_a_workers_rollout_what_a_packed_buffer_unpacks():
    settings = {"critic": "all", "network": {"hidden": [32], "features": ["advice"]}}
    learner = compact_learner(**settings)
    config, weights = Config(**SETTINGS | settings), on_cpu(learner.policy)
    with one_thread_each():  # which a worker sets for good
        played, _ = rollout("run", config, True, None, weights, None)
    learner.rollout_buffer.put(slice(None), played)
    learner.rollout_buffer.finish()
    batch = last_rollout(learner)
    with torch.no_grad():
        chances, _ = learner.policy.network(batch.observations, batch.masks)
    torch.testing.assert_close(
        chances.of(batch.actions), batch.log_probabilities, atol=1e-5, rtol=0
    )


def test_a_learner_with_packed_rollouts_learns():
    learner = compact_learner(critic="all", network={"hidden": [32], "features": ["advice"]})
    learner.begin_games()
    learner.learn(4_096)
    batch = last_rollout(learner)
    assert batch.observations.shape[1] == learner.env.observations.shape[1]
    assert batch.masks.dtype == torch.bool
    with torch.no_grad():
        chances, _ = learner.policy.network(batch.observations, batch.masks)
    entropy = -(chances.log_probabilities.exp() * chances.log_probabilities).sum() / len(
        batch.masks
    )
    uniform = batch.masks.sum(1).log().mean()
    assert entropy < 0.97 * uniform
