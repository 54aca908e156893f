"""A game may leave out some functions; what needs one says which, in one sentence."""

import json
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from messages import assert_one_sentence

from hanamachi import UserError, variant
from hanamachi.engine import contract, kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import NamedActions
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.search.improve import Improve
from hanamachi.rendering import plain
from hanamachi.rendering.frames import frame
from hanamachi.rendering.pixels import pixels
from hanamachi.sessions.animation import scenes
from hanamachi.sessions.saved_games import record_of
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import seat_picture, seat_view
from hanamachi.sessions.worlds import Worlds


@pytest.fixture
def simple(monkeypatch):
    """Hanamikoji without anything that a game may leave out."""
    monkeypatch.setattr(contract, "IMPLEMENTATIONS", dict(contract.IMPLEMENTATIONS))
    whole = variant("hanamikoji")
    functions = {n: f for n, f in whole.game.functions.items() if n not in contract.OPTIONAL}
    return replace(whole, game=replace(whole.game, functions=functions, length=None, render=None))


def games_of(variant):
    games = variant.new(np.arange(1, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    return games


def dealing_anew(simple):
    """The simple game with the one function that worlds need."""
    redeal = {"redeal": variant("hanamikoji").game.functions["redeal"]}
    return replace(simple, game=replace(simple.game, functions=simple.game.functions | redeal))


def test_it_is_played(simple):
    session = Session(simple)
    session.begin(0)
    games = games_of(simple)
    earned, decisions = np.zeros((1, 2), np.float32), np.zeros(1, np.int64)
    kernels.play_out(
        simple.rule_set, games, np.zeros((1, simple.actions.size), np.int8), earned, decisions
    )
    assert games["mover"][0] == OVER


@pytest.mark.parametrize(
    ("lacking", "call"),
    [
        ("redeal", lambda v: Worlds(v, games_of(v), [0]).sample(0, np.arange(2, dtype=np.uint64))),
        ("redeal", lambda v: Improve(v, RandomPolicy(v), worlds=2)),
        ("rewind", lambda v: Improve(dealing_anew(v), RandomPolicy(v), worlds=2)),
        ("length", lambda v: v.length),
    ],
)
def test_what_needs_a_missing_function_names_it(simple, lacking, call):
    with pytest.raises(UserError) as refusal:
        call(simple)
    assert_one_sentence(refusal.value, lacking, simple.game.name)


def test_without_pictures_each_seat_shows_what_it_observes():
    shown, position = variant("hanamikoji"), games_of(variant("hanamikoji"))[0]
    both, mine = plain.text(shown, position), plain.text(shown, position, 0)
    assert "player_0" in mine
    assert "player_1" not in mine.split("\n", 1)[1]
    assert set(mine.splitlines()) <= set(both.splitlines())
    assert pixels(plain.drawing(shown, position)).ndim == 3


def test_without_words_of_its_own_a_game_has_views_events_and_a_picture(simple):
    session = Session(simple)
    session.begin(0)
    session.step(int(np.flatnonzero(session.observe(session.mover)[1])[0]))
    for seat in (None, 0, 1):
        view = seat_view(session, seat)
        assert json.loads(json.dumps(view)) == view
        assert len(view["legal"]) == (session.observe(seat)[1].sum() if seat is not None else 0)
        assert seat_picture(session, seat).startswith("<svg")
    first = next(event for event in session.history().events if event.by >= 0)
    acted, waited = first.by, 1 - first.by
    full = simple.actions.describe(first.number, first.before)
    assert [one.words for one in session.history().heard(acted)] == [full]
    assert full not in [one.words for one in session.history().heard(waited)]


def test_a_game_may_have_words_of_its_own_and_leave_the_pictures_out(simple, monkeypatch):
    own = ModuleType("own_words")
    own.status = lambda variant, game, viewer: "whose turn it is"
    monkeypatch.setitem(sys.modules, own.__name__, own)
    partly = replace(simple, game=replace(simple.game, render=own.__name__))
    session = Session(partly)
    session.begin(0)
    assert seat_view(session, 0)["status"] == "whose turn it is"
    assert frame(partly, session.state(), "ansi") == plain.text(partly, session.state())
    assert frame(partly, session.state(), "rgb_array").ndim == 3
    assert session._repr_svg_().startswith("<svg")
    assert len([*scenes(record_of(session), 1.0)]) == 1


def test_named_actions_describe_and_parse_themselves():
    actions = NamedActions("keep", "swap")
    assert [actions.parse(actions.describe(a)) for a in range(2)] == [0, 1]
    assert np.array_equal(actions.features, np.eye(2))
