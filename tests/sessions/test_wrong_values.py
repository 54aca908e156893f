"""Wrong seats, actions, states, records and words are answered by one sentence."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hanamachi import UserError, variant
from hanamachi.adapters.aec import AEC
from hanamachi.adapters.text import ScriptedModel
from hanamachi.engine.contract import OVER
from hanamachi.limits import MESSAGE
from hanamachi.sessions.animation import animate
from hanamachi.sessions.events import History
from hanamachi.sessions.hanab_live import hanab_live, read_hanab_live
from hanamachi.sessions.notation import notation, read_notation, write_game
from hanamachi.sessions.saved_games import Record, positions, record_of, replay, save
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import seat_picture, seat_text, seat_view
from hanamachi.sessions.worlds import Worlds

pytestmark = pytest.mark.uncompiled

NO_SEATS = [-1, 2, 10**30, True, 0.5, float("nan"), "0", b"0", [], [0], np.arange(2), {}, object]


def begun(id: str = "hanamikoji", **options: Any) -> Session:
    session = Session(variant(id, **options))
    session.begin(0)
    return session


def refuses(call: Callable[..., Any], *given: Any) -> None:
    with pytest.raises(UserError) as error:
        call(*given)
    assert len(str(error.value)) <= MESSAGE


@pytest.mark.parametrize("seat", NO_SEATS, ids=repr)
def test_only_a_seat_sees_and_hears(seat: Any) -> None:
    session = begun()
    for look in (seat_view, seat_text, seat_picture):
        refuses(look, session, seat)
        refuses(look, session, None, seat)
    refuses(session.observe, seat)
    refuses(session.history().heard, seat)
    refuses(session.history().since_last_turn, seat)


@pytest.mark.parametrize("look", [seat_view, seat_text, seat_picture])
def test_only_a_game_in_progress_is_seen(look: Callable[..., Any]) -> None:
    for position in (None, "hanamikoji", AEC("hanamikoji"), begun().get_state()):
        refuses(look, position, 0)


@pytest.mark.parametrize("action", [-1, 10**30, True, 1.0, None, "0", [0]], ids=repr)
def test_a_history_adds_only_what_can_happen(action: Any) -> None:
    session = begun()
    history = session.history()
    events = len(history.events)
    refuses(history.add, action)
    refuses(history.add, int(session.observe(session.mover)[1].argmin()))
    assert (len(history.events), history.games.tobytes()) == (events, session.games.tobytes())


@pytest.mark.parametrize("row", [-1, 1, 10**30, True, 0.0, None, "0", [0]], ids=repr)
def test_worlds_are_asked_about_by_row(row: Any) -> None:
    session = begun()
    worlds = Worlds(session.variant, session.games, [0], lambda row: session.history())
    assert isinstance(worlds.history(0), History)
    for call in (worlds.view, worlds.history, lambda row: worlds.sample(row, [1])):
        refuses(call, row)


NO_SEEDS = [5, None, "ab", [-1], [0.5], [None], np.array([0.5]), np.array([-1]), np.eye(2)]


@pytest.mark.parametrize("seeds", NO_SEEDS, ids=repr)
def test_worlds_are_sampled_by_seeds(seeds: Any) -> None:
    session = begun()
    refuses(Worlds(session.variant, session.games, [0]).sample, 0, seeds)


@pytest.mark.parametrize("id", [0, None, "hanabi", "hanamikoji:x", ["hanabi:2p"], {}], ids=repr)
def test_a_state_of_no_game_has_no_record(id: Any) -> None:
    refuses(lambda: replace(begun().get_state(), variant=id).record)


@pytest.mark.parametrize("data", [0, None, "x", b"", b"x", [1]], ids=repr)
def test_a_state_of_another_size_has_no_record(data: Any) -> None:
    refuses(lambda: replace(begun().get_state(), data=data).record)


@pytest.mark.parametrize("record", [None, 5, "game.json", b"", {}, [], AEC("hanabi:2p")])
def test_only_a_record_is_replayed_and_written(record: Any, tmp_path: Any) -> None:
    for call in (replay, notation, hanab_live, lambda record: next(positions(record))):
        refuses(call, record)
    for name in ("a.json", "a.txt", "a.hanab.json"):
        refuses(write_game, record, tmp_path / name)
    refuses(save, record, tmp_path / "a.json")
    refuses(animate, record, tmp_path / "a.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("variant", "hanabi:2p"),
        ("generator", 0),
        ("generator", 2**64),
        ("generator", "0x1"),
        ("chance", None),
        ("chance", [0, 1]),
        ("chance", "01"),
        ("actions", 5),
        ("actions", (0.5,)),
        ("actions", (True,)),
    ],
    ids=repr,
)
def test_a_record_holds_whole_numbers(field: str, value: Any) -> None:
    refuses(lambda: replace(record_of(begun("hanabi:2p")), **{field: value}))


@pytest.mark.parametrize("actions", [(-1,), (10**30,), (99,)])
def test_hanab_live_gets_no_game_against_the_rules(actions: tuple[int, ...]) -> None:
    refuses(hanab_live, replace(record_of(begun("hanabi:2p")), actions=actions))


def test_hanab_live_gets_the_cards_that_a_record_leaves_to_chance() -> None:
    whole = record_of(begun("hanabi:2p"))
    assert hanab_live(Record(whole.variant, whole.generator, (), ())) == hanab_live(whole)


@pytest.mark.parametrize("text", [None, 5, b"hanamikoji", ["hanamikoji"], object], ids=repr)
def test_only_text_is_read_as_notation(text: Any) -> None:
    refuses(read_notation, text)


@pytest.mark.parametrize("content", [None, 5, "{}", b"{}", [], {}, object], ids=repr)
def test_only_an_object_is_read_as_a_game_of_hanab_live(content: Any) -> None:
    refuses(read_hanab_live, content)


@pytest.mark.parametrize("given", [None, "hanamikoji", AEC("hanamikoji")])
def test_a_session_plays_a_variant_and_a_model_replies_in_a_text_game(given: Any) -> None:
    refuses(Session, given)
    refuses(ScriptedModel, "random", given)


def test_over_is_no_seat() -> None:
    session = Session(variant("hanabi:2p", colours=2, ranks=2, hand_size=2))
    refuses(session.observe, session.mover)
    session.begin(1)
    while session.mover != OVER:
        session.step(int(session.observe(session.mover)[1].argmax()))
    refuses(session.observe, session.mover)


def test_only_partners_share_a_score() -> None:
    chosen = variant("hanamikoji")
    refuses(lambda: chosen.best_score)
    refuses(chosen.lost, begun().games)
