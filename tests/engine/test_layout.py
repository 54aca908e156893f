"""An int8 observation says what the float32 one says, in its units."""

import numpy as np
import pytest
from positions import random_session

from hanamachi.engine import kernels
from hanamachi.engine.game import OVER
from hanamachi.engine.layout import LARGEST, Layout, Segment
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant


@pytest.mark.parametrize("id", VARIANTS)
def test_every_entry_is_the_float_one_in_its_units(id):
    variant = make_variant(id)
    units = variant.observation.units
    for session in random_session(variant, seed=5):
        if session.mover == OVER:
            return
        seats = np.array([session.mover])
        whole = np.empty((1, len(units)), np.int8)
        exact = np.empty((1, len(units)), np.float32)
        kernels.observations(variant.rule_set, session.games, seats, whole)
        kernels.observations(variant.rule_set, session.games, seats, exact)
        np.testing.assert_allclose(whole, np.minimum(exact * units, LARGEST), atol=0.501)
        np.testing.assert_array_equal(
            whole[:, units == 1], np.minimum(exact, LARGEST)[:, units == 1]
        )


def test_fractions_count_as_finely_as_there_is_room():
    parts = (
        Segment("count", 2, 0, 7, "whole"),
        Segment("points", 1, 0, 500, "large"),
        Segment("share", 1, 0, 1, "of all", fraction=True),
        Segment("lead", 1, -5, 5, "expected", fraction=True),
    )
    assert Layout(parts).units.tolist() == [1, 1, 1, 127, 25]
