"""Rules are compiled as parts of kernels, and work there as they do in plain Python."""

import numpy as np
import pytest
from samples import UNCOMPILED

from hanamachi.engine.compiled import RULES, inline, kernel

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled")


@inline
def scaled(numbers, factor):
    total = 0
    for number in numbers:
        total += clipped(number * factor, 10)
    return total


@inline
def clipped(number, most):
    if most < 0:
        raise ValueError("negative")
    return min(number, most)


@kernel
def largest(numbers, factors):
    best = 0
    for factor in factors:
        best = max(best, scaled(numbers, factor))
    return best


def test_a_kernel_of_nested_rules_computes_what_python_does():
    numbers, factors = np.arange(5), np.array([1, 3, 2])
    expected = max(sum(min(n * f, 10) for n in range(5)) for f in (1, 3, 2))
    assert largest(numbers, factors) == expected


def test_rules_have_no_machine_code_of_their_own():
    largest(np.arange(2), np.arange(2))
    (rule,) = (rule for rule in RULES if rule.py_func is clipped)
    for compiled in rule.overloads.values():
        assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
