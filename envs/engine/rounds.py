"""The end of a round, as it lies on the table before the engine clears it for the next one."""

import numpy as np

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.engine.records import copied


def scored_round(variant: Variant, before: np.record, action: int) -> np.record | None:
    """The table as `action` left it if it ended a round and another follows; else None.

    The engine clears it at once, so the round is scored again as the last one of a game.
    """
    if variant.game.last_round is None:
        return None
    after = copied(before)
    kernels.apply_one(variant.rule_set, after, action)
    if after.round_number == before.round_number:
        return None
    scored = copied(before)
    last = variant.rule_set.copy()
    last[variant.game.last_round] = before.round_number
    kernels.apply_one(last, scored, action)
    return scored
