"""A lower precision of matrix products is used where it is faster, and learns as reproducibly."""

from types import SimpleNamespace

import pytest
import torch
from learners import learned

from hanamachi.training.build import new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.learner import precision
from hanamachi.training.learner.precision import is_faster_on, matmul_precision
from hanamachi.training.learner.selfplay import SelfPlayPPO

CPU = torch.device("cpu")
GPU = torch.device("cuda")


@pytest.fixture
def with_instructions(monkeypatch):
    """Gives the processor these instructions, as LLVM calls them."""

    def give(*features):
        found = SimpleNamespace(get_host_cpu_features=lambda: dict.fromkeys(features, True))
        monkeypatch.setattr(precision, "llvmlite", SimpleNamespace(binding=found))
        is_faster_on.cache_clear()

    yield give
    is_faster_on.cache_clear()


def test_only_a_device_that_gains_multiplies_less_exactly(with_instructions):
    with_instructions("avx512f", "amx-tile")
    with matmul_precision("medium", CPU):
        assert torch.get_float32_matmul_precision() == "highest"
    with matmul_precision("medium", GPU):
        assert torch.get_float32_matmul_precision() == "medium"
    for instructions in precision.BFLOAT16:
        with_instructions("sse", instructions)
        with matmul_precision("medium", CPU):
            assert torch.get_float32_matmul_precision() == "medium"


def test_the_precision_is_then_as_before():
    before = torch.get_float32_matmul_precision()
    with pytest.raises(RuntimeError), matmul_precision("medium", GPU):
        raise RuntimeError
    assert torch.get_float32_matmul_precision() == before


def test_a_seed_learns_the_same_bits_with_a_lower_precision():
    highest, medium, again = (
        learned(8_000, num_games=256, matmul_precision=wanted).policy.state_dict()
        for wanted in ("highest", "medium", "medium")
    )
    assert all(torch.equal(weights, again[name]) for name, weights in medium.items())
    assert all(weights.isfinite().all() for weights in medium.values())
    if is_faster_on(CPU):
        assert any(not torch.equal(weights, highest[name]) for name, weights in medium.items())


def test_learn_trains_as_precisely_as_it_plays(monkeypatch):
    used = set()
    descend = SelfPlayPPO.descend

    def watched(self, *given):
        used.add((torch.get_num_threads(), torch.get_float32_matmul_precision()))
        return descend(self, *given)

    monkeypatch.setattr(SelfPlayPPO, "descend", watched)
    monkeypatch.setattr(precision, "is_faster_on", lambda device: True)
    learner = new_learner(Config(game="hanamikoji", num_games=16, matmul_precision="medium"))
    learner.set_logger(quiet())
    learner.learn(64, reset_num_timesteps=False)
    assert used == {(1, "medium")}
