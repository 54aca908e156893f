"""What compiled code may read: arrays of the right shapes and types, with entries within bounds.

Notation: B observations, N entries of an observation, A actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import kernel
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.policies.arrays import Masks, Memory, Observations


def numbers_in(given: Any, what: str) -> NDArray[Any]:
    """What the caller of `predict` gives, as an array of numbers."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError):  # the last for a tensor with a gradient
        array = np.empty(0, object)
    if array.dtype.kind not in "fiub":
        raise UserError(f"predict takes {what} as an array of numbers, not {shown(given)}")
    return array


def readable(
    variant: Variant, observation: Observations, mask: Masks
) -> tuple[Observations, Masks]:
    """Observations (B, N) and masks (B, A) as compiled code reads them, of float32 and int8.

    UserError if their shapes do not fit, or an entry lies outside the bounds of the layout.
    """
    low, high = variant.observation.low, variant.observation.high
    rows = np.ascontiguousarray(observation, np.float32)
    masks = np.ascontiguousarray(mask, np.int8)
    if rows.shape != (len(masks), len(low)) or masks.shape != (len(rows), variant.actions.size):
        raise UserError(
            f"{variant.id} has observations of {len(low)} entries and masks of "
            f"{variant.actions.size} actions, a row for each; these have the shapes {rows.shape} "
            f"and {masks.shape}"
        )
    if not lie_between(rows, low, high):
        raise never_shown(variant)
    return rows, masks


def never_shown(variant: Variant) -> UserError:
    return UserError(
        f"no game of {variant.id} shows such an observation: pass it as the environment gives it"
    )


def readable_memory(
    memory: Memory, rows: int, width: int, dtype: type[np.integer[Any]] = np.int32
) -> Memory:
    """A copy of a memory, (rows, width), that compiled code may write; UserError if it is none."""
    copy = np.array(memory, dtype, order="C")
    if copy.shape != (rows, width):
        raise UserError(
            f"a memory of shape {copy.shape} does not belong to {rows} games: give back what the "
            "policy returned for them, or its initial_memory where they begin"
        )
    return copy


@kernel
def lie_between(rows: Observations, low: Observations, high: Observations) -> bool:
    """Whether the entries of all rows, (B, N), lie within their bounds, (N,); NaN lies nowhere."""
    for b in range(len(rows)):
        outside = 0
        for i in range(rows.shape[1]):
            outside += not low[i] <= rows[b, i] <= high[i]
        if outside:
            return False
    return True
