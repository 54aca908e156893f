"""A server that is killed comes back with its games."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages import assert_one_sentence
from serving import HUMAN, Client, served

from hanamachi.errors import UserError
from hanamachi.training.serve.store import FILE, Store

MOVES = 2  # at random, too few to lose a game of Hanabi
COMMAND = [sys.executable, "-m", "hanamachi.training.cli.main", "serve", "--port", "0"]


@contextmanager
def own_process(folder: Path, *more: str) -> Iterator[tuple[Client, Any]]:
    """A server as a user starts it, which is killed in the end if it still runs.

    It hears Ctrl-C, also where the tests themselves run in the background.
    """
    hear = partial(signal.signal, signal.SIGINT, signal.SIG_DFL) if os.name == "posix" else None
    command = [*COMMAND, "--data", str(folder), *more]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=hear)
    try:
        assert started.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", started.stdout.readline())
        assert found
        yield Client(int(found[1])), started
    finally:
        started.kill()
        started.wait()


def test_a_killed_server_goes_on_where_it_was(tmp_path: Path) -> None:
    rng, positions = np.random.default_rng(0), {}
    with own_process(tmp_path) as (client, process):
        tables = {
            game: client.table(game, *seats, seed=0)
            for game, seats in {
                "hanamikoji": (HUMAN, "hanamikoji"),
                "hanabi:3p": ("hanabi:3p:partner", HUMAN, "expert"),
                "geishas_road:standard": (HUMAN, "greedy"),
                "hanabi:2p": ("hanabi:2p", "expert"),
            }.items()
        }
        keys = {
            game: next(iter(table["keys"].values()), table["watch"])
            for game, table in tables.items()
        }
        for game, key in keys.items():
            with client.sit(key) as seat:
                if game == "hanabi:2p":
                    seat.send(type="step", number=seat.until("position")["number"])
                    seat.until("position")
                    continue
                position = seat.position()
                for _ in range(MOVES):
                    position = seat.play_on(position, rng)
                positions[game] = position
        process.kill()
        process.wait()
    with own_process(tmp_path) as (client, _):
        for game, position in positions.items():
            with client.sit(keys[game]) as seat:
                again = seat.position()
                assert again == position
                seat.play_on(again, rng)
        with client.sit(keys["hanabi:2p"]) as seat:
            assert seat.until("position")["number"] == 1


def test_policies_remember_what_they_knew(tmp_path: Path) -> None:
    """The same moves of a person meet the same answers, with and without a new start between."""
    logs = []
    for folder, starts in (("whole", 1), ("cut", 4)):
        rng, key, number = np.random.default_rng(0), None, 0
        for _ in range(starts):
            with served(tmp_path / folder) as client:
                key = key or client.table("hanabi:2p", HUMAN, "hanabi:2p", seed=7)["keys"]["0"]
                with client.sit(key) as seat:
                    position = seat.position(number)
                    for _ in range(8 // starts):
                        position = seat.play_on(position, rng)
                    number = position["number"]
        logs.append(position["log"])
    assert logs[0] == logs[1]


def test_a_game_that_is_over_stays_open_to_look_at(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        table = client.table("hanamikoji:three_rounds", "random", "random")
        with client.sit(table["watch"]) as watch:
            position = watch.until("position")
            while not position["view"]["over"]:
                watch.send(type="step", number=position["number"])
                number = position["number"] + 1
                while position["number"] < number:
                    position = watch.until("position")
    with served(tmp_path) as client:
        game = client.get(f"/api/replays/{position['replay']}").json
        assert len(game["moves"]) == position["number"]
        with client.sit(table["watch"]) as watch:
            assert watch.until("position")["replay"] == position["replay"]


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    with own_process(tmp_path), pytest.raises(UserError):
        Store(tmp_path)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UserError):
        Store(tmp_path / "file")
    (tmp_path / "tables.sqlite").write_text("no tables " * 1000)
    with pytest.raises(UserError):
        Store(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        "update events set body = '{'",
        "update events set body = null",
        "update events set body = '[]'",
        "delete from events",
        "update tables set opened = '{}'",
        "update tables set opened = x'ff'",
    ],
)
def test_a_damaged_table_is_refused_and_the_others_are_as_before(
    tmp_path: Path, damage: str
) -> None:
    with served(tmp_path) as client:
        key = client.table("hanamikoji", HUMAN, "expert")["keys"]["0"]
    with closing(sqlite3.connect(tmp_path / FILE)) as base, base:
        base.execute(damage)
    with served(tmp_path) as client:
        with client.sit(key) as seat:
            said = seat.next()
        assert said["type"] == "refused"
        assert_one_sentence(said["words"], "damaged", FILE)
        other = client.table("hanamikoji", HUMAN, "expert")["keys"]["0"]
        with client.sit(other) as seat:
            assert seat.position()


def test_a_damaged_file_of_tables_is_named_with_what_to_do(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        key = client.table("hanamikoji", HUMAN, "expert")["keys"]["0"]
    with (tmp_path / FILE).open("r+b") as file:
        file.seek(1 << 12)  # behind the first page, which has the schema
        file.write(b"\xff" * ((tmp_path / FILE).stat().st_size - (1 << 12)))
    with served(tmp_path) as client:
        answer = client.post("/api/tables", {"game": "hanamikoji", "seats": [HUMAN, HUMAN]})
        assert answer.status == 503
        assert_one_sentence(answer.json["error"], f"move {FILE} away")
        with client.sit(key) as seat:
            assert_one_sentence(seat.next()["words"], f"move {FILE} away")


def test_keys_are_not_kept(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        key = client.table("hanamikoji", HUMAN, "expert")["keys"]["0"]
    assert not any(key.encode() in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has these signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_server_ends_when_it_is_told(tmp_path: Path, number: int, code: int) -> None:
    with own_process(tmp_path) as (client, process):
        key = client.table("hanamikoji", HUMAN, "expert")["keys"]["0"]
        with client.sit(key) as seat:
            seat.position()
            os.kill(process.pid, number)
            assert process.wait(60) == code


def test_policies_of_the_command_line_can_be_chosen_by_a_name(tmp_path: Path) -> None:
    spec = "search:improve:greedy:worlds=4"
    with own_process(tmp_path, spec, "hanabi:2p") as (client, _):
        games = {game["id"]: game for game in client.get("/api/games").json["games"]}
        (name,) = (each for each in games["hanamikoji"]["policies"] if "policy 1" in each)
        assert not any("(policy" in each for each in games["hanabi:2p"]["policies"])
        assert games["hanabi:2p"]["policies"].count("hanabi:2p") == 1
        assert client.table("hanamikoji", HUMAN, name)
        wanted = {"game": "hanamikoji", "seats": [HUMAN, spec]}
        assert client.post("/api/tables", wanted).status == 400
