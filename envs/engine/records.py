"""Records of games in Python."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def copied(game: np.record) -> np.record:
    """A copy to the byte, in a tenth of numpy's time, which copies field by field.

    numpy's own also leaves the bytes between the fields to chance.
    """
    copy: np.record = alone(game)[0]
    return copy


def alone(game: np.record) -> NDArray[Any]:
    """(1,) a copy for the kernels: one that can be written, or they would be compiled again."""
    return np.frombuffer(bytearray(game.tobytes()), game.dtype)
