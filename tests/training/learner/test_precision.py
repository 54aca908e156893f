"""A lower precision of matrix products is used where it is faster, and learns as reproducibly."""

import pytest
import torch
from learners import learned

from hanamachi.training.learner import precision
from hanamachi.training.learner.precision import gains, matmul_precision

CPU = torch.device("cpu")
GPU = torch.device("cuda")


@pytest.fixture
def with_instructions(monkeypatch):
    """Gives the processor these instructions, as LLVM calls them."""

    def give(**features):
        gains.cache_clear()
        monkeypatch.setattr(
            precision.llvmlite.binding, "get_host_cpu_features", lambda: dict(features)
        )

    yield give
    gains.cache_clear()


def test_only_a_device_that_gains_multiplies_less_exactly(with_instructions):
    with_instructions(avx512bf16=False, amx=True)
    with matmul_precision("medium", CPU):
        assert torch.get_float32_matmul_precision() == "highest"
    with matmul_precision("medium", GPU):
        assert torch.get_float32_matmul_precision() == "medium"
    with_instructions(avx512bf16=True)
    with matmul_precision("medium", CPU):
        assert torch.get_float32_matmul_precision() == "medium"


def test_the_precision_is_then_as_before():
    before = torch.get_float32_matmul_precision()
    with pytest.raises(RuntimeError), matmul_precision("medium", GPU):
        raise RuntimeError
    assert torch.get_float32_matmul_precision() == before


def test_a_seed_learns_the_same_bits_with_a_lower_precision(with_instructions):
    with_instructions(avx512bf16=True)  # otherwise PyTorch computes as if it were so
    highest, medium, again = (
        learned(8_000, num_games=256, matmul_precision=wanted).policy.state_dict()
        for wanted in ("highest", "medium", "medium")
    )
    assert all(torch.equal(weights, again[name]) for name, weights in medium.items())
    assert all(weights.isfinite().all() for weights in medium.values())
    if torch.backends.mkldnn.is_available():
        assert any(not torch.equal(weights, highest[name]) for name, weights in medium.items())
