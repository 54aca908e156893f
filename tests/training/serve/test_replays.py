"""Games to look at: what was played here, and games in any form that is known."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import HUMAN, Client

import hanamachi
from hanamachi.games.registry import variant
from hanamachi.policies import load_policy
from hanamachi.sessions.hanab_live import hanab_live
from hanamachi.sessions.notation import notation, read_game
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.saved_games import Record, content_of, record_of
from hanamachi.sessions.session import Session
from hanamachi.training.serve import site

GAMES = ["hanamikoji:three_rounds", "geishas_road:standard", "hanabi:2p"]


def game_of(id: str, policy: str = "expert", most: int = 1000) -> Record:
    session = Session(variant(id))
    session.begin(seed=3)
    player, rng = (
        SeatedPlayer(load_policy(policy, id), session.variant, 1),
        np.random.default_rng(0),
    )
    while session.mover >= 0 and len(session.actions) < most:
        session.step(int(player.act(turn_of(session), rng)[0]))
    return record_of(session)


def shown(client: Client, text: str) -> str:
    """The address of a game that was sent to the server."""
    answer = client.post("/api/replays", {"text": text})
    assert answer.status == 201, answer.body
    return f"/api/replays/{answer.json['replay']}"


def review(client: Client, address: str, worlds: int = 8) -> Any:
    answer = client.get(f"{address}/review?worlds={worlds}")
    assert answer.status == 200, answer.body
    return answer.json


# --- Move by move


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_every_position_of_a_saved_game_can_be_looked_at(client: Client, id: str) -> None:
    record = game_of(id, "random", most=12)
    address = shown(client, json.dumps(content_of(record)))
    game = client.get(address).json
    assert [move["number"] for move in game["moves"]] == [*range(1, len(record.actions) + 1)]
    kept = client.get(f"{address}/record.json").json
    assert kept == json.loads(json.dumps(content_of(record)))
    for number in (0, 5, len(record.actions)):
        for seat in ("all", "0", str(record.variant.seats - 1)):
            position = client.get(f"{address}/{number}?seat={seat}").json
            assert position["view"]["variant"] == id
            assert position["picture"].startswith("<svg")
    for number in (len(record.actions) + 1, "9" * 5000, "-1", "x"):
        assert client.get(f"{address}/{number}").status == 400
    for seat in ("-1", str(record.variant.seats), "x", "", "1e1"):
        assert client.get(f"{address}/0?seat={seat}").status == 400


def test_moves_that_end_a_round_are_marked(client: Client) -> None:
    game = client.get(shown(client, notation(game_of("hanamikoji:three_rounds")))).json
    ends = [move["number"] for move in game["moves"] if move["round_over"]]
    assert 1 <= len(ends) <= 3
    assert ends[-1] == len(game["moves"])


@pytest.mark.parametrize("id", GAMES)
def test_a_game_is_taken_and_given_in_every_form(client: Client, id: str) -> None:
    record = game_of(id)
    forms = [json.dumps(content_of(record)), notation(record)]
    if id.startswith("hanabi"):
        forms.append(json.dumps(hanab_live(record)))
    for form in forms:
        address = shown(client, form)
        for name in ("record.json", "notation.txt"):
            answer = client.get(f"{address}/{name}")
            assert answer.headers["content-disposition"].startswith("attachment")
            assert read_game(answer.body).actions == record.actions
        answer = client.get(f"{address}/hanab-live.json")
        assert answer.status == (200 if id.startswith("hanabi") else 400)


def test_a_file_opens_at_the_table(tmp_path: Path) -> None:
    record, file = game_of("hanabi:2p"), tmp_path / "game.txt"
    file.write_text(notation(record))
    command = [sys.executable, "-m", "hanamachi", "replay", str(file), "--web"]
    quiet = {**os.environ, "BROWSER": "true"}  # a browser that shows nothing
    with subprocess.Popen(command, env=quiet, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r":(\d+)/#replay=([\w-]+)&", server.stdout.readline())
        assert found
        kept = Client(int(found[1])).get(f"/api/replays/{found[2]}/notation.txt").body
        server.terminate()
    assert kept.decode() == notation(record)


def test_a_game_that_was_just_played_can_be_looked_at(client: Client) -> None:
    table, rng = client.table("hanabi:2p", HUMAN, "hanabi:2p"), np.random.default_rng(0)
    with client.sit(table["keys"]["0"]) as seat:
        position = seat.position()
        while not position["view"]["over"]:
            assert position["replay"] is None
            position = seat.play_on(position, rng)
    address = f"/api/replays/{position['replay']}"
    last = client.get(f"{address}/{position['number']}").json
    assert last["picture"] == position["picture"]


FOREIGN = [
    "", "{", "{}", "[]", "null", "chess", "hanamikoji\nplayer 0: secret 9z", "hanamikoji\n(9z)",
    "hanamikoji max_rounds=" + "9" * 5000, "hanamikoji\nplayer " + "9" * 5000 + ": secret 2a",
    "hanamikoji\n" + "(2a)\n" * 1000, "module:os", "/etc/passwd", "[" * 10_000, "\ud800", "\x00",
    '{"players": [], "deck": [], "actions": []}', '{"players": 1, "deck": 2, "actions": 3}',
    json.dumps(content_of(game_of("hanabi:2p", "random", 4)) | {"actions": [0] * 1000}),
    json.dumps(content_of(game_of("hanabi:2p", "random", 4)) | {"chance": [10**30]}),
    json.dumps(content_of(game_of("hanabi:2p", "random", 4)) | {"options": {"colours": 10**9}}),
]  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN)
def test_a_text_that_is_no_game_is_refused(client: Client, text: str) -> None:
    answer = client.post("/api/replays", {"text": text})
    assert answer.status == 400
    assert list(answer.json) == ["error"]


def test_too_long_a_game_is_refused_before_it_is_played(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "REPLAY_ACTIONS", 3)
    for length, status in ((3, 201), (4, 400)):
        record = game_of("hanabi:2p", most=length)
        forms = [json.dumps(content_of(record)), json.dumps(hanab_live(record)), notation(record)]
        for text in forms:
            assert client.post("/api/replays", {"text": text}).status == status
    illegal = json.dumps(content_of(record) | {"actions": [0] * 1000})
    for text in (*forms, illegal, "hanabi:2p" + "\nplay the moon" * 1000):
        assert "at most 3 actions" in client.post("/api/replays", {"text": text}).json["error"]


def test_tables_do_not_wait_for_games_that_are_looked_at(client: Client) -> None:
    address = shown(client, notation(game_of("hanabi:2p", most=2)))
    key = client.table("hanabi:2p", HUMAN, "expert")["keys"]["0"]
    ended = threading.Event()
    looking = threading.Thread(target=client.get, args=(address,))
    client.server.replays._thread.submit(ended.wait)  # as a long game would
    looking.start()
    try:
        with client.sit(key) as seat:
            seat.play_on(seat.position(), np.random.default_rng(0))
        assert looking.is_alive()
    finally:
        ended.set()
        looking.join()


# --- Reviews


@pytest.mark.parametrize("id", GAMES)
def test_a_review_judges_every_move(client: Client, id: str) -> None:
    record = game_of(id, "random", most=8)
    found = review(client, shown(client, notation(record)))
    assert len(found["moves"]) == len(record.actions)
    for move in found["moves"]:
        assert 0 < sum(chance for chance, _ in move["best"]) <= 1 + 1e-6
        assert move["value"] is not None
        assert move["lost"] >= 0
    lost = {move["number"]: move["lost"] for move in found["moves"]}
    assert found["worst"] == sorted(filter(lost.get, lost), key=lambda n: -lost[n])[:3]


def test_values_are_from_seat_0(client: Client) -> None:
    """Before the last round's last moves, who wins is known; its sign is the same for both."""
    record = game_of("hanamikoji:three_rounds")
    found = review(client, shown(client, notation(record)))
    session = Session(record.variant)
    session.begin_dealt(record.generator, record.chance)
    for action in record.actions:
        session.step(action)
    won = session.rewards()[0]
    assert np.sign(found["moves"][-1]["value"]) == np.sign(won)


def test_the_move_that_ends_the_game_loses_most(client: Client) -> None:
    """A team of agents plays its oldest cards unseen, until it has lost its last life."""
    session = Session(variant("hanabi:2p"))
    session.begin(seed=3)
    player = SeatedPlayer(load_policy("hanabi:2p"), session.variant, 1)
    rng = np.random.default_rng(0)
    for _ in range(12):
        session.step(int(player.act(turn_of(session), rng)[0]))
    while session.mover >= 0:
        _, mask = session.observe(session.mover)
        words = {a: session.variant.actions.describe(a) for a in np.flatnonzero(mask).tolist()}
        session.step(next(action for action in words if words[action].startswith("play")))
    moves = review(client, shown(client, notation(record_of(session))), worlds=64)["moves"]
    assert moves[-1]["lost"] > 1
    assert moves[-1]["lost"] == max(move["lost"] for move in moves)


def test_reviews_have_a_budget(client: Client) -> None:
    address = shown(client, notation(game_of("hanamikoji", "random", 2)))
    for worlds in ("0", "1", "-1", "100000", "x", "", "1.5"):
        assert client.get(f"{address}/review?worlds={worlds}").status == 400
