"""Count and find legal actions in masks, eight at a time.

Eight neighbouring int8 numbers are read as the bytes of one 64-bit word.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline

BYTES = 8  # in a word
BLOCK = 8 * BYTES  # actions of a mask that are counted together
EVEN_BYTES, EVEN_PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
LOWEST_PAIR = np.uint64(0xFFFF)
BYTE, PAIR, HALF = np.uint64(8), np.uint64(16), np.uint64(32)


def word_at(array: Any, begin: Any) -> Any:
    """The eight numbers from `begin` on of a contiguous int8 array, the first one lowest."""
    return np.uint64(int.from_bytes(array[begin : begin + BYTES].tobytes(), "little"))


@intrinsic  # type: ignore[misc]
def load_word(typing: Any, array: Any, begin: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        place = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [arguments[1]])
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(array, types.intp), generate


@overload(word_at)
def compiled_word_at(array: Any, begin: Any) -> Any:
    load: Any = load_word

    def word(array: Any, begin: Any) -> Any:
        return load(array, begin)

    return word


# --- Action masks


@inline
def sum_of_bytes(word: Any) -> Any:
    word = (word & EVEN_BYTES) + ((word >> BYTE) & EVEN_BYTES)
    word = (word & EVEN_PAIRS) + ((word >> PAIR) & EVEN_PAIRS)
    return np.int64((word + (word >> HALF)) & LOWEST_PAIR)


@inline
def count_legal(mask: NDArray[np.int8]) -> Any:
    """How many actions are legal; compilers make vectors of this loop."""
    count = 0
    for action in range(len(mask)):
        count += int(mask[action])
    return count


@inline
def legal_in_block(mask: NDArray[np.int8], begin: int) -> Any:
    """How many of the actions of a block are legal."""
    by_byte = word_at(mask, begin)
    for i in range(BYTES, BLOCK, BYTES):
        by_byte += word_at(mask, begin + i)
    return sum_of_bytes(by_byte)


@inline
def nth_legal(mask: NDArray[np.int8], n: int) -> int:
    """The action number of the n-th legal action, from 0: its block is found, its word, itself."""
    action = 0
    while action + BLOCK <= len(mask):
        count = legal_in_block(mask, action)
        if count > n:
            break
        n -= count
        action += BLOCK
    while action + BYTES <= len(mask):
        count = sum_of_bytes(word_at(mask, action))
        if count > n:
            break
        n -= count
        action += BYTES
    n -= mask[action]
    while n >= 0:
        action += 1
        n -= mask[action]
    return action
