"""Who may ask the server for anything: only pages that it gave out.

A request must name the server as its host. What changes something, and each socket, must come from
a page of that host.
"""

import ipaddress
import socket as sockets
from collections.abc import Iterable
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")


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
