"""Small sets as the bits of a number: bit i is set where i is a member."""

from hanamachi.engine.compiled import inline


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
