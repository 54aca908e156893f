"""The magnet and the moving average, which keep self-play from going in circles."""

import numpy as np
import pytest
import torch
from learners import SETTINGS, last_rollout, learned
from torch import nn

from hanamachi.training.callbacks import exported
from hanamachi.training.config import Config
from hanamachi.training.learner.magnet import MovingAverage, Snapshot
from hanamachi.training.learner.selfplay import divergence


def weight(network):
    return float(network.weight)


def constant(value):
    """A network of one weight."""
    network = nn.Linear(1, 1, bias=False)
    nn.init.constant_(network.weight, value)
    return network


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


def test_the_moving_average_is_what_its_definition_says():
    average = MovingAverage(constant(0), decay=0.9)
    expected = 0.0
    for t in range(1, 200):
        average.after_step(constant(t))
        decay = min(0.9, (1 + t) / (10 + t))
        expected = decay * expected + (1 - decay) * t
        assert weight(average.network) == pytest.approx(expected, rel=1e-4)


def test_a_snapshot_is_refreshed_when_it_is_due_and_not_before():
    snapshot = Snapshot(constant(0), every=100)
    seen = []
    for decisions in (0, 40, 99, 100, 199, 240, 339, 340):
        snapshot.before_update(constant(decisions), decisions)
        seen.append(weight(snapshot.network))
    assert seen == [0, 0, 0, 100, 100, 240, 240, 340]


def test_a_snapshot_that_is_never_due_stays():
    snapshot = Snapshot(constant(7))
    snapshot.before_update(constant(8), 10**9)
    assert weight(snapshot.network) == 7


def test_a_magnet_keeps_the_learner_near_the_policy_that_it_starts_from():
    free, held = (distance_from_start(kl_coef) for kl_coef in (1e-6, 1.0))
    assert 0 < held < free / 2


def distance_from_start(kl_coef):
    learner = learned(8_192, magnet={"kind": "start", "kl_coef": kl_coef})
    batch = last_rollout(learner)
    with torch.no_grad():
        chances, _ = learner.policy.network(batch.observations, batch.masks)
        return float(divergence(chances, batch.magnet_log_probs))


def test_the_magnet_that_is_the_average_moves_with_it():
    learner = learned(magnet={"kind": "average", "kl_coef": 0.1})
    assert learner.magnet is learner.average
    assert not same(learner.average.network, learner.policy.network)


@pytest.mark.parametrize("export", ["policy", "average"])
def test_what_is_exported_is_what_the_settings_say(export):
    config = Config(**SETTINGS | {"export": export})
    learner = learned(export=export)
    chosen = learner.average.network if export == "average" else learner.policy.network
    assert exported(learner, config) is chosen


def test_slow_copies_resume_from_their_state():
    one = MovingAverage(constant(1), decay=0.99)
    for t in range(20):
        one.after_step(constant(t))
    other = MovingAverage(constant(5), decay=0.5)
    other.set_state(one.get_state())
    for copy in (one, other):
        copy.after_step(constant(3))
    assert weight(one.network) == weight(other.network)
    assert np.isfinite(weight(one.network))


def test_without_a_magnet_and_an_average_nothing_is_kept():
    learner = learned()
    assert learner.magnet is None
    assert learner.average is None
