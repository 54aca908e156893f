"""What seats observe in a batch of games, and what they may do.

Notation: B games, A actions, N entries of an observation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.engine.threads import parallel_for


def observe(
    variant: Variant,
    games: NDArray[Any],
    seats: NDArray[np.int64],
    threads: int | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The observations of the seats to move, (B, N), and their action masks, (B, A)."""
    observations = np.empty((len(games), variant.observation.size), np.float32)
    masks = np.empty((len(games), variant.actions.size), np.int8)
    rule_set = variant.rule_set
    parallel_for(kernels.observations, rule_set, games, seats, observations, threads=threads)
    parallel_for(kernels.masks, rule_set, games, masks, threads=threads)
    return observations, masks
