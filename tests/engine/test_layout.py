"""An int8 observation says what the float32 one says, in its units."""

import numpy as np
import pytest
from extremes import extreme_variants
from positions import random_session
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.game import OVER
from hanamachi.engine.layout import INT8_MAX, Layout, Segment
from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant

EXTREMES = sample(10, 0.3)  # variants with extreme options


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
        np.testing.assert_allclose(whole, np.minimum(exact * units, INT8_MAX), atol=0.501)
        np.testing.assert_array_equal(
            whole[:, units == 1], np.minimum(exact, INT8_MAX)[:, units == 1]
        )


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("id", VARIANTS)
def test_an_observation_is_written_into_its_own_row_alone(id, dtype):
    """Some rules write many entries at once, and compiled code does not check where a row ends."""
    for variant in (make_variant(id), *extreme_variants(id, EXTREMES)):
        before = np.array([99, -99], dtype)[:, None, None]
        rows = np.empty((2, 3, variant.observation.size), dtype)
        for session in random_session(variant, seed=7):
            for seat in range(variant.seats):
                rows[:] = before
                for part in rows:
                    kernels.observations(
                        variant.rule_set, session.games, np.array([seat]), part[1:2]
                    )
                assert (rows[:, [0, 2]] == before).all()
                np.testing.assert_array_equal(rows[0, 1], rows[1, 1])
            if session.mover == OVER:
                break


def test_fractions_count_as_finely_as_there_is_room():
    parts = (
        Segment("count", 2, 0, 7, "whole"),
        Segment("points", 1, 0, 500, "large"),
        Segment("share", 1, 0, 1, "of all", fraction=True),
        Segment("lead", 1, -5, 5, "expected", fraction=True),
    )
    assert Layout(parts).units.tolist() == [1, 1, 1, 127, 25]


def test_a_segment_is_found_by_its_name_alone():
    layout = make_variant("hanamikoji").observation
    for name in ("my hands", 0, None):
        with pytest.raises(UserError, match="no segment"):
            layout.slice(name)


@pytest.mark.parametrize("id", VARIANTS)
def test_nobody_can_write_to_the_tables_that_all_games_share(id):
    variant = make_variant(id)
    layout = variant.observation
    tables = layout.low, layout.high, layout.units, layout.segment_units, layout.offsets
    for table in (*tables, layout.private_entries, *variant.symmetries):
        with pytest.raises(ValueError, match="read-only"):
            table[:] = 0
