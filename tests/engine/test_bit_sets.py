"""Sets as bits."""

from hanamachi.engine.bit_sets import count, lowest
from hanamachi.engine.compiled import kernel


@kernel
def told(members):
    return count(members), lowest(members)


def test_sets_are_counted_and_have_a_lowest_member():
    sets = {0b1: (1, 0), 0b1010: (2, 1), 0b1011: (3, 0), 1 << 29: (1, 29), (1 << 54) - 1: (54, 0)}
    assert {members: told(members) for members in sets} == sets
    assert count(0) == 0
