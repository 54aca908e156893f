"""Counting in action masks many at a time gives what counting one by one gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hanamachi.engine.action_masks import nth_legal
from hanamachi.engine.compiled import kernel

MASKS = st.lists(st.integers(0, 1), min_size=1, max_size=600).filter(any)


@kernel
def found(mask, n):
    return nth_legal(mask, n)


@settings(deadline=None)
@given(MASKS, st.randoms())
def test_the_nth_legal_action_is_the_nth_one_of_the_mask(bits, random):
    legal = np.flatnonzero(bits)
    n = random.randrange(len(legal))
    assert found(np.array(bits, np.int8), n) == legal[n]
