"""Asking an endpoint: what passes is tried again, all else ends in one sentence without the key."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from threading import Event

import pytest
from chat_servers import Body, ChatServer, Wrong, chat_server

from hanamachi.errors import Unavailable, UserError
from hanamachi.policies.external.chat import Chat, Reply, seconds

KEY = "sk-very-secret"


def hello(body: Body) -> str:
    return "hello there"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with chat_server(hello) as running:
        yield running


USUAL = {"sampling": {}, "key": "", "timeout": 120.0, "attempts": 3, "wait": 0.001}


def chat_at(url: str, **settings: object) -> Chat:
    return Chat(url, "test", **{**USUAL, **settings})  # type: ignore[arg-type]


def chat(server: ChatServer, **settings: object) -> Chat:
    return chat_at(server.url, **settings)


class Waits(Event):
    """Notes the seconds of each wait instead of waiting; with `stops`, a stop then comes."""

    def __init__(self, stops: bool = False) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self.stops = stops

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        return self.stops


def ask(asked: Chat, stop: Event | None = None) -> Reply:
    return asked.ask(asked.request([{"role": "user", "content": "hi you"}]), stop or Event())


def test_a_proxy_that_cannot_be_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for proxy in ("http:/proxy", "http://a..b:80", "http://proxy:port"):
        monkeypatch.setenv("http_proxy", proxy)
        with pytest.raises(Unavailable, match="http_proxy") as caught:
            ask(chat_at("http://far.example/v1", wait=60))
        assert len(str(caught.value)) <= 300


def test_a_request_has_the_model_the_messages_and_the_sampling(server: ChatServer) -> None:
    assert ask(chat(server, sampling={"temperature": 0})) == Reply("hello there", 2, 2)
    (body,) = server.asked
    expected = {"model": "test", "temperature": 0}
    assert body == {**expected, "messages": [{"role": "user", "content": "hi you"}]}
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


BUSY = json.dumps({"error": {"message": "slow down"}}).encode()
PASSING = {
    "busy": Wrong(429, content=BUSY),
    "failing": Wrong(500),
    "not JSON": Wrong(content=b"<html>"),
    "no reply": Wrong(content=b'{"choices": []}'),
    "no text": Wrong(content=b'{"choices": [{"message": {"content": 5}}]}'),
    "a list": Wrong(content=b"[1]"),
    "cut": Wrong(content=b'{"choices": [{"message": {"content": "hello there"}}]}', cut=True),
    "slow": Wrong(seconds=3),
}


def patient(server: ChatServer, wrong: Wrong) -> Chat:
    """It waits long for an answer, unless that is to come too late."""
    return chat(server, timeout=1 if wrong.seconds else 30)


@pytest.mark.parametrize("wrong", PASSING.values(), ids=PASSING)
def test_what_passes_is_tried_again(server: ChatServer, wrong: Wrong) -> None:
    server.wrong = [wrong, wrong]
    assert ask(patient(server, wrong)).text == "hello there"
    assert len(server.asked) == 3


@pytest.mark.parametrize("wrong", PASSING.values(), ids=PASSING)
def test_what_does_not_pass_ends_in_a_sentence(server: ChatServer, wrong: Wrong) -> None:
    server.always = wrong
    with pytest.raises(Unavailable, match="3 attempts") as refused:
        ask(patient(server, wrong))
    assert len(server.asked) == 3
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
def test_a_refusal_is_final_and_never_repeats_the_key(server: ChatServer, status: int) -> None:
    said = json.dumps({"error": {"message": f"bad request with {KEY}"}}).encode()
    server.always = Wrong(status, {"Location": server.url}, said)
    with pytest.raises(Unavailable, match=str(status)) as refused:
        ask(chat(server))
    assert len(server.asked) == 1
    assert KEY not in str(refused.value)


def test_an_empty_reply_is_a_reply(server: ChatServer) -> None:
    server.always = Wrong(content=b'{"choices": [{"message": {"content": null}}]}')
    assert ask(chat(server)) == Reply("", 0, 0)


def test_half_a_character_becomes_a_question_mark(server: ChatServer) -> None:
    server.always = Wrong(content=b'{"choices": [{"message": {"content": "a\\ud800"}}]}')
    assert ask(chat(server)).text == "a?"


def test_nobody_at_the_address_is_said_at_once() -> None:
    with chat_server(hello) as gone:
        pass
    waits = Waits()
    with pytest.raises(Unavailable, match="start the server"):
        ask(chat(gone), waits)
    assert not waits.seconds


# --- Waits


def test_a_server_that_asks_for_time_gets_it(server: ChatServer) -> None:
    server.wrong, waits = [Wrong(429, {"Retry-After": "7"})], Waits()
    ask(chat(server), waits)
    assert waits.seconds == [7]


def test_waits_grow(server: ChatServer) -> None:
    server.always, waits = Wrong(503), Waits()
    with pytest.raises(Unavailable):
        ask(chat(server, wait=4.0, attempts=4), waits)
    for wait, about in zip(waits.seconds, (4, 8, 16), strict=True):
        assert about / 2 <= wait <= 1.5 * about


def test_a_stop_ends_the_waits(server: ChatServer) -> None:
    server.always = Wrong(503)
    with pytest.raises(Unavailable):
        ask(chat(server), Waits(stops=True))
    assert len(server.asked) == 1


def test_once_a_stop_is_set_nothing_is_sent(server: ChatServer) -> None:
    stop = Event()
    stop.set()
    with pytest.raises(CancelledError):
        chat(server).ask(b"{}", stop)
    assert not server.asked


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_that_drips_is_given_up_in_time(server: ChatServer, status: int) -> None:
    server.always = Wrong(status, content=b" " * 1_000, drip=0.1)
    before = time.monotonic()
    with pytest.raises(Unavailable, match="too long" if status == 200 else "500"):
        ask(chat(server, timeout=0.2, attempts=1))
    assert time.monotonic() - before < 50  # half the time of the whole answer


def test_headers_that_drip_are_given_up_in_time(server: ChatServer) -> None:
    server.always = Wrong(drip_header=0.1)
    before = time.monotonic()
    with pytest.raises(Unavailable, match="too long"):
        ask(chat(server, timeout=0.2, attempts=1))
    assert time.monotonic() - before < 1.5  # dripping takes 2.3 seconds


def test_headers_and_content_have_one_time_together(server: ChatServer) -> None:
    server.always = Wrong(seconds=0.5, stall=2)
    before = time.monotonic()
    with pytest.raises(Unavailable, match="too long"):
        ask(chat(server, timeout=1, attempts=1))
    assert time.monotonic() - before < 1.5


def test_a_retry_may_be_given_as_a_date() -> None:
    assert seconds("Wed, 21 Oct 2015 07:28:00 GMT") < 0
    assert seconds("7") == 7
    assert seconds("soon") == seconds("") == 0
    assert seconds("Mon, 01 Jan 99999999999 00:00:00 GMT") == 0


# --- Addresses and keys


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8000",
        "ftp://host/v1",
        "http:///v1",
        "http://[::1/v1",
        "http://.host/v1",
        f"http://{64 * 'a'}.host/v1",
        "http://127.0.0.1:80a/v1",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1:8000/\u00e9/v1",
        "http://127.0.0.1:8000/a b/v1",
        f"http://me:{KEY}@host/v1",
        f"https://host/v1?key={KEY}",
    ],
)
def test_an_address_that_is_none_or_holds_a_key_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="url must") as refused:
        chat_at(url)
    assert KEY not in str(refused.value)


def test_the_key_can_have_another_name(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "mine\n")
    ask(chat(server, key="MY_KEY"))
    assert server.headers[0]["Authorization"] == "Bearer mine"
    with pytest.raises(UserError, match="NO_SUCH_KEY"):
        chat(server, key="NO_SUCH_KEY")


def test_a_key_that_cannot_be_sent_is_not_shown(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nX-Other: 1")
    with pytest.raises(UserError, match="OPENAI_API_KEY") as refused:
        ask(chat(server))
    assert KEY not in str(refused.value)


def test_the_usual_key_leaves_this_computer_only_by_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_KEY", "mine")
    sent = {
        url: chat_at(url, key=key)._key()
        for url, key in {
            "https://host/v1": "",
            "http://localhost:8000/v1": "",
            "http://host/v1": "",
            "http://named/v1": "MY_KEY",
        }.items()
    }
    assert list(sent.values()) == [KEY, KEY, "", "mine"]
