"""A language model as a policy: what it is told, what its replies do, and what it costs."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_servers import (
    Body,
    ChatServer,
    Wrong,
    chat_server,
    first_legal,
    legal_in,
    nonsense,
    second_thoughts,
)
from messages import assert_one_sentence

import hanamachi
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.text import TextGame
from hanamachi.errors import Unavailable, UserError
from hanamachi.policies import Policy, load_policy
from hanamachi.policies.external.chat import Reply
from hanamachi.policies.external.reply_cache import ReplyCache
from hanamachi.policies.names import is_checkpoint, knows_its_game
from hanamachi.sessions.players import SeatedPlayer, turn_of, turns_of
from hanamachi.sessions.session import Session
from hanamachi.training.evaluation.fingerprints import fingerprint
from hanamachi.training.evaluation.playing import play_games
from hanamachi.training.serve.offers import Offers

every_variant = pytest.mark.parametrize("id", hanamachi.VARIANTS)


@pytest.fixture(autouse=True)
def own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(first_legal) as running:
        yield running


def model(server: ChatServer, game: str = "hanamikoji", settings: str = "") -> Any:
    return load_policy(f"model:test?url={server.url}&wait=0.001{settings}", game)


def begun(policy: Policy, seed: int = 0) -> Session:
    session = Session(policy.variant)
    session.begin(seed)
    return session


def chosen(policy: Policy, session: Session) -> int:
    player = SeatedPlayer(policy, session.variant, games=1)
    return int(player.act(turn_of(session), np.random.default_rng(0))[0])


def played(policy: Policy, games: int = 4) -> Any:
    """What a policy plays against random."""
    against = load_policy("random", policy.variant.id)
    seating = np.tile(np.arange(policy.variant.seats) % 2, (games, 1))
    deals = np.arange(games, dtype=np.uint64)
    return play_games([policy, against], policy.variant, seating, deals, 0, "sample")


# --- What it is told, and what its replies do


@every_variant
def test_a_model_plays_whole_games_of_every_variant(server: ChatServer, id: str) -> None:
    policy = model(server, id)
    _, games = played(policy, 2)
    assert (games["mover"] < 0).all()
    counts = policy.counts()
    assert counts["decisions"] == counts["replies"] >= 2
    assert counts["illegal"] == 0


@pytest.mark.parametrize("prompt", ["bare", "deductions", "memory"])
def test_a_model_is_told_what_a_text_game_tells(server: ChatServer, prompt: str) -> None:
    policy, text = model(server, settings=f"&prompt={prompt}"), TextGame("hanamikoji", seed=3)
    text.prompt = prompt
    text.reset()
    session, rng = begun(policy, 3), np.random.default_rng(0)
    for _ in range(5):
        seat = session.mover
        chosen(policy, session)
        told = server.asked[-1]["messages"]
        assert told == [text.messages(seat)[0], {"role": "user", "content": text.turn(seat)}]
        action = int(rng.choice(list(text.legal())))
        session.step(action)
        text.step(text.legal()[action])


def test_the_list_of_legal_actions_can_be_left_out(server: ChatServer) -> None:
    policy = model(server, settings="&legal_list=false&illegal=random")
    server.always = Wrong(content=b'{"choices": [{"message": {"content": "hm"}}]}')
    chosen(policy, begun(policy))
    assert "legal actions" not in server.asked[0]["messages"][-1]["content"]


def test_the_action_that_it_names_is_played(server: ChatServer) -> None:
    policy = model(server)
    session = begun(policy)
    action = chosen(policy, session)
    assert (
        session.variant.actions.describe(action, session.games[0]) == legal_in(server.asked[0])[0]
    )


def test_a_turn_with_one_legal_action_is_not_asked(server: ChatServer) -> None:
    policy = model(server, "hanabi:2p")
    session = begun(policy)
    turn = turn_of(session)
    mask = np.zeros_like(turn.masks)
    mask[0, turn.masks[0].argmax()] = 1
    asked = policy.with_worlds(turn.worlds())
    assert (asked.distribution(turn.observations, mask, np.zeros((1, 0)))[0] == mask).all()
    assert not server.asked


def test_sampling_is_sent_and_nothing_else(server: ChatServer) -> None:
    policy = model(server, settings="&temperature=0.5&max_tokens=7&price_in=3&reasoning_effort=low")
    chosen(policy, begun(policy))
    sent = {"temperature": 0.5, "max_tokens": 7, "reasoning_effort": "low"}
    assert {k: v for k, v in server.asked[0].items() if k not in ("model", "messages")} == sent


# --- Illegal replies


def test_an_illegal_reply_comes_back_with_what_to_write() -> None:
    with chat_server(second_thoughts) as server:
        policy = model(server)
        chosen(policy, begun(policy))
    first_body, _ = server.asked
    first, second = (body["messages"] for body in server.asked)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": "I would rather not say."}
    assert "<action>" in second[3]["content"]
    assert not [words for words in legal_in(first_body) if words in second[3]["content"]]
    counts = policy.counts()
    assert (counts["decisions"], counts["replies"], counts["illegal"]) == (1, 2, 1)


@pytest.mark.parametrize(("illegal", "asked"), [("retry:2", 3), ("retry:0", 1), ("forfeit", 1)])
def test_replies_that_stay_illegal_are_an_error_in_a_sentence(illegal: str, asked: int) -> None:
    with chat_server(nonsense) as server:
        policy = model(server, settings=f"&illegal={illegal}")
        with pytest.raises(UserError, match="test named no legal action"):
            chosen(policy, begun(policy))
    assert len(server.asked) == asked
    assert policy.counts()["illegal"] == asked


def test_an_illegal_reply_can_be_a_random_action() -> None:
    with chat_server(nonsense) as server:
        policy = model(server, settings="&illegal=random")
        turn = turn_of(begun(policy))
        chances, _ = SeatedPlayer(policy, policy.variant, 1).distribution(turn)
    assert np.allclose(chances, turn.masks / turn.masks.sum())
    assert len(server.asked) == 1


def test_an_empty_reply_is_illegal() -> None:
    with chat_server(lambda body: "") as server:
        policy = model(server, settings="&illegal=retry:1")
        with pytest.raises(UserError, match="2 replies"):
            chosen(policy, begun(policy))


# --- Requests


@pytest.mark.parametrize("parallel", [1, 4])
def test_several_requests_run_at_once(parallel: int, tmp_path: Path) -> None:
    all_there = threading.Barrier(parallel, timeout=30)

    def reply(body: Body) -> str:
        all_there.wait()
        return first_legal(body)

    with chat_server(reply, seconds=0.05) as server:
        played_first = model(server, settings=f"&parallel={parallel}&cache={tmp_path / 'replies'}")
        sessions = [begun(played_first, seed) for seed in range(4)]
        games = np.concatenate([session.games for session in sessions])
        ask_all(played_first, sessions, games)
        assert server.most_at_once == parallel


def ask_all(policy: Any, sessions: list[Session], games: Any) -> None:
    """One decision in each of several games."""
    rows = np.arange(len(sessions))
    turns = turns_of(policy.variant, games, rows, history=lambda row: sessions[row].history())
    SeatedPlayer(policy, policy.variant, len(sessions)).distribution(turns)


def test_a_server_without_answers_stops_everything(server: ChatServer) -> None:
    server.always = Wrong(503)
    policy = model(server, settings="&attempts=2")
    with pytest.raises(Unavailable, match="2 attempts"):
        chosen(policy, begun(policy))


def test_of_several_requests_the_one_that_failed_first_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with chat_server(first_legal) as gone:
        policy = model(gone, settings="&parallel=2")
    reply, is_first = policy._reply, iter([True])

    def first_is_late(messages: Any, stop: Any) -> Reply:
        if next(is_first, False):
            stop.wait(10)
        return reply(messages, stop)

    monkeypatch.setattr(policy, "_reply", first_is_late)
    sessions = [begun(policy, seed) for seed in range(2)]
    with pytest.raises(Unavailable, match="start the server"):
        ask_all(policy, sessions, np.concatenate([session.games for session in sessions]))


def test_tokens_and_costs_are_counted(server: ChatServer) -> None:
    policy = model(server, settings="&price_in=2&price_out=1000000")
    chosen(policy, begun(policy))
    counts, prompt = policy.counts(), server.asked[0]["messages"]
    assert counts["characters"] == sum(len(message["content"]) for message in prompt)
    assert counts["tokens_in"] == sum(len(message["content"].split()) for message in prompt)
    assert counts["tokens_out"] == len(first_legal(server.asked[0]).split())
    assert counts["cost"] == pytest.approx(2e-6 * counts["tokens_in"] + counts["tokens_out"])


# --- Replies that are kept


def test_the_same_games_cost_nothing_twice(server: ChatServer) -> None:
    first, again = model(server), model(server)
    before = played(first)
    asked = len(server.asked)
    after = played(again)
    assert len(server.asked) == asked > 0
    assert (before[0] == after[0]).all()
    assert first.counts() == again.counts()


def test_another_temperature_prompt_or_file_is_asked_anew(
    server: ChatServer, tmp_path: Path
) -> None:
    for number, settings in enumerate(
        ("", "&temperature=1", "&prompt=memory", f"&cache={tmp_path / 'other.sqlite'}"), 1
    ):
        policy = model(server, settings=settings)
        chosen(policy, begun(policy))
        assert len(server.asked) == number


def test_the_key_is_in_no_name_and_no_file(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    policy = model(server)
    chosen(policy, begun(policy))
    assert server.headers[0]["Authorization"] == "Bearer sk-very-secret"
    assert policy.name == "test"
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not any(b"sk-very" in file.read_bytes() for file in files)


def test_a_damaged_file_of_replies_is_said(server: ChatServer, tmp_path: Path) -> None:
    file = tmp_path / "replies"
    file.write_bytes(b"no database" * 100)
    policy = model(server, settings=f"&cache={file}")
    with pytest.raises(UserError, match="cache=PATH"):
        chosen(policy, begun(policy))


def test_the_first_reply_to_a_request_stays(server: ChatServer, tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "folder" / "replies")
    first, second = Reply("a\0b", 1, 2), Reply("c", 3, 4)
    assert cache.find("x") is None
    assert cache.keep("x", first) == cache.keep("x", second) == cache.find("x") == first
    with sqlite3.connect(cache.path) as replies:
        assert replies.execute("select count(*) from replies").fetchone() == (1,)


# --- Names


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("model:", "name"),
        ("model:?url=http://host", "name"),
        ("model:x", "url"),
        ("model:x?url=host", "url must"),
        ("model:x?url=http://host&prompt=long", "prompt"),
        ("model:x?url=http://host&illegal=never", "illegal"),
        ("model:x?url=http://host&tempreature=0", "temperature"),
        ("model:x?url=http://host&temperature=hot", "temperature must be a number"),
        ("model:x?url=http://host&temperature=true", "temperature must be a number"),
        ("model:x?url=http://host&legal_list=1", "true or false"),
        ("model:x?url=http://host&parallel=0", "parallel must be from 1"),
        ("model:x?url=http://host&parallel=2.5", "whole number"),
        ("model:x?url=http://host&timeout=.nan", "timeout must be from"),
        ("model:x?url=http://host&wait=301", "wait must be from 0 to 300"),
        ("model:x?url=http://host&temperature=.nan", "temperature must be from"),
        ("model:x?url=http://host&top_p=.inf", "top_p must be from"),
        ("model:x?url=http://host&seed=1&seed=2", "twice"),
        ("model:x?url=http://host&cache=%00", "file"),
        ("model:x?url=http://host&key=NO_SUCH", "NO_SUCH"),
    ],
)
def test_a_name_that_does_not_fit_is_refused_in_a_sentence(name: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem) as refused:
        load_policy(name, "hanamikoji")
    assert_one_sentence(refused.value)


def test_a_name_may_hold_slashes_colons_and_escapes(server: ChatServer) -> None:
    policy = load_policy(f"model:org/llama:8b?url={server.url.replace(':', '%3A')}", "hanamikoji")
    chosen(policy, begun(policy))
    assert server.asked[0]["model"] == policy.name == "org/llama:8b"


def test_a_model_is_no_file_and_has_no_game_of_its_own() -> None:
    name = "model:org/x?url=http://host/v1&cache=a.onnx"
    assert not is_checkpoint(name)
    assert not knows_its_game(name)
    assert fingerprint(name) == ""
    with pytest.raises(UserError, match="needs a game"):
        load_policy(name)


# --- Where it plays


def test_a_model_sits_in_an_environment(server: ChatServer) -> None:
    env = SeatEnv("hanamikoji", opponent=model(server))
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert server.asked


def test_a_search_refuses_a_model(server: ChatServer) -> None:
    with pytest.raises(UserError, match="cannot be searched"):
        load_policy(f"search:improve:model:test?url={server.url}:worlds=4", "hanamikoji")


def test_no_browser_can_name_a_model(server: ChatServer) -> None:
    name = f"model:test?url={server.url}"
    with pytest.raises(UserError, match="there is no policy"):
        Offers().spec(hanamachi.variant("hanamikoji"), name, with_people=False)
    offered = Offers([name]).policies("hanamikoji")
    assert [label for label, spec in offered.items() if spec == name] == ["test (policy 1)"]
