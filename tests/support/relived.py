"""The round in progress, played again event by event."""

from typing import Any

import numpy as np

from hanamachi.engine.compiled import kernel
from hanamachi.engine.contract import next_event, rewind


@kernel
def rewind_one(rule_set: Any, game: np.record) -> None:
    """Go back to the beginning of the round in progress."""
    rewind(rule_set, game)


@kernel
def next_event_of(rule_set: Any, world: np.record, earlier: np.record) -> int:
    """What happened next in `world` after an earlier position; negative if nothing."""
    return next_event(rule_set, world, earlier)
