"""How exactly PyTorch multiplies matrices while it learns."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import llvmlite.binding
import torch

HIGHEST = "highest"  # of PyTorch's words: highest, high, medium
BFLOAT16 = "avx512bf16", "amx-bf16", "bf16"  # instructions of x86 and ARM, as LLVM calls them


@contextmanager
def matmul_precision(wanted: str, device: torch.device) -> Iterator[None]:
    """Use PyTorch's precision `wanted` on devices on which a lower one is faster."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(wanted if is_faster_on(device) else HIGHEST)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@cache
def is_faster_on(device: torch.device) -> bool:
    """Whether a lower precision is faster on a device; of GPUs it is taken for granted."""
    if device.type != "cpu":
        return True
    features = llvmlite.binding.get_host_cpu_features()
    return any(features.get(name) for name in BFLOAT16)
