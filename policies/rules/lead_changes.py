"""How the lead at one geisha may still change, for the experts of both geisha games.

A row of `gains` holds the probability of each change, from the worst for me to the best; the middle
entry is that of no change.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline

Array = NDArray[np.float32]


@inline
def add_card(gains: Array, by: int, to_me: float, to_foe: float, out: Array) -> None:
    """Write the gains after one more card, which changes the lead by `by`."""
    stays, most = 1 - to_me - to_foe, len(gains) - 1
    for i in range(len(gains)):  # a loop, as products of slices would allocate arrays
        out[i] = stays * gains[i]
        if i >= by:
            out[i] += to_me * gains[i - by]
        if i <= most - by:
            out[i] += to_foe * gains[i + by]


@inline
def write_outcomes(gains: Array, ends: Array) -> None:
    """Write the probabilities of (tie, win, loss) for each lead now, from those of the gains."""
    win = np.float32(0)
    for i in range(len(gains)):  # the gain that leads to a tie is minus the lead
        tie = gains[len(gains) - 1 - i]
        ends[i, 0], ends[i, 1], ends[i, 2] = tie, win, 1 - win - tie
        win += tie


@inline
def add(sums: NDArray[np.float64], terms: Array) -> None:
    """Add in place; a loop, as a sum of arrays takes seconds to compile."""
    for i in range(len(sums)):
        sums[i] += terms[i]
