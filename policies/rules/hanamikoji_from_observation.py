"""Where an observation of Hanamikoji holds what the rule policies read of it."""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.games.hanamikoji import observation as entry

Seen = NDArray[np.float32]  # one observation, (N,)


@inline
def foes_gift(rule_set: np.record) -> int:
    """Where the cards of the foe's Gift begin, a number for each geisha."""
    return rule_set.at[entry.GIFTS] + rule_set.geisha


@inline
def foes_pairs(rule_set: np.record) -> int:
    """Where the two pairs of the foe's Competition begin, each a number for each geisha."""
    return rule_set.at[entry.PAIRS] + 2 * rule_set.geisha


@inline
def is_last_round(rule_set: np.record, seen: Seen) -> bool:
    """Whether the game ends after this round at the latest."""
    return bool(rule_set.max_rounds > 0 and seen[rule_set.at[entry.ROUND + 1] - 1] == 1)
