"""Small sets as the bits of a number: bit i is set where i is a member."""

from typing import Any

import numpy as np

from hanamachi.engine.compiled import inline
from hanamachi.engine.words import ALL_BITS, BYTE, BYTES, HALF, ONES, PAIR, TOP_BIT, TOPS

ONE, TWO, FOUR = np.uint64(1), np.uint64(2), np.uint64(4)
EVEN_BITS = np.uint64(0x5555555555555555)
EVEN_TWOS = np.uint64(0x3333333333333333)
EVEN_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)

NTH = np.zeros((256, BYTES), np.uint8)  # of each set of up to eight, the first member and so on
for byte in range(256):
    for n, member in enumerate(i for i in range(BYTES) if byte >> i & 1):
        NTH[byte, n] = member


@inline
def count(members: int) -> int:
    """How many members there are; compilers know this loop as one instruction."""
    n = 0
    while members:
        members &= members - 1
        n += 1
    return n


@inline
def lowest(members: int) -> int:
    """The first member of a set that is not empty."""
    return count((members & -members) - 1)


@inline
def nth(members: int, n: int) -> Any:
    """The n-th of more than n members, from 0: bytes that end before it are passed over."""
    word, rest = np.uint64(members), np.uint64(n)
    up_to = members_up_to_each_byte(word)
    ended: Any = np.int64(((rest * ONES | TOPS) - up_to & TOPS) >> TOP_BIT)  # 1 in each such byte
    begin = BYTE * np.uint64(count(ended))
    rest -= (up_to << BYTE) >> begin & ALL_BITS
    return np.int64(begin) + NTH[word >> begin & ALL_BITS, rest]


@inline
def members_up_to_each_byte(word: Any) -> Any:
    word = (word & EVEN_BITS) + (word >> ONE & EVEN_BITS)
    word = (word & EVEN_TWOS) + (word >> TWO & EVEN_TWOS)
    word = (word + (word >> FOUR)) & EVEN_FOURS
    word += word << BYTE
    word += word << PAIR
    return word + (word << HALF)
