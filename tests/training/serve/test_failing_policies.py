"""A policy that fails or hangs takes nothing from its table, nor from the others."""

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from serving import HUMAN, Client, Seat, served

from hanamachi.errors import UserError
from hanamachi.policies.agents import agent_folder
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import uniform

GAME, NAME = "hanamikoji", "unsure (policy 1)"
UNSURE = "policies_that_fail:unsure"
SEARCH = f"search:improve:{UNSURE}:worlds=1"
SEARCH_NAME = "search improve policies_that_fail unsure worlds=1 (policy 2)"


class Unsure(Policy):
    """Fails while it is told to, and waits until it may move."""

    name = "unsure"
    fails = False
    error = ValueError("I do not know")
    may_move = threading.Event()

    def distribution(self, observation: Any, mask: Any, memory: Any) -> Any:
        if type(self).fails:
            raise self.error
        self.may_move.wait()
        return uniform(mask), None, memory


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    module: Any = ModuleType("policies_that_fail")
    module.unsure = Unsure
    sys.modules[module.__name__] = module
    with served(tmp_path_factory.mktemp("data"), [UNSURE, SEARCH]) as found:
        yield found
    del sys.modules[module.__name__]


@pytest.fixture(autouse=True)
def sure(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Unsure.may_move.set()
    yield
    Unsure.fails = False


def stuck(seat: Seat) -> Any:
    """Move until the policy is to move, and fails; returns the position."""
    position, acted = seat.position(), -1
    Unsure.fails = True
    while not position["failed"]:
        legal = position["view"]["legal"]
        if legal and position["number"] > acted:  # else it is shown again, as others come and go
            seat.act(position, legal[0]["action"])
            acted = position["number"]
        position = seat.until("position")
    return position


def test_a_policy_that_failed_can_be_asked_again(client: Client) -> None:
    with client.sit(client.table(GAME, HUMAN, NAME)["keys"]["0"]) as seat:
        position = stuck(seat)
        assert "did not move" in position["failed"]
        Unsure.fails = False
        seat.send(type="step", number=position["number"])
        moved = seat.position(position["number"] + 1)
        assert moved["failed"] is None
        seat.send(type="step", number=moved["number"])  # nobody has failed now
        seat.until("refused")


def test_a_new_game_can_begin_where_a_policy_failed(client: Client) -> None:
    with client.sit(client.table(GAME, HUMAN, NAME)["keys"]["0"]) as seat:
        before = stuck(seat)
        Unsure.fails = False
        seat.send(type="new")
        fresh = seat.position()
        assert fresh["game"] == before["game"] + 1
        assert fresh["failed"] is None
        moves = client.get(f"/api/replays/{fresh['last_replay']}").json["moves"]
        assert len(moves) == before["number"]


@contextmanager
def at_once(client: Client) -> Iterator[None]:
    """What browsers send inside arrives before any of it changes a table."""
    sent = threading.Event()
    client.server.quick._thread.submit(sent.wait)
    try:
        yield
    finally:
        client.get("/")  # so that all of it has arrived
        sent.set()


def after_all(seat: Seat) -> list[Any]:
    """What a browser gets until all that it sent is answered."""
    seat.send(type="nothing")
    answers = [seat.next()]
    while "type of message" not in answers[-1].get("words", ""):
        answers.append(seat.next())
    return answers[:-1]


@contextmanager
def stuck_twins(client: Client) -> Iterator[tuple[Seat, Seat, Any]]:
    """Two browsers in one seat, and the position in which the policy failed."""
    key = client.table(GAME, HUMAN, NAME, options={"starter": 0})["keys"]["0"]
    with client.sit(key) as seat, client.sit(key) as twin:
        yield seat, twin, stuck(seat)


def test_a_game_is_given_up_once(client: Client) -> None:
    with stuck_twins(client) as (seat, twin, before):
        with at_once(client):
            seat.send(type="new")
            twin.send(type="new")
        answers = after_all(seat) + after_all(twin)
        assert [each["type"] for each in answers].count("refused") == 1
        twin.socket.close()  # so that the position is shown again: `after_all` may have read it
        assert seat.position()["game"] == before["game"] + 1


def test_no_policy_is_asked_while_a_new_game_begins(client: Client) -> None:
    with stuck_twins(client) as (seat, twin, before):
        with at_once(client):
            seat.send(type="new")
            client.get("/")
            twin.send(type="step", number=before["number"])
        assert any(each["type"] == "refused" for each in after_all(twin))
        fresh = seat.position()
        assert (fresh["game"], fresh["failed"]) == (before["game"] + 1, None)


@pytest.mark.parametrize("name", [NAME, SEARCH_NAME])
def test_a_policy_that_hangs_holds_up_no_other_table(client: Client, name: str) -> None:
    table = client.table(GAME, HUMAN, name, options={"starter": 0})
    search = "search:improve:hanamikoji:worlds=32"
    other = client.table(GAME, HUMAN, search, options={"starter": 1})
    with client.sit(table["keys"]["0"]) as seat:
        position = seat.position()
        Unsure.may_move.clear()
        seat.act(position, position["view"]["legal"][0]["action"])
        with client.sit(other["keys"]["0"]) as elsewhere:
            assert elsewhere.position()["view"]["legal"]
        Unsure.may_move.set()


def test_why_a_policy_failed_is_for_the_log_alone(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Unsure, "error", UserError("nothing at /home/me"))
    with client.sit(client.table(GAME, HUMAN, NAME)["keys"]["0"]) as seat:
        assert "/home/me" not in stuck(seat)["failed"]
    (record,) = [each for each in caplog.records if each.name == "hanamachi.serve"]
    assert "/home/me" in record.getMessage()
    assert not record.exc_info


def test_why_a_policy_cannot_be_loaded_is_for_the_log_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(agent_folder(GAME), tmp_path / "run" / "policy")
    name = "run/policy (policy 1)"
    with served(tmp_path / "data", [str(tmp_path / "run" / "policy")]) as client:
        shutil.rmtree(tmp_path / "run")
        answer = client.post("/api/tables", {"game": GAME, "seats": [HUMAN, name]})
    assert answer.status == 400
    assert answer.json["error"].startswith(name)
    assert str(tmp_path) not in answer.json["error"]
    (record,) = [each for each in caplog.records if each.name == "hanamachi.serve"]
    assert str(tmp_path) in record.getMessage()
