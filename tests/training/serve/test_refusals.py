"""Whatever a browser should not send gets an answer, and changes nothing."""

import json
import logging
import os
import re
import sqlite3
from ipaddress import ip_address
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.parse import urlsplit

import pytest
from serving import HUMAN, Client, Seat
from websockets.exceptions import ConnectionClosed, InvalidStatus

import hanamachi.training.serve.store as store_limits
import hanamachi.training.serve.table_server as server_limits
from hanamachi.errors import UserError
from hanamachi.limits import GAME_BYTES, MESSAGE_BYTES, REQUEST_BYTES
from hanamachi.training.serve import site
from hanamachi.training.serve.app import LARGEST, address_of, bound
from hanamachi.training.serve.offers import Offers
from hanamachi.training.serve.site import FAULT, REFUSED, TRY_LATER, network_of
from hanamachi.training.serve.store import IDLE, UNPLAYED, Event, Store

FAR = "9" * 30
MALFORMED = [
    "", "{", "null", "[]", "1", '"act"', "{}", "[" * 2000, "\ud7ff", "\x00",
    '{"type": null}', '{"type": "act"}', '{"type": "fold"}', '{"type": ["act"]}',
    '{"type": "act", "type": "act", "number": 0, "action": 0}',
    '{"type": "act", "number": 0}',
    '{"type": "act", "number": 0, "action": 0, "words": "secret 2a"}',
    '{"type": "act", "number": 0, "action": 0, "seat": 1}',
    '{"type": "act", "number": "0", "action": 0}',
    '{"type": "act", "number": true, "action": 0}',
    '{"type": "act", "number": 0.0, "action": 0}',
    '{"type": "act", "number": NaN, "action": 0}',
    '{"type": "act", "number": -1, "action": 0}',
    '{"type": "act", "number": NUMBER, "action": -1}',
    '{"type": "act", "number": NUMBER, "action": null}',
    '{"type": "act", "number": NUMBER, "action": 1.0}',
    '{"type": "act", "number": NUMBER, "action": ' + FAR + "}",
    '{"type": "act", "number": NUMBER, "words": ""}',
    '{"type": "act", "number": NUMBER, "words": "\\ud800"}',
    '{"type": "act", "number": NUMBER, "words": 3}',
    '{"type": "act", "number": NUMBER, "words": "' + "secret " * 100 + '"}',
    '{"type": "hint"}', '{"type": "hint", "number": null}', '{"type": "step", "number": []}',
    '{"type": "new", "number": NUMBER}',
]  # fmt: skip
IMPOSSIBLE = [
    '{"type": "act", "number": NUMBER, "action": 2147483647}',
    '{"type": "act", "number": NUMBER, "action": 100000}',
    '{"type": "act", "number": NUMBER, "words": "resign"}',
    '{"type": "act", "number": NUMBER, "words": "secret 9z"}',
    '{"type": "act", "number": EARLY, "action": LEGAL}',
    '{"type": "act", "number": LATE, "action": LEGAL}',
    '{"type": "act", "number": NUMBER, "action": ILLEGAL}',
    '{"type": "hint", "number": EARLY}',
    '{"type": "hint", "number": LATE}',
    '{"type": "step", "number": NUMBER}',
    '{"type": "new"}',
]


@pytest.fixture
def table(client: Client) -> Any:
    return client.table("hanamikoji", HUMAN, HUMAN)


def everything(client: Client, table: Any) -> Any:
    """The position of a table, and what the store has of it."""
    session = client.server.open_tables[table["table"]].table.session
    return session.games.tobytes(), session.actions[:], client.server.store.events(table["table"])


# --- At a socket


def filled(text: str, position: Any) -> str:
    """The message, with numbers that fit the position where it wants some."""
    legal = [each["action"] for each in position["view"]["legal"]] or [0]
    illegal = next(action for action in range(len(legal) + 1) if action not in legal)
    number = position["number"]
    for name, value in [
        ("NUMBER", number),
        ("EARLY", number + 1),
        ("LATE", number - 1 if number else number + 2),
        ("ILLEGAL", illegal),
        ("LEGAL", legal[0]),
    ]:
        text = text.replace(name, str(value))
    return text


@pytest.mark.parametrize("mover", [True, False], ids=["in its turn", "out of turn"])
def test_a_message_that_does_not_fit_is_refused_and_changes_nothing(
    client: Client, table: Any, mover: bool
) -> None:
    with client.sit(table["keys"]["0"]) as one, client.sit(table["keys"]["1"]) as other:
        seats = {0: (one, one.until("position")), 1: (other, other.until("position"))}
        first = seats[0][1]["view"]["mover"]
        seat, own = seats[first if mover else 1 - first]
        before = everything(client, table)
        for text in MALFORMED + IMPOSSIBLE:
            seat.socket.send(filled(text, own))
            assert seat.until("refused")["words"]
            assert everything(client, table) == before, text
        for content in (b"\xff\xfe", b"", b'{"type": "new"}'):
            seat.socket.send(content)
            assert seat.until("refused")["words"]
        assert everything(client, table) == before


def test_a_move_counts_once(client: Client, table: Any) -> None:
    """A browser that sends a move twice, and one that moves out of turn."""
    with client.sit(table["keys"]["0"]) as one, client.sit(table["keys"]["1"]) as other:
        position = one.until("position")
        moving, waiting = one, other
        if position["view"]["mover"] == 1:
            moving, waiting, position = other, one, other.until("position")
        number, action = position["number"], position["view"]["legal"][0]["action"]
        waiting.send(type="act", number=number, action=action)
        assert waiting.until("refused")
        for _ in range(3):
            moving.send(type="act", number=number, action=action)
        assert moving.until("refused")
        assert moving.until("refused")
        assert len(everything(client, table)[1]) == 1


def test_a_refusal_does_not_depend_on_what_others_hold(client: Client, table: Any) -> None:
    """Every action that the other seat may or may not take is refused in the same words."""
    with client.sit(table["keys"]["0"]) as one, client.sit(table["keys"]["1"]) as other:
        position = one.until("position")
        seat: Seat = one if position["view"]["mover"] == 1 else other
        words = set()
        for action in range(150):
            seat.send(type="act", number=position["number"], action=action)
            words.add(seat.until("refused")["words"])
        assert len(words) == 1


def test_who_watches_cannot_act_and_who_plays_cannot_step(client: Client) -> None:
    table = client.table("hanamikoji", "random", "random")
    with client.sit(table["watch"]) as watch:
        number = watch.until("position")["number"]
        before = everything(client, table)
        watch.send(type="act", number=number, action=0)
        assert watch.until("refused")
        watch.send(type="step", number=number + 1)
        assert watch.until("refused")
        assert everything(client, table) == before


def test_too_large_a_message_is_refused(client: Client, table: Any) -> None:
    with client.sit(table["keys"]["0"]) as seat:
        seat.until("position")
        seat.socket.send("x" * (MESSAGE_BYTES + 1))
        assert seat.until("refused")
        seat.socket.send("x" * (LARGEST + 1))
        with pytest.raises(ConnectionClosed):
            seat.until("refused")
    with client.sit(table["keys"]["0"]) as seat:
        assert seat.until("position")["number"] == 0


@pytest.mark.parametrize("key", ["", "x", "0" * 5000, "%00", "../..", "' or 1=1 --"])
def test_a_foreign_key_opens_nothing(client: Client, key: str) -> None:
    with client.sit(key.replace(" ", "%20").replace("'", "%27")) as seat:
        assert seat.next()["type"] == "refused"
        assert code_of_the_end(seat) == REFUSED


def code_of_the_end(seat: Seat) -> int | None:
    """The code with which the server closes the socket."""
    with pytest.raises(ConnectionClosed) as closed:
        seat.next()
    return closed.value.rcvd.code if closed.value.rcvd else None


def test_a_browser_comes_again_after_a_fault_of_the_disk(
    client: Client, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store_limits, "touch", full)
    with client.sit(table["keys"]["0"]) as seat:
        assert seat.next()["type"] == "refused"
        assert code_of_the_end(seat) == FAULT


def test_a_request_that_fails_on_the_disk_is_answered_as_a_fault_of_the_server(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store_limits, "insert", full)
    answer = client.post("/api/tables", {"game": "hanamikoji", "seats": [HUMAN, HUMAN]})
    assert answer.status == 503
    assert "disk is full" in answer.json["error"]


def test_keys_cannot_be_guessed(client: Client, table: Any) -> None:
    keys = [table["table"], *table["keys"].values()]
    assert len(set(keys)) == 3
    assert all(len(key) >= 32 for key in keys)


def test_so_many_browsers_may_sit_in_a_seat(
    client: Client, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_limits, "SOCKETS_OF_A_SEAT", 2)
    key = table["keys"]["0"]
    with client.sit(key) as one, client.sit(key) as two:
        assert one.until("position")
        assert two.until("position")
        with client.sit(key) as three:
            assert three.next()["type"] == "refused"
            assert code_of_the_end(three) == TRY_LATER


def test_one_address_cannot_take_all_connections(
    client: Client, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_limits, "SOCKETS_OF_AN_ADDRESS", 1)
    with client.sit(table["keys"]["0"]) as one:
        assert one.until("position")
        with client.sit(table["keys"]["1"]) as two:
            assert two.next()["type"] == "refused"
            assert code_of_the_end(two) == TRY_LATER
        opened = client.server.open_tables[table["table"]]
        for connection in opened.connections:
            connection.address = "another"
        with client.sit(table["keys"]["1"]) as two:
            assert two.until("position")


def test_a_fault_of_a_policy_in_a_hint_is_logged(
    client: Client, table: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("the policy is broken")

    monkeypatch.setattr(client.server.policies, "adviser", fails)
    server_log = logging.getLogger("uvicorn.error")
    server_log.addHandler(caplog.handler)
    try:
        with client.sit(table["keys"]["0"]) as seat:
            seat.send(type="hint", number=seat.until("position")["number"])
            with pytest.raises(ConnectionClosed):
                seat.next()
    finally:
        server_log.removeHandler(caplog.handler)
    assert "the policy is broken" in caplog.text


# --- Where it comes from


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_a_socket_is_only_for_the_servers_own_page(client: Client, table: Any, origin: str) -> None:
    with (
        pytest.raises(InvalidStatus),
        client.sit(table["keys"]["0"], origin),
    ):
        pass


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"host": "evil.example", "origin": "http://evil.example"},
    ],
)
def test_only_the_servers_own_page_changes_anything(
    client: Client, headers: dict[str, str]
) -> None:
    body = json.dumps({"game": "hanamikoji", "seats": [HUMAN, HUMAN]}).encode()
    answer = client.ask("POST", "/api/tables", body, content_type="application/json", **headers)
    assert answer.status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_server_called_by_a_foreign_name_says_nothing(client: Client, host: str) -> None:
    for path in ("/", "/api/games", "/page/index.html"):
        assert client.ask("GET", path, host=host).status == 403


def test_another_site_may_link_to_the_page_and_ask_for_nothing(client: Client) -> None:
    for path, status in (("/", 200), ("/api/games", 403), ("/api/rules/hanabi:2p", 403)):
        assert client.ask("GET", path, sec_fetch_site="cross-site").status == status
        assert client.ask("GET", path, sec_fetch_site="same-origin").status == 200


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "192.168.1.4:8020", "[::1]:8020"])
def test_a_server_is_called_by_its_addresses(client: Client, host: str) -> None:
    assert client.ask("GET", "/api/games", host=host).status == 200


def test_who_lets_others_come_is_told_an_address_that_they_can_open() -> None:
    with bound("0.0.0.0", 0) as listening:
        address = address_of(listening)
        found = urlsplit(address)
        assert found.hostname
        assert not ip_address(found.hostname).is_unspecified
        with create_connection((found.hostname, found.port or 0), timeout=10):
            listening.accept()[0].close()


@pytest.mark.parametrize("host", ["127.0..1", "a" * 70])
def test_an_address_that_no_computer_can_have_is_refused(host: str) -> None:
    with pytest.raises(UserError, match=re.escape(host)):
        bound(host, 0)


def test_a_form_of_a_foreign_page_cannot_be_a_request(client: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.ask("POST", "/api/tables", b"{}", content_type=kind, origin=client.origin)
        assert answer.status == 415


# --- Paths


@pytest.mark.parametrize(
    "path",
    [
        "/page/", "/page", "/page/..", "/page/../app.py", "/page/%2e%2e/app.py",
        "/page/..%2fapp.py", "/page/%2e%2e%2fapp.py", "/page//etc/passwd", "/page/%2fetc%2fpasswd",
        "/page/.", "/app.py",
        "/page/index.html/", "/page/index.html%00.js", "/page/..\\app.py", "/..", "//", "/%00",
        "/page/__init__.py", "/page/INDEX.HTML", "/api", "/api/", "/api/tables/", "/docs",
        "/openapi.json", "/api/rules/..", "/api/rules/%2e%2e%2f%2e%2e", "/api/rules/module:os",
        "/api/replays/x", "/api/replays/../tables", "/api/replays/x/-1", "/api/replays/x/review",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status in (404, 405)
    assert b"import" not in answer.body


def test_every_answer_carries_a_strict_policy(client: Client) -> None:
    for path in ("/", "/page/index.html", "/api/games", "/api/rules/hanabi:2p", "/nothing"):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "script-src" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_what_anybody_may_ask_for_is_made_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/api/rules/hanabi:3p"
    before = client.get(path).json, client.get("/api/games").json
    monkeypatch.setattr(site, "rules_of", None)
    monkeypatch.setattr(Offers, "_game", None)
    assert (client.get(path).json, client.get("/api/games").json) == before


# --- Requests


NAMES = [
    "module:os", "os:system", "os:getcwd", "process:sh", "model:gpt", "/etc/passwd", "../policy",
    "runs/first/policy", "policy.onnx", "search:improve:os:getcwd:worlds=1",
    "search:improve:expert:worlds=16777216", "search:improve:expert:seconds=3600", "hanabi:2p",
    "Human", "human ", "", "x" * 1000, "\x00",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_names_only_policies_of_the_list(client: Client, name: str) -> None:
    answer = client.post("/api/tables", {"game": "hanamikoji", "seats": [HUMAN, name]})
    assert answer.status == 400
    assert list(answer.json) == ["error"]


def test_hat_guessers_play_without_people(client: Client) -> None:
    (game,) = (each for each in client.get("/api/games").json["games"] if each["id"] == "hanabi:3p")
    assert game["usual"] == "hanabi:3p:partner"
    assert game["not_with_people"] == ["hat", "hanabi:3p"]
    for name in game["not_with_people"]:
        assert client.table("hanabi:3p", *[name] * 3)["watch"]
        seats = [HUMAN, name, name]
        assert client.post("/api/tables", {"game": "hanabi:3p", "seats": seats}).status == 400


@pytest.mark.parametrize(
    "content",
    [
        None, [], "x", {}, {"game": "hanamikoji"}, {"seats": [HUMAN, HUMAN]},
        {"game": "chess", "seats": [HUMAN, HUMAN]}, {"game": "hanabi", "seats": [HUMAN, HUMAN]},
        {"game": 3, "seats": [HUMAN, HUMAN]}, {"game": "hanamikoji", "seats": HUMAN},
        {"game": "hanamikoji", "seats": [HUMAN]}, {"game": "hanamikoji", "seats": [HUMAN] * 3},
        {"game": "hanamikoji", "seats": [HUMAN] * 1000},
        {"game": "hanamikoji", "seats": [HUMAN, None]},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "seed": -1},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "seed": 2**64},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "seed": "1"},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "options": []},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "options": {"rounds": 1}},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "options": {"max_rounds": -1}},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "options": {"max_rounds": {"a": 1}}},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "options": {"cards": [1e308] * 7}},
        {"game": "hanamikoji", "seats": [HUMAN, "expert"], "more": 1},
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit_is_not_opened(client: Client, content: Any) -> None:
    answer = client.post("/api/tables", content)
    assert answer.status == 400
    assert list(answer.json) == ["error"]


def test_too_large_a_request_is_refused(client: Client) -> None:
    large = {"game": "hanamikoji", "seats": ["x" * REQUEST_BYTES]}
    assert client.post("/api/tables", large).status == 413
    assert client.post("/api/replays", {"text": "x" * GAME_BYTES}).status == 413


def test_there_are_only_so_many_tables(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_limits, "TABLES", 1)
    wanted = {"game": "hanamikoji", "seats": [HUMAN, "random"]}
    if not opened_before(client):
        client.table("hanamikoji", "random", "random")
    assert client.post("/api/tables", wanted).status == 503
    monkeypatch.setattr(store_limits, "IDLE", -1.0)  # all others may be forgotten
    assert client.post("/api/tables", wanted).status == 201


def test_tables_that_nobody_needs_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First those that nobody plays at, then those whose game is over, then idle ones.

    Never one at which somebody sits.
    """
    now = 0.0
    monkeypatch.setattr(store_limits, "TABLES", 4)
    monkeypatch.setattr(store_limits, "time", lambda: now)
    store = Store(tmp_path)

    def after_opening(id: str) -> set[str]:
        store.add_table(id, {}, {}, {}, in_use={"used"})
        return {id for (id,) in store._read("select id from tables")}

    for id in ("used", "over", "again", "idle"):
        after_opening(id)
    for id in ("used", "over", "again"):
        store.add_action(id, Event(0, 1, "act", 0), replay=(f"replay of {id}", ""))
    store.add_action("idle", Event(0, 1, "act", 0))
    now = IDLE + 1
    store.begin_again("again", Event(1, 0, "begin", {}))
    assert after_opening("one") == {"used", "again", "idle", "one"}
    assert after_opening("two") == {"used", "again", "one", "two"}
    with pytest.raises(UserError):
        after_opening("three")
    now += UNPLAYED + 1
    store.touch("one")
    assert after_opening("three") == {"used", "again", "one", "three"}
    store.close()


def test_one_address_cannot_take_all_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(store_limits, "TABLES_OF_AN_ADDRESS", 2)
    monkeypatch.setattr(store_limits, "time", lambda: now)
    store = Store(tmp_path)
    for id in ("one", "two"):
        store.add_table(id, {}, {}, {}, address="first")
    with pytest.raises(UserError, match="your address"):
        store.add_table("three", {}, {}, {}, address="first")
    store.add_table("another", {}, {}, {}, address="second")
    now += UNPLAYED + 1  # its own tables make room for it, and no other does
    store.touch("two")
    store.add_table("three", {}, {}, {}, address="first")
    assert {id for (id,) in store._read("select id from tables")} == {"two", "three", "another"}
    store.close()


def test_games_that_are_sent_leave_room_for_those_that_were_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_limits, "REPLAYS", 4)
    monkeypatch.setattr(store_limits, "SENT_REPLAYS", 2)
    store = Store(tmp_path)
    store.add_replay("played", "")
    for number in range(5):
        store.add_replay(f"sent {number}", "", sent=True)
    kept = {id for (id,) in store._read("select id from replays")}
    assert kept == {"played", "sent 3", "sent 4"}
    for number in range(4):
        store.add_replay(f"played {number}", "")
    assert not any(store.replay(id) is not None for id in kept)
    assert not store._read("select id from sent")
    store.close()


def test_a_request_sends_its_game(client: Client) -> None:
    id = client.post("/api/replays", {"text": "hanamikoji"}).json["replay"]
    assert (id,) in client.server.store._read("select id from sent")


def test_who_opens_a_table_is_known_by_address(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.table("hanamikoji", "random", "random")
    assert client.server.store._read("select distinct address from openers") == [("127.0.0.1",)]
    monkeypatch.setattr(store_limits, "TABLES_OF_AN_ADDRESS", 1)
    answer = client.post("/api/tables", {"game": "hanamikoji", "seats": [HUMAN, "random"]})
    assert answer.status == 503
    assert "your address" in answer.json["error"]


def test_one_computer_with_many_addresses_counts_once() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::2:3")
    assert network_of("fe80::1%eth0") != network_of("2001:db8::1")
    assert network_of("192.0.2.1") != network_of("192.0.2.2")


def test_who_comes_to_a_table_keeps_it(client: Client, table: Any) -> None:
    when = "select touched from tables where id = ?"
    ((before,),) = client.server.store._read(when, table["table"])
    with client.sit(table["keys"]["0"]) as seat:
        seat.until("position")
    ((after,),) = client.server.store._read(when, table["table"])
    assert after > before


def opened_before(client: Client) -> bool:
    return bool(client.server.store._read("select 1 from tables limit 1"))


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a user's folder from others")
def test_the_games_are_the_users_own(client: Client) -> None:
    bases = client.server.store._read("pragma database_list")
    (path,) = (path for _, name, path in bases if name == "main")
    for file in Path(path).parent.iterdir():
        assert file.stat().st_mode & 0o077 == 0
