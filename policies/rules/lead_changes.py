"""What the experts of both games of geisha share: how the lead at one of them may still change.

A row of `gains` holds the chance of each change, from the worst for me; the middle is none.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline

Array = NDArray[np.float32]


@inline
def add_card(gains: Array, by: int, to_me: float, to_foe: float, out: Array) -> None:
    """What the gains become with one more card, which is worth `by`."""
    stays, most = 1 - to_me - to_foe, len(gains) - 1
    for i in range(len(gains)):  # a loop: slices times numbers would be new arrays
        out[i] = stays * gains[i]
        if i >= by:
            out[i] += to_me * gains[i - by]
        if i <= most - by:
            out[i] += to_foe * gains[i + by]


@inline
def compare(gains: Array, ends: Array) -> None:
    """From the chances of what is still gained, those of (tie, win, loss) at each lead."""
    win = np.float32(0)
    for i in range(len(gains)):  # the gain that only ties is the lead's opposite
        tie = gains[len(gains) - 1 - i]
        ends[i, 0], ends[i, 1], ends[i, 2] = tie, win, 1 - win - tie
        win += tie
