"""An int8 observation says what the float32 one says, in its units."""

from math import prod

import numpy as np
import pytest
from extremes import extreme_variants
from positions import random_session
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.entries import INT8_MAX, int8_rows
from hanamachi.engine.layout import Axes, Layout, Segment, axis
from hanamachi.errors import UserError
from hanamachi.games.geishas_road.rules import GIFT, NONE
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant

EXTREMES = sample(10, 0.3)  # variants with extreme options


@pytest.mark.parametrize("id", VARIANTS)
def test_every_entry_is_the_float_one_in_its_units(id):
    for variant in (make_variant(id), *extreme_variants(id, EXTREMES)):
        units = variant.observation.units
        whole, exact = (np.empty((1, len(units)), dtype) for dtype in (np.int8, np.float32))
        for session in random_session(variant, seed=5):
            for seat in range(variant.seats):
                seats = np.array([seat])
                kernels.observations(variant.rule_set, session.games, seats, whole)
                kernels.observations(variant.rule_set, session.games, seats, exact)
                np.testing.assert_allclose(whole, np.minimum(exact * units, INT8_MAX), atol=0.501)
                np.testing.assert_array_equal(whole, int8_rows(exact, units))
            if session.mover == OVER:
                break


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
def test_the_entries_of_a_segment_are_those_of_its_axes(id):
    for variant in (make_variant(id), *extreme_variants(id, EXTREMES)):
        for segment in variant.observation.segments:
            if isinstance(segment.size, Axes):
                assert segment.size == prod(segment.size.shape)
                lengths = zip(segment.size.names, segment.size.shape, strict=True)
                lists = [(name.split(", "), n) for name, n in lengths if ", " in name and n]
                assert all(len(names) == n for names, n in lists)


def test_a_view_has_the_shape_of_the_axes_and_shares_the_row():
    layout = Layout(
        (
            Segment("deck", 1, 0, 9, "cards in it"),
            Segment("table", axis(2, "mine, theirs") * axis(3, "suits"), 0, 9, "cards"),
        )
    )
    rows = np.arange(14.0).reshape(2, 7)
    assert layout.view(rows, "table").tolist() == [
        [[1, 2, 3], [4, 5, 6]],
        [[8, 9, 10], [11, 12, 13]],
    ]
    assert layout.view(rows[0], "deck").tolist() == [0]
    layout.view(rows[0], "table")[1, 2] = -1
    assert rows[0, 6] == -1
    assert "| 1 | 6 | 0 to 9 | table: cards | (mine, theirs) by 3 suits |" in layout.markdown()


@pytest.mark.parametrize("rows", [np.zeros(6), np.zeros((7, 2)), np.zeros(())])
def test_a_view_of_rows_of_another_size_is_refused(rows):
    layout = Layout((Segment("table", axis(7, "geisha"), 0, 9, "cards"),))
    with pytest.raises(UserError, match="7 entries"):
        layout.view(rows, "table")
    with pytest.raises(UserError, match="no segment"):
        layout.view(np.zeros(7), "hands")


def test_axes_are_in_the_order_in_which_the_rules_write_them():
    """Of the segments that say of both players, or of more things, what there is of each."""
    for session in random_session(make_variant("hanamikoji"), seed=2):
        game, me = session.games[0], 1
        see = viewed(session, me)
        for side, seat in enumerate((me, 1 - me)):
            assert (see("pairs")[side] == game["pairs"][seat]).all()
            turns = see("used in")[side] @ [1, 2, 3, 4]
            assert (turns == np.maximum(game["used_in"][seat], 0)).all()
            assert see("favours")[side, 0] == see("markers")[side].sum()
            assert see("to come")[2, side] == game["hand"][seat].sum()
    for session in random_session(make_variant("geishas_road:advanced"), seed=2):
        game, me = session.games[0], 0
        see = viewed(session, me)
        assert (see("steps").argmax(1) == game["steps"][:5]).all()
        for side, seat in enumerate((me, 1 - me)):
            ordered = see("orders")[side] @ [1, 2]  # 0: not ordered yet
            assert (ordered == game["order"][seat, GIFT : GIFT + 2] + 1).all()
            assert (see("markers")[side] == (game["marker"][:5] == seat)).all()
            assert (see("collected")[side] == game["collected"][seat][:5]).all()
            assert (see("face down")[:, side] == (game["face_down"] == seat)).all()
            assert see("to come")[2, side] == game["held"][seat]
            assert see("score").tolist()[1][side] == game["points"][seat]
            assert see("countered")[side, :8].sum() == (game["counter_to"][seat] != NONE)
        assert (game["brought"][:20] == see("brought").reshape(2, 20).T).all()
    for session in random_session(make_variant("hanabi:3p"), seed=2):
        game, me = session.games[0], 1
        hands = viewed(session, me)("hands")
        for other, seat in enumerate((2, 0)):
            held = hands[other].reshape(5, 25)
            assert (
                held.argmax(1)[: game["held"][seat]] == game["hand"][seat][: game["held"][seat]]
            ).all()


def viewed(session, seat):
    """The segments that a seat observes, by name."""
    layout = session.variant.observation
    row = session.observe(seat)[0]
    return lambda name: layout.view(row, name)


@pytest.mark.parametrize("id", VARIANTS)
def test_nobody_can_write_to_the_tables_that_all_games_share(id):
    variant = make_variant(id)
    layout = variant.observation
    tables = layout.low, layout.high, layout.units, layout.segment_units, layout.offsets
    for table in (*tables, layout.private_entries, *variant.symmetries):
        with pytest.raises(ValueError, match="read-only"):
            table[:] = 0
