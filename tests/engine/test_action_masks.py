"""Counting in action masks many at a time gives what counting one by one gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hanamachi.engine.action_masks import nth_legal
from hanamachi.engine.compiled import kernel
from hanamachi.engine.words import sum_of_bytes, word_at

MASKS = st.lists(st.integers(0, 1), min_size=1, max_size=600).filter(any)


@kernel
def found(mask, n):
    return nth_legal(mask, n)


@kernel
def word_of(numbers, begin):
    return word_at(numbers, begin)


@settings(deadline=None)
@given(MASKS, st.randoms())
def test_the_nth_legal_action_is_the_nth_one_of_the_mask(bits, random):
    legal = np.flatnonzero(bits)
    n = random.randrange(len(legal))
    assert found(np.array(bits, np.int8), n) == legal[n]


@settings(deadline=None)
@given(st.lists(st.integers(0, 127), min_size=8, max_size=20), st.randoms())
def test_a_word_holds_eight_neighbouring_numbers(numbers, random):
    begin = random.randrange(len(numbers) - 7)
    word = word_of(np.array(numbers, np.int8), begin)
    eight = numbers[begin : begin + 8]
    assert int(word).to_bytes(8, "little") == bytes(eight)
    assert sum_of_bytes(np.uint64(word)) == sum(eight)
