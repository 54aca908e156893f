"""Count and find legal actions in masks, many at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count, nth
from hanamachi.engine.compiled import inline
from hanamachi.engine.words import WIDE, places_of


@inline
def count_legal(mask: NDArray[np.int8]) -> Any:
    """How many actions are legal; compilers make vectors of this loop."""
    legal = 0
    for action in range(len(mask)):
        legal += int(mask[action])
    return legal


@inline
def nth_legal(mask: NDArray[np.int8], n: int) -> int:
    """The action number of the n-th legal action, from 0: its block is found, then itself."""
    action = 0
    while action + WIDE <= len(mask):
        legal = places_of(1, mask, action)
        others = count(legal)
        if others > n:
            found: int = action + nth(legal, n)
            return found
        n -= others
        action += WIDE
    n -= mask[action]
    while n >= 0:
        action += 1
        n -= mask[action]
    return action
