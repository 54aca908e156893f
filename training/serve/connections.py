"""Connections that bring no whole request, which must not keep others out."""

import asyncio
import logging
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

TIMEOUT = 10.0  # seconds for a whole request
QUIET = 60.0  # seconds in which an error that was logged is not logged again
INCOMPLETE = h11.IDLE, h11.SEND_BODY  # states of a browser that has more to send

log = logging.getLogger("hanamachi.serve")


class RequestTimeout(H11Protocol):
    """Closes a connection on which a request is not whole in time."""

    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_seat = self.transport.get_protocol() is not self  # it has become a WebSocket
        if is_seat or self.conn.their_state not in INCOMPLETE:
            self._stop_timer()
        elif self.timer is None:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self.timer = self.loop.call_later(TIMEOUT, self.transport.close)

    def _stop_timer(self) -> None:
        if self.timer:
            self.timer.cancel()
            self.timer = None


class ErrorLog:
    """Logs errors of the event loop; that no connection can be had comes many times at once."""

    def __init__(self) -> None:
        self.quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or "socket" not in context:
            loop.default_exception_handler(context)
        elif time.monotonic() >= self.quiet_until:
            self.quiet_until = time.monotonic() + QUIET
            log.warning("no browser can connect now: %s", error.strerror)


def allow_many_connections() -> None:
    """Raise the limit on open files to the highest that the system allows, where there is one."""
    try:
        import resource  # which Windows lacks

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ImportError, OSError, ValueError):  # some systems call it unlimited, and are not
        return
