"""How fast `hanamachi serve` answers many games at once, with all clients on the same machine.

    python benchmarks/browsers.py --games 200 --seconds 60

Each game has a person, who plays at random, once in two seconds from when all are seated, and a
rule policy in every other seat. An answer takes from the person's move to the position after the
policies have moved.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from typing import Any
from urllib.request import urlopen

import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from hanamachi.training.serve.own_process import post, serving

PACE = 2.0  # seconds between two moves of a seat


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=200, help="games at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they last")
    parser.add_argument("--game", default="hanamikoji", help="id of the game")
    parser.add_argument("--policy", default="expert", help="who sits in the other seats")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(folder) as address:
        took = asyncio.run(answers(address, given.game, given.policy, given.games, given.seconds))
    print(f"{given.games} games of {given.game} with {given.policy}: {report(took)}")


async def answers(address: str, game: str, policy: str, games: int, seconds: float) -> list[float]:
    """How long each answer took, in seconds."""
    took: list[float] = []
    seats = seats_of(address, game)
    keys = [opened(address, game, ["human", *[policy] * (seats - 1)]) for _ in range(games)]
    seated = asyncio.Barrier(games)
    await asyncio.gather(*(person(address, key, seated, seconds, took) for key in keys))
    return took


async def person(
    address: str, key: str, seated: asyncio.Barrier, seconds: float, took: list[float]
) -> None:
    """Play at random from when all people are seated, each time at the same pace."""
    url = f"{address.replace('http', 'ws', 1)}/ws?key={key}"
    async with connect(url, origin=address, compression=None, max_queue=None) as socket:
        position = await newest(socket, -1)
        await seated.wait()
        end = time.perf_counter() + seconds
        due = time.perf_counter() + PACE * random.random()
        while due < end:
            await asyncio.sleep(due - time.perf_counter())
            if position["view"]["over"]:
                await socket.send(json.dumps({"type": "new"}))
                position = await newest(socket, -1)
            else:
                sent = time.perf_counter()
                await act(socket, position)
                position = await newest(socket, position["number"])
                took.append(time.perf_counter() - sent)
            due = max(due + PACE, time.perf_counter())


async def act(socket: ClientConnection, position: dict[str, Any]) -> None:
    chosen = random.choice(position["view"]["legal"])["action"]
    number = position["number"]
    await socket.send(json.dumps({"type": "act", "number": number, "action": chosen}))


async def newest(socket: ClientConnection, number: int) -> dict[str, Any]:
    """The next position after this many actions in which the person is to move, or the end."""
    while True:
        position: dict[str, Any] = json.loads(await socket.recv())
        assert position["type"] == "position", position
        view = position["view"]
        if position["number"] > number and (view["over"] or view["legal"]):
            return position


# --- The server's other answers


def seats_of(address: str, game: str) -> int:
    with urlopen(f"{address}/api/games") as answer:
        games = json.load(answer)["games"]
    return next(int(each["seats"]) for each in games if each["id"] == game)


def opened(address: str, game: str, seats: list[str]) -> str:
    """The key of seat 0 at a new table."""
    wanted = {"game": game, "options": {}, "seats": seats, "seed": None}
    return str(post(address, "/api/tables", wanted)["keys"]["0"])


def report(took: list[float]) -> str:
    if not took:
        return "no answers: nobody was to move in so short a time"
    half, most, slowest = (f"{1000 * np.quantile(took, q):.0f} ms" for q in (0.5, 0.95, 1))
    return f"{len(took)} answers, half in {half}, 95% in {most}, the slowest in {slowest}"


if __name__ == "__main__":
    main()
