"""Entries of observations, written as floats or in int8."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from hanamachi.engine.compiled import PART, inline

INT8_MAX = 127


def encoded(out: Any, value: Any, units: Any) -> Any:
    """A value as an observation holds it: as a float, or in int8 as a number of units up to 127."""
    return value if out.dtype.kind == "f" else in_units(out, value, units)


def in_units(out: Any, value: Any, units: Any) -> Any:
    """As `int8_rows` does it: first as a float of 32 bits, so that both round the same number."""
    return min(np.rint(np.float32(value) * units), np.float32(INT8_MAX))


def as_it_is(out: Any, value: Any, units: Any) -> Any:
    return value


@overload(encoded, jit_options=PART)
def compiled_encoded(out: Any, value: Any, units: Any) -> Any:
    return as_it_is if isinstance(out.dtype, types.Float) else in_units


def int8_rows(rows: NDArray[np.float32], units: NDArray[np.float32]) -> NDArray[np.int8]:
    """Rows (..., N) of floats as observations in int8 have them: each entry in its units (N,)."""
    counted = rows * units
    np.rint(counted, out=counted)
    return counted.clip(-INT8_MAX, INT8_MAX, out=counted).astype(np.int8)


@inline
def put(rule_set: Any, out: NDArray[Any], segment: int, i: int, value: float) -> None:
    """Write an entry that may be a fraction or large; all others can be assigned as they are."""
    out[rule_set.at[segment] + i] = encoded(out, value, rule_set.units[segment])
