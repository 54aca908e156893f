"""Evaluations of language models: results on duplicate deals, and what the models used."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_servers import Body, ChatServer, Wrong, chat_server, first_legal, legal_in, nonsense
from commands import hanamachi
from rich.console import Console

from hanamachi.errors import UserError
from hanamachi.training import Config, train
from hanamachi.training.evaluation import report
from hanamachi.training.evaluation.matches import evaluate
from hanamachi.training.evaluation.page import evaluation_page

SMALL = {"max_rounds": 1}


@pytest.fixture(autouse=True)
def own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(erratic) as running:
        yield running


def erratic(body: Body) -> str:
    """The same reply to the same prompt; one in six is nonsense."""
    rng = random.Random(json.dumps(body["messages"]))
    return rng.choice([nonsense(body), *[f"<action>{rng.choice(legal_in(body))}</action>"] * 5])


def name(server: ChatServer, settings: str = "") -> str:
    return f"model:test?url={server.url}&wait=0.001&price_in=1000{settings}"


def evaluated(server: ChatServer, settings: str = "", **how: Any) -> Any:
    model = name(server, settings)
    how = {"opponents": ["greedy"], "strict": False, **SMALL, **how}
    return evaluate([model], "hanamikoji", 16, **how)


def test_an_evaluation_says_what_a_model_used(server: ChatServer) -> None:
    result = evaluated(server)
    (row,), (use,) = result.results, result.models
    assert (row.policy, row.opponent, row.games) == (use.policy, "greedy", 16)
    assert use.replies == len(server.asked)
    assert use.decisions == sum(len(body["messages"]) == 2 for body in server.asked)
    illegal = sum(not erratic(body).startswith("<action>") for body in server.asked)
    assert use.illegal == pytest.approx(illegal / use.replies, abs=1e-6)
    assert use.tokens_in == sum(
        len(message["content"].split()) for body in server.asked for message in body["messages"]
    )
    assert use.cost == pytest.approx(use.tokens_in / 1000)
    assert result.as_json()["models"][0]["tokens_in"] == use.tokens_in


def test_the_report_fits_a_terminal_and_the_page_has_all_of_it(server: ChatServer) -> None:
    result = evaluated(server)
    console = Console(width=80)
    with console.capture() as printed:
        console.print(report.tables(result))
    page = evaluation_page(result)
    (use,) = result.models
    for text in (printed.get(), page):
        for words, figure in use.figures().items():
            assert words in text
            assert figure in text
    assert not evaluate(["random"], "hanamikoji", 4, opponents=["greedy"], **SMALL).models


def test_the_batch_size_changes_no_bit(server: ChatServer) -> None:
    texts = {json.dumps(evaluated(server, batch=batch).as_json()) for batch in (8192, 6, 2)}
    assert len(texts) == 1


def test_a_model_that_stays_illegal_forfeits_only_these_games(server: ChatServer) -> None:
    result = evaluated(server, "&illegal=forfeit")
    (forfeits,) = result.forfeits
    assert 0 < forfeits.games < 16
    assert "legal action" in forfeits.error
    (use,) = result.models
    assert use.decisions == use.replies == len(server.asked)  # games are asked about in halves
    assert round(use.illegal * use.replies) == forfeits.games


def test_a_server_that_stops_is_no_fault_of_the_model(server: ChatServer, tmp_path: Path) -> None:
    """The evaluation stops, and goes on where it was, without asking for anything twice."""
    undisturbed = evaluated(server)
    total = len(server.asked)
    server.asked.clear()
    settings, out = f"&cache={tmp_path / 'new'}&attempts=1&parallel=1", tmp_path / "out"
    server.wrong = [None] * (total // 2)
    server.always = Wrong(503)
    with pytest.raises(UserError, match="no answer"):
        evaluated(server, settings, batch=4, out=out)
    server.always, server.wrong = None, []
    resumed = evaluated(server, settings, batch=4, out=out)
    assert len(server.asked) <= total + 1  # the one that failed
    assert resumed.results[0].rate == undisturbed.results[0].rate
    assert resumed.models[0].tokens_in == undisturbed.models[0].tokens_in
    again = evaluated(server, settings, batch=4, out=out)
    assert again.as_json() == resumed.as_json()


def test_a_model_meets_itself_at_one_half(server: ChatServer) -> None:
    result = evaluate([name(server)] * 2, "hanamikoji", 8, strict=False, **SMALL)
    assert result.results[0].rate[0, 1] == 0.5


def test_a_model_plays_together_with_itself_and_others() -> None:
    team = {"colours": 2, "ranks": 3, "hand_size": 2}
    with chat_server(first_legal) as server:
        result = evaluate([name(server)], "hanabi:2p", 4, opponents=["expert"], **team)
    alone, _ = result.results
    assert alone.partners == alone.policy
    assert [use.policy for use in result.models] == [alone.policy]
    assert result.models[0].replies >= len(server.asked)  # equal prompts are asked once


def test_the_command_evaluates_a_model(server: ChatServer, tmp_path: Path) -> None:
    words = ["evaluate", name(server), "expert", "--game", "hanamikoji", "--games", 4]
    printed = hanamachi([*words, "--set", "max_rounds=1", "--play", "sample"], tmp_path)
    assert "language models" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_training_refuses_a_model_in_a_sentence(server: ChatServer, tmp_path: Path) -> None:
    small = {"game": "hanamikoji", "steps": 8, "num_games": 2, "options": SMALL}
    network, ppo = {"hidden": [8]}, {"n_steps": 4, "batch_size": 4}
    for number, more in enumerate(
        ({"opponents": {name(server): 1.0}}, {"init_from": name(server)})
    ):
        config = Config(**small, network=network, ppo=ppo, **more)  # type: ignore[arg-type]
        with pytest.raises(UserError, match="plays from views"):
            train(config, tmp_path / str(number))
    assert not server.asked
