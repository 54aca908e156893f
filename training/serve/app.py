"""What the server answers: the page, the JSON of the API, and the sockets of the seats.

Only pages that this server gave out may ask it for anything: a request must name the server as its
host, and what changes something must come from a page with that origin.
"""

import asyncio
import errno
import gc
import ipaddress
import json
import os
import socket as sockets
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from markdown_it import MarkdownIt
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from hanamachi.errors import UserError, shown
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.limits import (
    GAME_BYTES,
    MESSAGE_BYTES,
    REPLAY_ACTIONS,
    REQUEST_BYTES,
    REVIEW_WORLDS,
)
from hanamachi.policies.search.regret import FEWEST
from hanamachi.sessions.notation import notation
from hanamachi.sessions.prompts import rules_of
from hanamachi.sessions.saved_games import Record
from hanamachi.storage.user_folders import data_folder
from hanamachi.training.evaluation.review import WORLDS
from hanamachi.training.serve import replays
from hanamachi.training.serve.connections import (
    ErrorLog,
    RequestTimeout,
    allow_many_connections,
)
from hanamachi.training.serve.offers import Offers
from hanamachi.training.serve.protocol import game_text_of, opening_of
from hanamachi.training.serve.reviews import Reviews
from hanamachi.training.serve.store import Fault, Full, Store
from hanamachi.training.serve.table_server import Connection, OpenTable, TableServer, refusal
from hanamachi.training.serve.tables import new_key

PAGE = files("hanamachi.training.serve") / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
SWITCH = 0.0005  # seconds until a thread that works lets the one that answers run
# codes with which a socket is closed; browsers open it again after all but the first
REFUSED, TRY_LATER, FAULT, ENDED = 4004, 1013, 1011, 1000
GONE = WebSocketDisconnect, RuntimeError  # what sending raises once the browser has gone
LARGEST = 16 * MESSAGE_BYTES  # bytes of a message that still gets an answer
SAFE = ("GET", "HEAD")

T = TypeVar("T")


class Refusal(Exception):
    """An answer with a status of its own."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


# --- The server


def serve(
    policies: Sequence[str],
    host: str,
    port: int,
    data: Path | None,
    ready: Callable[[str], None],
    record: Record | None = None,
) -> None:
    """Answer until the process is stopped; `ready` gets the address once there is one.

    `policies` may be chosen in the browser, besides those that come with the package. With a
    record, the address is that of its replay.
    """
    sys.setswitchinterval(SWITCH)
    offers, store = Offers(policies), Store(data or data_folder())
    listening = bound(host, port)
    allow_many_connections()
    tables = TableServer(store, offers)
    server = uvicorn.Server(settings(application(tables, [host])))
    ready(address_of(listening) + (shelved(store, record) if record else ""))
    gc.freeze()  # what is loaded by now stays: to look through it would hold up all games
    server.run(sockets=[listening])


def shelved(store: Store, record: Record) -> str:
    """Keep a game to look at; returns its place on this server."""
    id = new_key()
    store.add_replay(id, replays.text_of(record))
    return f"/#replay={id}&move=0&seat=all"


def settings(app: ASGIApp) -> uvicorn.Config:
    """How uvicorn runs the app; nothing is logged that holds a key."""
    return uvicorn.Config(
        app,
        http=RequestTimeout,
        ws="websockets-sansio",
        ws_max_size=LARGEST,
        ws_per_message_deflate=False,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )


def bound(host: str, port: int) -> sockets.socket:
    """A socket that listens there; UserError if it cannot."""
    try:
        family = sockets.getaddrinfo(host, port, type=sockets.SOCK_STREAM)[0][0]
        listening = sockets.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError, UnicodeError) as error:  # of a name that no host can have
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number and number > 0 else error
        other = (
            "choose another port with --port"
            if number in (errno.EADDRINUSE, errno.EACCES)
            else "name an address of this computer with --host"
        )
        where = f"{host or repr(host)}, port {port}"
        raise UserError(f"cannot listen at {where}: {reason}; {other}") from None
    listening.set_inheritable(False)
    return listening


def address_of(listening: sockets.socket) -> str:
    """Where the page is to be found, also by other computers if these may come."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = own_address(listening.family)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def own_address(family: int) -> str:
    """The address of this computer in its network; the loopback address if it is in none."""
    outside, loopback = (
        ("192.0.2.1", "127.0.0.1") if family == sockets.AF_INET else ("2001:db8::1", "::1")
    )
    try:
        with sockets.socket(family, sockets.SOCK_DGRAM) as probe:
            probe.connect((outside, 9))  # which sends nothing, but finds the way
            address: str = probe.getsockname()[0]
            return address
    except OSError:
        return loopback


def application(tables: TableServer, hosts: Iterable[str] = ()) -> ASGIApp:
    """The app of a server of tables; `hosts` are names of this server besides its addresses."""
    site = Site(tables)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(ErrorLog())
        yield
        tables.close()

    routes = [
        Route("/", site.index),
        Route("/page/{name}", site.file),
        Route("/api/games", site.games),
        Route("/api/rules/{game}", site.rules),
        Route("/api/tables", site.open_table, methods=["POST"]),
        Route("/api/replays", site.add_replay, methods=["POST"]),
        Route("/api/replays/{id}", site.replay),
        Route("/api/replays/{id}/review", site.review),
        Route("/api/replays/{id}/record.json", site.record),
        Route("/api/replays/{id}/notation.txt", site.notation),
        Route("/api/replays/{id}/hanab-live.json", site.hanab_live),
        Route("/api/replays/{id}/{number}", site.position),
        WebSocketRoute("/ws", site.socket),
    ]
    handlers: Any = {
        Refusal: refused,
        UserError: refused,
        404: not_found,
        405: not_found,
    }
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False
    return Guard(app, hosts)


def refused(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, getattr(error, "status", 400))


def not_found(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "there is nothing here"}, getattr(error, "status_code", 404))


# --- Who may ask


class Guard:
    """Lets only requests to this server and from its own pages through; adds the headers."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app = app
        self.hosts = {"localhost", sockets.gethostname().lower(), *(h.lower() for h in hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        wrong = self._wrong(scope)
        if scope["type"] == "websocket":
            app = self.app if wrong is None else closed
            await app(scope, receive, send)
            return
        answer = self.app if wrong is None else JSONResponse({"error": wrong}, 403)
        await answer(scope, receive, with_headers(send))

    def _wrong(self, scope: Scope) -> str | None:
        """Why a request is none of a page of this server."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if len(headers.getlist("host")) != 1 or not self._is_ours(host):
            return "open the page at the address that hanamachi serve has printed"
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"] != "/":
            return "only the page of this server may ask for this"  # others may link to it
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE
        if origin is None:
            return "only the page of this server may ask for this" if changes else None
        if origin not in (f"http://{host}", f"https://{host}"):
            return "only the page of this server may ask for this"
        return None

    def _is_ours(self, host: str) -> bool:
        """An address or a known name: a foreign name may have been made to point here."""
        name = host.lower()
        name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        if name in self.hosts:
            return True
        with suppress(ValueError):
            return bool(ipaddress.ip_address(name))
        return False


def with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending


async def closed(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a socket before it opens."""
    await WebSocket(scope, receive, send).close()


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


# --- Answers


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


def code_after(error: UserError) -> int:
    """Whether the browser is to come again later."""
    if isinstance(error, Fault):
        return FAULT
    return TRY_LATER if isinstance(error, Full) else REFUSED


async def received(socket: WebSocket) -> str | bytes:
    """The next message; WebSocketDisconnect once the browser has gone."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", ENDED))
    text: str | bytes = message.get("text") or message.get("bytes") or ""
    return text


def network_of(host: str) -> str:
    """Where an address belongs: one computer may have every IPv6 address of a network."""
    address = ipaddress.ip_address(host)
    return host if address.version == 4 else str(ipaddress.ip_network((int(address), 64), False))


@cache
def rules_page(id: str) -> str:
    """The rules of a variant, as HTML."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return str(markdown.render(rules_of(variant(id))))


def page_file(name: str) -> Response:
    """A file of the page itself; no other name leads anywhere."""
    found = {each.name: each for each in PAGE.iterdir() if each.is_file()}
    kind = TYPES.get(Path(name).suffix)
    if name not in found or kind is None:
        raise Refusal(404, "there is nothing here")
    return Response(found[name].read_bytes(), media_type=kind)


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


def download(text: str, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)
