"""A server on this computer that speaks OpenAI's protocol for chats, and what may be wrong with it.

with chat_server(first_legal) as server:
    policy = load_policy(f"model:test?url={server.url}", "hanamikoji")
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Body = dict[str, Any]  # of a request
LEGAL = "Your legal actions:\n"


class Wrong(NamedTuple):
    """An answer that is not the usual one."""

    status: int = 200
    headers: Mapping[str, str] = {}
    content: bytes = b"{}"
    seconds: float = 0.0  # before it comes
    stall: float = 0.0  # seconds between its headers and its content
    cut: bool = False  # whether the connection ends in its middle
    drip: float = 0.0  # seconds before each byte
    drip_header: float = 0.0  # seconds before each byte of one of its headers


class ChatServer:
    """What was asked, and what goes wrong first."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.asked: list[Body] = []
        self.headers: list[Mapping[str, str]] = []  # of each request
        self.wrong: list[Wrong] = []  # answers to the first requests
        self.always: Wrong | None = None  # the answer to all others
        self.lock = threading.Lock()
        self.at_once = self.most_at_once = 0  # requests


@contextmanager
def chat_server(model: Callable[[Body], str], seconds: float = 0.0) -> Iterator[ChatServer]:
    """A server whose model answers a request after so many seconds."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.asked.append(body)
                server.headers.append(dict(self.headers))
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
                wrong = server.wrong.pop(0) if server.wrong else server.always
            try:
                self.send(wrong or Wrong(content=answer(body, model), seconds=seconds))
            finally:
                with server.lock:
                    server.at_once -= 1

        def send(self, what: Wrong) -> None:
            time.sleep(what.seconds)
            self.send_response(what.status)
            if what.drip_header:
                self.flush_headers()
                self.drip(b"X-Slow: and of no use\r\n", what.drip_header)
            for name, value in {"Content-Length": str(len(what.content)), **what.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            time.sleep(what.stall)
            if what.cut:
                self.wfile.write(what.content[: len(what.content) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if what.drip:
                self.drip(what.content, what.drip)
            else:
                self.wfile.write(what.content)

        def drip(self, content: bytes, seconds: float) -> None:
            for byte in content:
                time.sleep(seconds)
                self.wfile.write(bytes([byte]))

        def log_message(self, *words: Any) -> None:
            """Nothing is logged."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *connection: Any) -> None:
            """A client that has gone is no error."""

    http = Quiet(("127.0.0.1", 0), Handler)
    server = ChatServer(http.server_address[1])
    threading.Thread(target=http.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def answer(body: Body, model: Callable[[Body], str]) -> bytes:
    """An answer of the protocol; a word counts as a token."""
    text = model(body)
    asked = sum(len(message["content"].split()) for message in body["messages"])
    said = len(text.split())
    usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"]}
    return json.dumps({**reply, "choices": [choice], "usage": usage}).encode()


# --- Models


def legal_in(body: Body) -> list[str]:
    """The legal actions that the last turn lists."""
    turns = [each["content"] for each in body["messages"] if LEGAL in each["content"]]
    return turns[-1].split(LEGAL)[1].split("\n\n")[0].splitlines()


def first_legal(body: Body) -> str:
    return f"I see. <action>{legal_in(body)[0]}</action>"


def nonsense(body: Body) -> str:
    return "I would rather not say."


def second_thoughts(body: Body) -> str:
    """Nonsense first, and a legal action when it is asked again."""
    return first_legal(body) if len(body["messages"]) > 2 else nonsense(body)
