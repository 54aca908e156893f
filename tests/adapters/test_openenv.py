"""OpenEnv serves the same games as Gymnasium, each session its own."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hanamachi.adapters.gymnasium_text import TextEnv
from hanamachi.errors import UserError
from hanamachi.policies.rules.rule_policy import RandomPolicy

pytest.importorskip("openenv.core.env_server")

import uvicorn
from openenv import GenericEnvClient

from hanamachi.adapters.openenv import Reply, TextEnvironment, application

pytestmark = pytest.mark.uncompiled


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of a server in this process."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, args=[[listening]])
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def last_legal(env: TextEnv) -> str:
    return f"I see. <action>{list(env.game.legal().values())[-1]}</action>"


@pytest.mark.parametrize("id", ["hanamikoji", "hanabi:3p"])
def test_a_game_is_that_of_gymnasium(id: str) -> None:
    settings = {"opponent": "greedy", "seat": 1, "prompt": "deductions"}
    ours, plain = TextEnvironment(id, **settings), TextEnv(id, **settings)
    seen, (prompt, info) = ours.reset(seed=3, episode_id="third"), plain.reset(seed=3)
    over, replies = False, 0
    while not over:
        assert (seen.prompt, seen.done) == (prompt, False)
        assert (seen.messages, seen.seat, seen.illegal) == tuple(info.values())
        reply = last_legal(plain)
        seen = ours.step(Reply(reply=reply))
        prompt, reward, over, _, info = plain.step(reply)
        replies += 1
        assert seen.reward == reward
    assert (seen.prompt, seen.done) == (prompt, True)
    assert (ours.state.episode_id, ours.state.step_count) == ("third", replies)


def test_clients_play_games_of_their_own_at_once() -> None:
    games = [TextEnv("hanamikoji", opponent="greedy", seat=0) for _ in range(2)]
    with (
        served(application("hanamikoji", opponent="greedy", seat=0)) as url,
        GenericEnvClient(base_url=url).sync() as one,
        GenericEnvClient(base_url=url).sync() as other,
    ):
        for seed, (client, plain) in enumerate(zip((one, other), games, strict=True)):
            prompt, _ = plain.reset(seed=seed)
            assert client.reset(seed=seed).observation["prompt"] == prompt
        for client, plain in zip((one, other), games, strict=True):
            reply = last_legal(plain)
            prompt, *_ = plain.step(reply)
            assert client.step({"reply": reply}).observation["prompt"] == prompt


def test_an_illegal_reply_is_asked_again_and_then_forfeits() -> None:
    env = TextEnvironment("hanamikoji", illegal="retry:1")
    env.reset(seed=0)
    again = env.step(Reply(reply="I would rather not say."))
    assert (again.done, again.reward) == (False, 0)
    assert again.illegal
    end = env.step(Reply(reply="I would rather not say."))
    assert (end.done, end.reward) == (True, -1)


def test_a_reset_ignores_no_option_without_a_word() -> None:
    env = TextEnvironment("hanamikoji")
    with pytest.warns(UserWarning, match="ignores the option .*difficulty"):
        env.reset(seed=0, difficulty=3)
    with pytest.raises(UserError, match="deal"):
        env.reset(deal=[])


def test_a_step_without_a_game_is_refused() -> None:
    with pytest.raises(UserError, match="reset"):
        TextEnvironment("hanamikoji").step(Reply(reply="secret 5"))


def test_the_end_of_a_session_closes_its_opponent(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    monkeypatch.setattr(RandomPolicy, "close", lambda policy: closed.append(policy), raising=False)
    TextEnvironment("hanamikoji", opponent="random").close()
    assert len(closed) == 1
