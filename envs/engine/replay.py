"""Play a round again to see whether the rules lead to a position of unknown origin."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from hanamachi.engine.compiled import PART, inline
from hanamachi.engine.contract import CHANCE, OVER, apply, chance, legal, next_event, resolve

WORD = 8  # bytes; every record is a whole number of words long


@inline
def leads_to(
    rule_set: Any, earlier: np.record, world: np.record, game: np.record, mask: NDArray[np.int8]
) -> bool:
    """Whether the events of `world` lead from the beginning of its round to `game`.

    Leaves `earlier` where they end. Nothing needs to be true of `world`: each event is checked
    before it happens. `world` is `game`, with the final scoring undone where that hides the round.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    number = earlier.round_number
    while earlier.mover != OVER and earlier.round_number == number:
        event = int(next_event(rule_set, world, earlier))
        if event < 0:
            break
        if earlier.mover == CHANCE:
            if event >= chance(rule_set, earlier, weights) or weights[event] == 0:
                return False
            resolve(rule_set, earlier, event)
        else:
            legal(rule_set, earlier, mask)
            if event >= len(mask) or mask[event] == 0:
                return False
            apply(rule_set, earlier, event)
    return same(earlier, game)


@inline
def after_use_of(array: NDArray[Any], result: bool) -> bool:
    """`result`, which was computed with records of the array.

    A compiled record does not keep its array alive: after the last use of an array of its own, a
    function frees it, whether or not records of it are used later. This is that last use.
    """
    return result and len(array) > 0


def same(one: np.record, other: np.record) -> bool:
    """Whether two records agree in every byte."""
    return one.tobytes() == other.tobytes()


@intrinsic  # type: ignore[misc]
def load_word_of(typing: Any, game: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = builder.bitcast(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(builder.gep(words, [arguments[1]]), align=1)

    return types.uint64(game, types.intp), generate


@overload(same, jit_options=PART)
def compiled_same(one: Any, other: Any) -> Any:
    words = one.size // WORD
    load: Any = load_word_of

    def agree(one: Any, other: Any) -> Any:
        different = 0
        for i in range(words):
            different |= load(one, i) ^ load(other, i)
        return different == 0

    return agree
