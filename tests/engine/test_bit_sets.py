"""Sets as bits."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hanamachi.engine.bit_sets import count, lowest, nth
from hanamachi.engine.compiled import kernel


@kernel
def told(members):
    return count(members), lowest(members)


def test_sets_are_counted_and_have_a_lowest_member():
    sets = {0b1: (1, 0), 0b1010: (2, 1), 0b1011: (3, 0), 1 << 29: (1, 29), (1 << 54) - 1: (54, 0)}
    assert {members: told(members) for members in sets} == sets
    assert count(0) == 0


@kernel
def nth_of(members, n):
    return nth(members, n)


@settings(deadline=None)
@given(st.sets(st.integers(0, 62), min_size=1), st.randoms())
def test_the_nth_member_has_n_before_it(members, random):
    n = random.randrange(len(members))
    as_bits = sum(1 << i for i in members)
    assert nth_of(as_bits, n) == nth(as_bits, n) == sorted(members)[n]
