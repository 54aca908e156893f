"""The server of the table: where it listens, and which function answers each address."""

import asyncio
import errno
import gc
import ipaddress
import os
import socket as sockets
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from hanamachi.errors import UserError
from hanamachi.limits import MESSAGE_BYTES
from hanamachi.sessions.saved_games import Record
from hanamachi.storage.user_folders import data_folder
from hanamachi.training.serve import replays
from hanamachi.training.serve.connections import (
    ErrorLog,
    RequestTimeout,
    allow_many_connections,
)
from hanamachi.training.serve.guard import Guard
from hanamachi.training.serve.offers import Offers
from hanamachi.training.serve.site import Refusal, Site
from hanamachi.training.serve.store import Store
from hanamachi.training.serve.table_server import TableServer
from hanamachi.training.serve.tables import new_key

SWITCH = 0.0005  # seconds until a thread that works lets the one that answers run
LARGEST = 16 * MESSAGE_BYTES  # bytes of a message that still gets an answer


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
