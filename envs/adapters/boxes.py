"""Spaces of observations, which print on one line."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray


def box(low: NDArray[Any], high: NDArray[Any], dtype: Any = np.float32) -> spaces.Box:
    """A Box that prints the range of its bounds in place of all of them."""
    return on_one_line(spaces.Box(low, high, dtype=dtype))


def batch_box(space: spaces.Box, count: int) -> spaces.Box:
    """The space of `count` observations, (B, N)."""
    batch = batch_space(space, count)
    assert isinstance(batch, spaces.Box)
    return on_one_line(batch)


def on_one_line(space: spaces.Box) -> spaces.Box:
    space.low_repr, space.high_repr = span(space.low), span(space.high)
    return space


def span(bounds: NDArray[Any]) -> str:
    """The least and the greatest of the bounds."""
    least, most = f"{bounds.min():g}", f"{bounds.max():g}"
    return least if least == most else f"{least} to {most}"
