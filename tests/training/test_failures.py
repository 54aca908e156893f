"""What stops long work is understood, whichever library says it."""

import pytest

from hanamachi.training.failures import is_out_of_memory


@pytest.mark.parametrize(
    ("error", "is_it"),
    [
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("can't allocate memory"), False),
    ],
)
def test_libraries_that_get_no_memory_are_understood(error, is_it):
    assert is_out_of_memory(error) == is_it
