"""Neighbouring numbers of an array, read, compared and written many at a time.

Eight int8 numbers are the bytes of one 64-bit word, the first one lowest. `difference` and `equal`
take any numbers, `greater` and `at_least` those from 0 to 127.

Nothing here checks where an array ends. `write_word` and `write_set` always write 8 and 32 entries.
They may write past the end of a row. Write rows in order, so that the next row overwrites the
excess. The caller must leave room after the last one.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from hanamachi.engine.compiled import PART, inline

BYTES = 8  # in a word
WIDE = 32  # entries of a set
ONES, TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
BYTE, PAIR, HALF, TOP_BIT = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(7)
EVEN_BYTES, EVEN_PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
ALL_BITS, LOWEST_PAIR = np.uint64(0xFF), np.uint64(0xFFFF)

BIT_TYPE, BYTE_TYPE, PLACE_TYPE = ir.IntType(1), ir.IntType(8), ir.IntType(32)


# --- Numbers of a word


@inline
def number_at(word: Any, i: int) -> Any:
    """The i-th number, which may be negative."""
    byte = (word >> np.uint64(8 * i)) & ALL_BITS
    return (np.int64(byte) ^ 0x80) - 0x80


@inline
def sum_of_bytes(word: Any) -> Any:
    word = (word & EVEN_BYTES) + ((word >> BYTE) & EVEN_BYTES)
    word = (word & EVEN_PAIRS) + ((word >> PAIR) & EVEN_PAIRS)
    return np.int64((word + (word >> HALF)) & LOWEST_PAIR)


@inline
def difference(a: Any, b: Any) -> Any:
    """a - b, in every byte: the top bit, set in advance, stops a borrow."""
    return ((a | TOPS) - b) ^ TOPS


@inline
def greater(a: Any, b: Any) -> Any:
    """1 where a > b."""
    return ((((a | TOPS) - b) - ONES) & TOPS) >> TOP_BIT


@inline
def at_least(word: Any, least: int) -> Any:
    """1 in each byte whose number is at least `least`."""
    return ((word | TOPS) - np.uint64(least) * ONES & TOPS) >> TOP_BIT


@inline
def equal(word: Any, number: int) -> Any:
    """1 in each byte that is this number, which may be negative."""
    other = word ^ np.uint64(np.int64(number) & 0xFF) * ONES
    return ~((other | TOPS) - ONES | other) >> TOP_BIT & ONES


# --- Words and sets in arrays


def place_of(context: Any, builder: Any, kind: Any, array: Any, begin: Any, numbers: Any) -> Any:
    """The pointer to these `numbers`, a type, that begin at an entry of a contiguous array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [begin]), numbers.as_pointer())


def word_at(array: Any, begin: Any) -> Any:
    """The eight numbers from `begin` on of a contiguous int8 array."""
    return np.uint64(int.from_bytes(array[begin : begin + BYTES].tobytes(), "little"))


@intrinsic  # type: ignore[misc]
def load_word(typing: Any, array: Any, begin: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, begin = arguments
        place = place_of(context, builder, signature.args[0], array, begin, ir.IntType(64))
        return builder.load(place, align=1)

    return types.uint64(array, types.intp), generate


@overload(word_at, jit_options=PART)
def compiled_word_at(array: Any, begin: Any) -> Any:
    load: Any = load_word

    def word(array: Any, begin: Any) -> Any:
        return load(array, begin)

    return word


def write_word(out: Any, begin: Any, word: Any) -> None:
    """The eight numbers as entries of an array of int8 or floats."""
    for i in range(BYTES):
        out[begin + i] = number_at(word, i)


@intrinsic  # type: ignore[misc]
def store_word(typing: Any, out: Any, begin: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, begin, word = arguments
        kind = signature.args[0]
        entries = ir.VectorType(context.get_data_type(kind.dtype), BYTES)
        numbers = builder.bitcast(word, ir.VectorType(BYTE_TYPE, BYTES))
        if isinstance(kind.dtype, types.Float):
            numbers = builder.sitofp(numbers, entries)
        builder.store(numbers, place_of(context, builder, kind, array, begin, entries), align=1)
        return context.get_dummy_value()

    return types.void(out, types.intp, types.uint64), generate


@overload(write_word, jit_options=PART)
def compiled_write_word(out: Any, begin: Any, word: Any) -> Any:
    store: Any = store_word

    def write(out: Any, begin: Any, word: Any) -> None:
        store(out, begin, word)

    return write if out.layout == "C" else write_word


def write_set(out: Any, begin: Any, members: Any) -> None:
    """A set as 32 entries of 0 and 1 of an array of int8 or floats."""
    for i in range(WIDE):
        out[begin + i] = members >> i & 1


@intrinsic  # type: ignore[misc]
def store_set(typing: Any, out: Any, begin: Any, members: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, begin, members = arguments
        kind = signature.args[0]
        entries = ir.VectorType(context.get_data_type(kind.dtype), WIDE)
        bits = builder.bitcast(
            builder.trunc(members, ir.IntType(WIDE)), ir.VectorType(BIT_TYPE, WIDE)
        )
        extend = builder.uitofp if isinstance(kind.dtype, types.Float) else builder.zext
        place = place_of(context, builder, kind, array, begin, entries)
        builder.store(extend(bits, entries), place, align=1)
        return context.get_dummy_value()

    return types.void(out, types.intp, types.int64), generate


@overload(write_set, jit_options=PART)
def compiled_write_set(out: Any, begin: Any, members: Any) -> Any:
    store: Any = store_set

    def write(out: Any, begin: Any, members: Any) -> None:
        store(out, begin, members)

    return write if out.layout == "C" else write_set


def places_of(number: Any, array: Any, begin: Any) -> Any:
    """Which of the 32 numbers from `begin` on of a contiguous int8 array are this one, a bit each.

    Where the array ends before, the bits beyond its end mean nothing.
    """
    numbers = array[begin : begin + WIDE].tolist()
    return sum(int(other == number) << i for i, other in enumerate(numbers))


@intrinsic  # type: ignore[misc]
def compare_each(typing: Any, number: Any, array: Any, begin: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, array, begin = arguments
        numbers = ir.VectorType(BYTE_TYPE, WIDE)
        first, undefined = ir.Constant(PLACE_TYPE, 0), ir.Constant(numbers, ir.Undefined)
        one = builder.insert_element(undefined, builder.trunc(number, BYTE_TYPE), first)
        every = ir.Constant(ir.VectorType(PLACE_TYPE, WIDE), [0] * WIDE)
        place = place_of(context, builder, signature.args[1], array, begin, numbers)
        alike = builder.icmp_signed(
            "==", builder.load(place, align=1), builder.shuffle_vector(one, undefined, every)
        )
        return builder.zext(builder.bitcast(alike, ir.IntType(WIDE)), ir.IntType(64))

    return types.int64(types.int64, array, types.intp), generate


@overload(places_of, jit_options=PART)
def compiled_places_of(number: Any, array: Any, begin: Any) -> Any:
    compare: Any = compare_each

    def places(number: Any, array: Any, begin: Any) -> Any:
        return compare(number, array, begin)

    return places
