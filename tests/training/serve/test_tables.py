"""Games at the tables, from the first deal to the last card, by the sockets of their seats."""

import asyncio
import itertools
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import HUMAN, Client

import hanamachi
from hanamachi.games.registry import variant
from hanamachi.training.serve.offers import Offers
from hanamachi.training.serve.protocol import Opening
from hanamachi.training.serve.store import Store
from hanamachi.training.serve.table_server import OpenTable, TableServer

GAMES = ["hanamikoji:three_rounds", "geishas_road:2021", "hanabi:2p"]  # one of each family


def played(seat: Any, rng: np.random.Generator) -> Any:
    """Play to the end; returns the last position."""
    position = seat.position()
    while not position["view"]["over"]:
        position = seat.play_on(position, rng)
    return position


@pytest.mark.parametrize("game", GAMES)
def test_a_person_plays_a_whole_game_with_policies(client: Client, game: str) -> None:
    others = ["expert"] * (variant(game).seats - 1)
    table = client.table(game, HUMAN, *others)
    assert list(table["keys"]) == ["0"]
    assert table["watch"] is None
    with client.sit(table["keys"]["0"]) as seat:
        last = played(seat, np.random.default_rng(0))
    assert last["open"]
    assert last["view"]["seat"] is None
    assert [player["name"] for player in last["players"]] == ["you", *others]
    moves = client.get(f"/api/replays/{last['replay']}").json["moves"]
    assert len(moves) == last["number"]
    won = "player 0 has won" in last["view"]["status"]
    outcome = None if last["view"]["cooperative"] else "won" if won else "lost"
    assert last["outcome"] == outcome


@pytest.mark.parametrize("game", ["hanamikoji:three_rounds", "geishas_road:2021"])
def test_the_end_of_a_round_is_shown_until_the_seat_acts_again(client: Client, game: str) -> None:
    table, rng = client.table(game, HUMAN, "expert", seed=7), np.random.default_rng(0)
    shown = []
    with client.sit(table["keys"]["0"]) as seat:
        position = seat.position()
        while not position["view"]["over"]:
            ended = any("is over" in event["words"] for event in position["log"])
            assert ended or position["round_end"] is None
            shown.append(position["round_end"])
            position = seat.play_on(position, rng)
    assert any(shown)
    assert all(picture is None or picture.startswith("<svg") for picture in shown)
    assert not any(one and one == other for one, other in itertools.pairwise(shown))


def test_the_end_tells_all_that_others_did_since_the_own_move(client: Client) -> None:
    table = client.table("hanabi:3p", HUMAN, "random", "random", seed=0)
    with client.sit(table["keys"]["0"]) as seat:
        last = played(seat, np.random.default_rng(0))
    log, events = last["log"], last["view"]["events"]
    own = max(place for place, event in enumerate(log) if event["by"] == 0)
    others = [event for event in log[own:] if event["by"] not in (None, 0)]
    assert len(others) == 2
    assert [event for event in events if event["by"] not in (None, 0)] == others


@pytest.mark.parametrize("game", GAMES)
def test_people_play_a_whole_game_with_each_other(client: Client, game: str) -> None:
    keys = client.table(game, HUMAN, HUMAN)["keys"]
    rng = np.random.default_rng(1)
    with client.sit(keys["0"]) as one, client.sit(keys["1"]) as other:
        seats, position = (one, other), one.until("position")
        while not position["view"]["over"]:
            number, mover = position["number"], position["view"]["mover"]
            own = position if mover == 0 else other.position(number)
            assert own["number"] == number
            legal = [each["words"] for each in own["view"]["legal"]]
            seats[mover].send(type="act", number=number, words=str(rng.choice(legal)))
            while position["number"] <= number:
                position = one.until("position")
        assert position["replay"] == other.position(position["number"])["replay"]


@pytest.mark.parametrize("game", GAMES)
def test_who_watches_policies_leads_their_game_step_by_step(client: Client, game: str) -> None:
    table = client.table(game, "expert", "random", seed=3)
    assert table["keys"] == {}
    with client.sit(table["watch"]) as watch:
        position, seen = watch.until("position"), 0
        while not position["view"]["over"]:
            assert position["open"]
            assert position["number"] == seen
            watch.send(type="step", number=seen)
            seen += 1
            while position["number"] < seen:
                position = watch.until("position")


def test_equal_seeds_lead_to_equal_games(client: Client) -> None:
    keys = [client.table("hanamikoji", HUMAN, "hanamikoji", seed=9)["keys"]["0"] for _ in "ab"]
    ends = []
    for key in keys:
        with client.sit(key) as seat:
            ends.append(played(seat, np.random.default_rng(5))["log"])
    assert ends[0] == ends[1]


def test_a_table_of_several_people_takes_no_seed(client: Client) -> None:
    wanted = {"game": "hanamikoji", "seats": [HUMAN, HUMAN], "seed": 1}
    assert client.post("/api/tables", wanted).status == 400


def test_the_same_seats_play_again_when_the_game_is_over(client: Client) -> None:
    key = client.table("hanamikoji:three_rounds", HUMAN, "greedy")["keys"]["0"]
    rng = np.random.default_rng(2)
    with client.sit(key) as seat:
        first = played(seat, rng)
        seat.send(type="new")
        fresh = seat.position()
        assert fresh["number"] <= 2
        assert fresh["replay"] is None
        assert fresh["last_replay"] == first["replay"]
        assert not fresh["open"]
        seat.send(type="new")  # a second click: the game has begun
        seat.until("refused")
        while not fresh["view"]["over"]:
            fresh = seat.play_on(fresh, rng)
        assert fresh["replay"] != first["replay"]


def test_hints_come_for_the_own_turn_only(client: Client) -> None:
    keys = client.table("hanamikoji", HUMAN, HUMAN)["keys"]
    with client.sit(keys["0"]) as one, client.sit(keys["1"]) as other:
        position = one.until("position")
        number = position["number"]
        asking, waiting = (one, other) if position["view"]["mover"] == 0 else (other, one)
        asking.send(type="hint", number=number)
        hint = asking.until("hint")
        assert 0 < sum(chance for chance, _ in hint["choices"]) <= 1 + 1e-6
        assert -1 <= hint["value"] <= 1
        waiting.send(type="hint", number=number)
        waiting.until("refused")


def test_everybody_sees_who_is_there(client: Client) -> None:
    keys = client.table("hanamikoji", HUMAN, HUMAN)["keys"]
    with client.sit(keys["0"]) as one:
        assert [each["here"] for each in one.until("position")["players"]] == [True, False]
        with client.sit(keys["1"]):
            assert [each["here"] for each in one.until("position")["players"]] == [True, True]
        assert [each["here"] for each in one.until("position")["players"]] == [True, False]


def test_a_browser_that_comes_back_goes_on_with_its_game(client: Client) -> None:
    key = client.table("hanamikoji", HUMAN, "expert")["keys"]["0"]
    rng, number = np.random.default_rng(0), 0
    for _ in range(5):
        with client.sit(key) as seat:
            position = seat.position(number)
            assert position["number"] >= number
            number = seat.play_on(position, rng)["number"]
    with client.sit(key) as one, client.sit(key) as twin:
        assert one.position(number)["view"] == twin.position(number)["view"]


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_the_usual_policy_sits_down_in_every_game(client: Client, id: str) -> None:
    (game,) = (each for each in client.get("/api/games").json["games"] if each["id"] == id)
    assert game["usual"] in game["policies"]
    table = client.table(id, HUMAN, *[game["usual"]] * (game["seats"] - 1))
    with client.sit(table["keys"]["0"]) as seat:
        assert seat.position()["view"]["variant"] == id


def test_policies_that_search_play_too(client: Client, tmp_path: Path) -> None:
    table = client.table("hanamikoji", "search:improve:hanamikoji:worlds=32", HUMAN)
    rng = np.random.default_rng(0)
    with client.sit(table["keys"]["1"]) as seat:
        position = seat.position()
        for _ in range(3):
            position = seat.play_on(position, rng)


def test_all_who_come_back_at_once_sit_at_one_table_even_if_the_first_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restored, may_go_on = TableServer._restored, asyncio.Event()

    async def slowly(self: TableServer, id: str) -> OpenTable:
        await may_go_on.wait()
        return await restored(self, id)

    async def come_back(server: TableServer) -> list[OpenTable]:
        opened = await server.open(Opening("hanamikoji", {}, (HUMAN, HUMAN), None), "here")
        found = [await server.place_of(key) for key in opened["keys"].values()]
        places = [place for place in found if place]
        first, *others = (
            asyncio.create_task(server.enter(place, "here")) for place in (places[0], *places)
        )
        while len(server._restoring) == 0:
            await asyncio.sleep(0)
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        others.append(asyncio.create_task(server.enter(places[1], "here")))
        await asyncio.sleep(0.1)
        may_go_on.set()
        return [table for table, _ in await asyncio.gather(*others)]

    monkeypatch.setattr(TableServer, "_restored", slowly)
    server = TableServer(Store(tmp_path), Offers())
    one, *others = asyncio.run(come_back(server))
    server.close()
    assert all(other is one for other in others)
