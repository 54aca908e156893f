"""What a seat is shown: plain data, words and pictures, from the same position."""

import json
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from samples import WHOLE

import hanamachi
from hanamachi.engine import kernels
from hanamachi.sessions.players import turn_of
from hanamachi.sessions.saved_games import record_of, replay
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import seat_picture, seat_text, seat_view

every_variant = pytest.mark.parametrize("id", hanamachi.VARIANTS)


def games(id: str, count: int = 2, **options: Any) -> Any:
    """Each position of some games by chance."""
    rng = np.random.default_rng(0)
    for seed in range(count):
        session = Session(hanamachi.variant(id, **options))
        session.begin(seed)
        yield session
        while session.mover >= 0:
            _, mask = session.observe(session.mover)
            session.step(int(rng.choice(np.flatnonzero(mask))))
            yield session


@every_variant
def test_a_view_is_data_for_json(id: str) -> None:
    for session in games(id, 1):
        for seat in (None, *range(session.variant.seats)):
            view = seat_view(session, seat)
            assert json.loads(json.dumps(view)) == view


@every_variant
def test_all_legal_actions_of_the_seat_to_move_are_in_its_view_alone(id: str) -> None:
    for session in games(id, 1):
        for seat in range(session.variant.seats):
            legal = [one["action"] for one in seat_view(session, seat)["legal"]]
            _, mask = session.observe(seat)
            assert legal == np.flatnonzero(mask).tolist()
            assert bool(legal) == (seat == session.mover)


@every_variant
def test_words_of_legal_actions_are_read_back(id: str) -> None:
    for session in games(id, 1):
        if session.mover >= 0:
            legal = seat_view(session, session.mover)["legal"]
            for one in legal if WHOLE else legal[:: 1 + len(legal) // 10]:
                parsed = session.variant.actions.parse(one["words"], session.games[0])
                assert parsed == one["action"]


@every_variant
def test_actions_of_the_same_pieces_differ_in_their_words(id: str) -> None:
    for session in games(id, 1):
        if session.mover >= 0:
            legal = seat_view(session, session.mover)["legal"]
            assert len({one["words"] for one in legal}) == len(legal)


@every_variant
def test_every_piece_on_the_table_that_an_action_uses_is_in_the_picture(id: str) -> None:
    for session in games(id, 1):
        if session.mover >= 0:
            view = seat_view(session, session.mover)
            root = ElementTree.fromstring(seat_picture(session, session.mover))
            drawn = [group.get("data-piece") for group in root.iter() if group.get("data-piece")]
            for one in view["legal"]:
                for name in one["pieces"]:
                    on_table = name.startswith(("hand:", "offer:", "pair:", "card:"))
                    assert drawn.count(name) >= one["pieces"].count(name) * on_table


@every_variant
def test_each_piece_of_a_picture_has_an_id_and_a_label(id: str) -> None:
    for session in games(id, 1):
        root = ElementTree.fromstring(seat_picture(session, 0))
        pieces = [group for group in root.iter() if group.get("data-piece")]
        assert len({piece.get("id") for piece in pieces}) == len(pieces) > 0
        assert all(piece.get("aria-label") for piece in pieces)


@every_variant
def test_text_fits_80_columns(id: str) -> None:
    for session in games(id):
        assert max(map(len, seat_text(session, 0).splitlines())) <= 80


# --- What is heard


@every_variant
def test_a_history_that_follows_a_game_equals_one_made_at_its_end(id: str) -> None:
    for session in games(id):
        if session.mover < 0:
            late = replay(record_of(session)).history()
            for seat in (None, *range(session.variant.seats)):
                assert session.history().heard(seat) == late.heard(seat)


@every_variant
def test_the_events_of_a_history_lead_to_the_position(id: str) -> None:
    for session in games(id):
        assert session.history().games.tobytes() == session.games.tobytes()


def test_actions_that_were_checked_are_heard_without_another_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, batch = (next(games("hanamikoji", 1)) for _ in "ab")
    session.history()
    turn = turn_of(batch)
    action = int(turn.masks[0].argmax())

    def looked_up(*_: Any) -> None:
        raise AssertionError("the legal actions were looked up once more")

    monkeypatch.setattr(kernels, "masks", looked_up)
    session.step(action)
    turn.step(batch.games, np.array([action]))
    assert session.history().decisions == turn.history(0).decisions == 1


@every_variant
def test_a_game_from_a_given_position_is_heard_from_there(id: str) -> None:
    session = next(games(id, 1))
    state = session.get_state()
    later = Session(session.variant)
    later.begin(options={"state": state})
    later.step(int(np.flatnonzero(later.observe(later.mover)[1])[0]))
    assert later.history().heard(None)[0].decision == 0


@every_variant
def test_a_given_deal_is_heard(id: str) -> None:
    variant = hanamachi.variant(id)
    first = Session(variant)
    first.begin(3)
    deal = [event.number for event in first.history().events if event.by < 0]
    second = Session(variant)
    second.begin(5, {"deal": deal})
    assert second.history().heard(None) == first.history().heard(None)


@every_variant
def test_a_seat_hears_what_happened_since_it_acted(id: str) -> None:
    for session in games(id, 1):
        history = session.history()
        for seat in range(session.variant.seats):
            acted = [event.decision for event in history.events if event.by == seat]
            for heard in history.since_last_turn(seat):
                assert heard.decision > (acted[-1] if acted else -1)


@pytest.mark.parametrize("id", ["hanabi:2p", "hanabi:4p"])
def test_the_players_of_a_table_end_with_the_near_one(id: str) -> None:
    for session in games(id, 1):
        seats = session.variant.seats
        for near in range(seats):
            players = seat_view(session, None, near)["table"]["players"]
            wanted = [(near + 1 + place) % seats for place in range(seats)]
            assert [player["seat"] for player in players] == wanted
