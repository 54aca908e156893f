"""What each address of the server answers: the page, the API's JSON, and the seats' sockets."""

import asyncio
import ipaddress
import json
from collections.abc import Coroutine
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from markdown_it import MarkdownIt
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from hanamachi.errors import UserError, shown
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.limits import GAME_BYTES, REPLAY_ACTIONS, REQUEST_BYTES, REVIEW_WORLDS
from hanamachi.policies.search.regret import FEWEST
from hanamachi.sessions.notation import notation
from hanamachi.sessions.prompts import rules_of
from hanamachi.sessions.saved_games import Record
from hanamachi.training.evaluation.judge import WORLDS
from hanamachi.training.serve import replays
from hanamachi.training.serve.protocol import game_text_of, opening_of
from hanamachi.training.serve.reviews import Reviews
from hanamachi.training.serve.store import Fault, Full
from hanamachi.training.serve.table_server import Connection, OpenTable, TableServer, refusal

PAGE = files("hanamachi.training.serve") / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
# codes with which a socket is closed; browsers open it again after all but the first
REFUSED, TRY_LATER, FAULT, ENDED = 4004, 1013, 1011, 1000
GONE = WebSocketDisconnect, RuntimeError  # what sending raises once the browser has gone

T = TypeVar("T")


class Refusal(Exception):
    """An answer with a status of its own."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Site:
    """What each address answers."""

    def __init__(self, tables: TableServer) -> None:
        self.server = tables
        self.reviews = Reviews(tables.slow)

    # --- The page

    async def index(self, request: Request) -> Response:
        return page_file("index.html")

    async def file(self, request: Request) -> Response:
        return page_file(request.path_params["name"])

    # --- Games and tables

    async def games(self, request: Request) -> Response:
        return JSONResponse({"games": self.server.policies.offers.listed})

    async def rules(self, request: Request) -> Response:
        id = request.path_params["game"]
        if id not in VARIANTS:
            raise Refusal(404, f"there is no game {shown(id)}")
        return JSONResponse({"html": await self.server.replays.run(rules_page, id)})

    async def open_table(self, request: Request) -> Response:
        wanted = opening_of(await body_of(request, REQUEST_BYTES))
        assert request.client  # the server listens at no file
        return JSONResponse(await self.server.open(wanted, network_of(request.client.host)), 201)

    # --- Replays

    async def add_replay(self, request: Request) -> Response:
        text = game_text_of(await body_of(request, GAME_BYTES))
        record = await self.server.replays.run(replays.record_in, text, REPLAY_ACTIONS)
        id = await self.server.keep(record)
        return JSONResponse({"replay": id}, 201)

    async def replay(self, request: Request) -> Response:
        record = await self._record(request)
        return JSONResponse(await self.server.replays.run(replays.overview, record))

    async def position(self, request: Request) -> Response:
        record, number = await self._record(request), move_in(request.path_params["number"])
        seat = seat_in(request.query_params.get("seat", "all"))
        return JSONResponse(await self.server.replays.run(replays.position, record, number, seat))

    async def record(self, request: Request) -> Response:
        text = replays.text_of(await self._record(request))
        return download(text, "application/json", "game.json")

    async def notation(self, request: Request) -> Response:
        record = await self._record(request)
        text = await self.server.replays.run(notation, record)
        return download(text, "text/plain; charset=utf-8", "game.txt")

    async def hanab_live(self, request: Request) -> Response:
        record = await self._record(request)
        text = await self.server.replays.run(replays.hanab_live_text, record)
        return download(text, "application/json", "hanab-live.json")

    async def review(self, request: Request) -> Response:
        worlds = worlds_in(request.query_params.get("worlds", str(WORLDS)))
        record = await self._record(request)
        assert request.client
        address = network_of(request.client.host)
        review = self.reviews.of(request.path_params["id"], record, worlds, address)
        return JSONResponse(await while_there(request, review))

    async def _record(self, request: Request) -> Record:
        record = await self.server.replay(request.path_params["id"])
        if record is None:
            raise Refusal(404, "there is no such game")
        return record

    # --- Sockets

    async def socket(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            opened, connection = await self._entered(socket)
        except UserError as error:
            with suppress(*GONE):
                await socket.send_text(json.dumps(refusal(str(error))))
                await socket.close(code_after(error))
            return
        sending = asyncio.create_task(connection.send_to(socket))
        try:
            with suppress(WebSocketDisconnect):
                await self.server.announce(opened)
                while connection.reads:
                    await self.server.receive(opened, connection, await received(socket))
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, *GONE):
                await sending
            await self.server.leave(opened, connection)
        with suppress(*GONE):
            await socket.close(ENDED)

    async def _entered(self, socket: WebSocket) -> tuple[OpenTable, Connection]:
        place = await self.server.place_of(socket.query_params.get("key", ""))
        if place is None:
            raise UserError("this link is not valid")
        assert socket.client
        return await self.server.enter(place, network_of(socket.client.host))


# --- What requests hold


async def body_of(request: Request, largest: int) -> bytes:
    """The body of a request in JSON; Refusal if it is too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refusal(415, "a request must be JSON, with the content type application/json")
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > largest:
                raise Refusal(413, f"a request has at most {largest:,} bytes")
    except ClientDisconnect:
        raise Refusal(400, "the request was cut") from None
    return body


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; it is cancelled, and a Refusal raised, when the browser leaves."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(left(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Refusal(400, "the request was cut")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def left(request: Request) -> None:
    """Wait until the browser has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def network_of(host: str) -> str:
    """Where an address belongs: one computer may have every IPv6 address of a network."""
    address = ipaddress.ip_address(host)
    return host if address.version == 4 else str(ipaddress.ip_network((int(address), 64), False))


def seat_in(text: str) -> int | None:
    if text == "all":
        return None
    if (seat := number_in(text, 2)) is None:
        raise UserError(f"seat must be all or a number, not {shown(text)}")
    return seat


def move_in(text: str) -> int:
    if (move := number_in(text, len(str(REPLAY_ACTIONS)))) is None:
        raise UserError(f"a move must be a number up to {REPLAY_ACTIONS}, not {shown(text)}")
    return move


def worlds_in(text: str) -> int:
    number = number_in(text, 5) or 0
    if not FEWEST <= number <= REVIEW_WORLDS:
        raise UserError(f"worlds must be from {FEWEST} to {REVIEW_WORLDS}, not {shown(text)}")
    return number


def number_in(text: str, most: int) -> int | None:
    """The number that a text spells, or None unless it has digits alone, and `most` of them."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most else None


# --- Answers


def page_file(name: str) -> Response:
    """A file of the page itself; no other name leads anywhere."""
    found = {each.name: each for each in PAGE.iterdir() if each.is_file()}
    kind = TYPES.get(Path(name).suffix)
    if name not in found or kind is None:
        raise Refusal(404, "there is nothing here")
    return Response(found[name].read_bytes(), media_type=kind)


@cache
def rules_page(id: str) -> str:
    """The rules of a variant, as HTML."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return str(markdown.render(rules_of(variant(id))))


def download(text: str, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)


# --- Sockets


async def received(socket: WebSocket) -> str | bytes:
    """The next message; WebSocketDisconnect once the browser has gone."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", ENDED))
    text: str | bytes = message.get("text") or message.get("bytes") or ""
    return text


def code_after(error: UserError) -> int:
    """Whether the browser is to come again later."""
    if isinstance(error, Fault):
        return FAULT
    return TRY_LATER if isinstance(error, Full) else REFUSED
