"""What is read, compared and written many at a time is what it is number by number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hanamachi.engine import words
from hanamachi.engine.compiled import kernel
from hanamachi.engine.words import BYTES, WIDE

NUMBERS = st.lists(st.integers(-128, 127), min_size=BYTES, max_size=BYTES)
SMALL = st.lists(st.integers(0, 127), min_size=BYTES, max_size=BYTES)


@kernel
def written(out, word, members):
    words.write_set(out, 1, members)
    words.write_word(out, 3, word)


@kernel
def places(number, array, begin):
    return words.places_of(number, array, begin)


@kernel
def compared(a, b, number):
    return (
        words.difference(a, b),
        words.greater(a, b),
        words.at_least(a, 2),
        words.equal(a, number),
        words.sum_of_bytes(a),
    )


@kernel
def word_from(numbers, begin):
    return words.word_at(numbers, begin)


def word_of(numbers):
    return words.word_at(np.array(numbers, np.int8), 0)


def numbers_of(word):
    return np.array([word], np.uint64).view(np.int8).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("step", [1, 2])
def test_words_and_sets_are_written_as_entries(dtype, step):
    numbers, members = [3, -1, 0, 127, -128, 1, 2, 0], 0b1000_0000_0110_0000_0000_0000_1011_0101
    entries = np.full(50, 9)
    entries[1 : 1 + WIDE] = [members >> i & 1 for i in range(WIDE)]
    entries[3 : 3 + BYTES] = numbers
    for write in (written, written.py_func if hasattr(written, "py_func") else written):
        out = np.full(50 * step, 9, dtype)[::step]
        write(out, word_of(numbers), members)
        np.testing.assert_array_equal(out, entries)


@settings(deadline=None)
@given(st.lists(st.integers(-1, 2), min_size=WIDE + 3, max_size=60), st.integers(-1, 2))
def test_places_of_a_number_are_a_set(numbers, number):
    array = np.array(numbers, np.int8)
    found = {i for i in range(WIDE) if places(number, array, 3) >> i & 1}
    assert found == {i for i in range(WIDE) if numbers[3 + i] == number}
    assert words.places_of(number, array, 3) == places(number, array, 3)


@settings(deadline=None)
@given(SMALL, SMALL, st.integers(-128, 127))
def test_numbers_of_words_are_compared_one_by_one(a, b, number):
    for compare in (compared, compared.py_func if hasattr(compared, "py_func") else compared):
        difference, *ones, total = compare(word_of(a), word_of(b), number)
        assert numbers_of(difference) == [x - y for x, y in zip(a, b, strict=True)]
        assert numbers_of(ones[0]) == [x > y for x, y in zip(a, b, strict=True)]
        assert numbers_of(ones[1]) == [x >= 2 for x in a]
        assert numbers_of(ones[2]) == [x == number for x in a]
        assert total == sum(a)


@settings(deadline=None)
@given(NUMBERS)
def test_a_word_is_equal_to_negative_numbers_too(numbers):
    for number in (-1, -128, 0, numbers[0]):
        equal = words.equal(word_of(numbers), number)
        assert numbers_of(equal) == [x == number for x in numbers]
    assert [words.number_at(word_of(numbers), i) for i in range(BYTES)] == numbers


@settings(deadline=None)
@given(st.lists(st.integers(-128, 127), min_size=BYTES, max_size=20), st.randoms())
def test_a_word_holds_eight_neighbouring_numbers(numbers, random):
    begin = random.randrange(len(numbers) - BYTES + 1)
    word = word_from(np.array(numbers, np.int8), begin)
    assert numbers_of(word) == numbers[begin : begin + BYTES]
