"""verifiers plays the same games as Gymnasium, and scores them as they ended."""

import asyncio
from typing import Any

import pytest
from chat_servers import ChatServer, chat_server, first_legal, legal_in, nonsense

from hanamachi.adapters.gymnasium_text import TextEnv
from hanamachi.errors import UserError

vf = pytest.importorskip("verifiers.v1")

from hanamachi.adapters.verifiers import (  # noqa: E402
    ID,
    WordsConfig,
    WordsEnv,
    WordsEnvConfig,
    WordsHarness,
    load_environment,
)

pytestmark = pytest.mark.uncompiled


def episodes(env: Any, server: ChatServer, games: int) -> list[Any]:
    """The first games of an environment."""
    client = vf.EvalClientConfig(base_url=server.url)

    async def play() -> list[Any]:
        async with env.serving():
            slots = [*map(env.slots, env.taskset.take(games))]
            context = vf.ModelContext(model="test", client=client)
            return [await env.run_slot(slot, context) for (slot,) in slots]

    return asyncio.run(play())


def result_in_gymnasium(env: TextEnv, seed: int) -> tuple[float, list[str]]:
    """What first legal actions earn, and all that the seat was told and has replied."""
    _, info = env.reset(seed=seed)
    earned, over = 0.0, False
    while not over:
        asked = info["messages"]
        _, reward, over, _, info = env.step(first_legal({"messages": asked}))
        earned += reward
    return earned, [message["content"] for message in info["messages"]]


@pytest.mark.parametrize("id", ["hanamikoji", "hanabi:3p"])
def test_a_game_is_that_of_gymnasium(id: str) -> None:
    with chat_server(first_legal) as server:
        played = episodes(load_environment(id, opponent="greedy", prompt="deductions"), server, 2)
    plain = TextEnv(id, opponent="greedy", prompt="deductions")
    for seed, episode in enumerate(played):
        (trace,) = episode.traces
        earned, talk = result_in_gymnasium(plain, seed)
        assert episode.ok
        assert trace.reward == earned
        assert [message.content for message in trace.branches[-1].messages] == talk


def test_options_and_seats_are_those_that_were_named() -> None:
    env = load_environment("hanabi:3p", seat=2, starter=1, legal_list=False)
    game = env.taskset.new_game()
    assert game.game.variant.options["starter"] == 1
    _, info = game.reset(seed=0)
    assert info["seat"] == 2
    with pytest.raises(IndexError):
        legal_in(info)


def test_illegal_replies_are_counted_and_forfeit_the_game() -> None:
    with chat_server(nonsense) as server:
        (episode,) = episodes(load_environment("hanamikoji", illegal="retry:1"), server, 1)
    assert episode.ok
    assert episode.traces[0].reward == -1
    assert episode.traces[0].metrics["illegal_replies"] == 2


def test_a_game_that_is_broken_off_at_a_limit_is_forfeited() -> None:
    player = vf.AgentConfig(runtime=vf.SubprocessConfig(), max_turns=1)
    env = WordsEnv(WordsEnvConfig(taskset=WordsConfig(id=ID), player=player))
    with chat_server(first_legal) as server:
        (episode,) = episodes(env, server, 1)
    assert episode.ok
    assert episode.traces[0].reward == -1
    assert len(server.asked) == 1


def test_each_game_ends_what_its_opponent_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[TextEnv] = []
    monkeypatch.setattr(TextEnv, "close", closed.append)
    env = load_environment("hanamikoji")
    assert len(closed) == 1  # in which the settings were tried
    with chat_server(first_legal) as server:
        episodes(env, server, 2)
    assert len(set(map(id, closed))) == 3


def test_programs_of_verifiers_find_it_by_its_id() -> None:
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": ID, "game": "hanabi:2p"}}))
    assert isinstance(env, WordsEnv)
    assert vf.default_agent_harness(ID).id == ID
    assert issubclass(WordsHarness, vf.Harness)
    assert env.taskset.new_game().game.variant.id == "hanabi:2p"


@pytest.mark.parametrize(
    "wrong",
    [{"prompt": "poem"}, {"starters": 1}, {"opponent": "nobody"}, {"options": 3}, {"id": "x"}],
)
def test_settings_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        load_environment("hanamikoji", **wrong)


def test_options_that_are_no_dict_are_called_options() -> None:
    with pytest.raises(UserError, match=r"^options must be"):
        load_environment("hanamikoji", options=3)


def test_options_may_be_given_together_or_one_by_one() -> None:
    together, one_by_one = (
        load_environment("hanamikoji", **given)
        for given in ({"options": {"starter": 0}}, {"starter": 0})
    )
    assert together.taskset.config.options == one_by_one.taskset.config.options == {"starter": 0}
