"""A real server, and browsers that talk to it as the page does."""

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from websockets.sync.client import ClientConnection, connect

from hanamachi.training.serve.app import application, bound, settings
from hanamachi.training.serve.offers import Offers
from hanamachi.training.serve.store import Store
from hanamachi.training.serve.table_server import TableServer

HUMAN = "human"
PATIENCE = 240.0  # seconds for an answer: kernels may have to be compiled


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """What a browser can do at a server."""

    port: int
    server: Any = None  # where the server runs in this process

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """One request, whose path goes out as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, named)
        answer = connection.getresponse()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        found = Answer(answer.status, fields, answer.read())
        connection.close()
        return found

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, content: Any) -> Answer:
        body = json.dumps(content).encode()
        return self.ask("POST", path, body, content_type="application/json", origin=self.origin)

    def table(self, game: str, *seats: str, **more: Any) -> Any:
        """What opening a table answers."""
        answer = self.post("/api/tables", {"game": game, "seats": seats, **more})
        assert answer.status == 201, answer.body
        return answer.json

    @contextmanager
    def sit(self, key: str, origin: str | None = None) -> Iterator["Seat"]:
        url = f"ws://127.0.0.1:{self.port}/ws?key={key}"
        named: Any = origin or self.origin
        with connect(url, origin=named, max_size=None, max_queue=None) as socket:
            yield Seat(socket)


class Seat:
    """A browser at a table; `heard` is all that it got."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[str] = []

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def next(self) -> Any:
        text = self.socket.recv(PATIENCE)
        assert isinstance(text, str)
        self.heard.append(text)
        return json.loads(text)

    def until(self, kind: str) -> Any:
        """The next message of a kind."""
        while (message := self.next())["type"] != kind:
            pass
        return message

    def position(self, number: int = 0) -> Any:
        """The next position after at least this many actions in which a person can do something."""
        while True:
            position = self.until("position")
            ready = position["view"]["over"] or position["view"]["legal"]
            if position["number"] >= number and ready:
                return position

    def act(self, position: Any, action: int) -> None:
        self.send(type="act", number=position["number"], action=action)

    def play_on(self, position: Any, rng: np.random.Generator) -> Any:
        """A random move; returns the next position of the seat."""
        legal = [each["action"] for each in position["view"]["legal"]]
        self.act(position, int(rng.choice(legal)))
        return self.position(position["number"] + 1)


@contextmanager
def served(folder: Path, policies: Sequence[str] = ()) -> Iterator[Client]:
    """A server in a thread of this process, at a free port."""
    tables, listening = TableServer(Store(folder), Offers(policies)), bound("127.0.0.1", 0)
    server = uvicorn.Server(settings(application(tables)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Client(listening.getsockname()[1], tables)
    finally:
        server.should_exit = True
        thread.join()
