"""A seed gives the same bits, however many threads compute."""

import pytest
import torch
from learners import learned

from hanamachi.engine import threads
from hanamachi.training.learner import shards
from hanamachi.training.learner.shards import map_on_threads, one_thread_each


def with_threads(monkeypatch, count):
    for module in (threads, shards):
        monkeypatch.setattr(module, "default_threads", lambda: count)


@pytest.mark.parametrize(
    "settings",
    [
        {"critic": "all", "export": "average"},
        {"critic": "action_values"},
        {"magnet": {"kl_coef": 0.1}},
        {"opponents": {"self": 0.5, "greedy": 0.5}},
    ],
)
def test_a_learner_learns_the_same_on_one_thread_and_on_many(settings, monkeypatch):
    of_many = {"num_games": 520, "ppo": {"batch_size": 700, "n_epochs": 2}}
    learners = []
    for count in (1, 3):
        with_threads(monkeypatch, count)
        learners.append(learned(16_000, **of_many, **settings))
    one, many = (learner.policy.state_dict() for learner in learners)
    for name, weights in one.items():
        assert torch.equal(weights, many[name]), name


def test_results_come_in_the_order_of_the_shards(monkeypatch):
    with_threads(monkeypatch, 3)
    assert map_on_threads(lambda x: 2 * x, range(20)) == list(range(0, 40, 2))


def test_pytorch_uses_one_thread_and_then_as_many_as_before():
    before = torch.get_num_threads()
    with one_thread_each():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("batch_size", [256, 2048])  # one shard, two shards
def test_gradients_lie_in_memory_as_weights_do(batch_size):
    """Otherwise PyTorch's fused Adam reads wrong numbers on a CPU, and refuses them on a GPU."""
    passes = {"batch_size": batch_size, "n_epochs": 1}
    learner = learned(1, game="hanabi:2p", options={}, num_games=512, ppo=passes)
    for weight in learner.policy.weights():
        assert weight.grad.stride() == weight.stride()
