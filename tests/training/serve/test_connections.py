"""Who sends half a request keeps nobody out."""

import asyncio
import errno
import http.client
import os
import socket
from pathlib import Path

import pytest
from serving import HUMAN, served

from hanamachi.training.serve import connections
from hanamachi.training.serve.connections import ErrorLog, RequestTimeout, allow_many_connections

HALF_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALF_BODY = (
    b"POST /api/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 10\r\n\r\n{"
)


@pytest.mark.parametrize("sent", [b"", HALF_HEAD, HALF_BODY])
def test_a_connection_without_a_whole_request_is_closed(
    sent: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "TIMEOUT", 0.2)
    with served(tmp_path) as client:
        address = "127.0.0.1", client.port
        with socket.create_connection(address, timeout=3) as browser:
            browser.sendall(sent)
            while browser.recv(1 << 16):
                pass


def test_a_later_request_must_be_whole_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "TIMEOUT", 0.2)
    with served(tmp_path) as client:
        browser = http.client.HTTPConnection("127.0.0.1", client.port, timeout=3)
        browser.request("GET", "/")
        browser.getresponse().read()
        browser.sock.sendall(HALF_HEAD)
        assert browser.sock.recv(1) == b""
        browser.close()


def test_a_seat_stays_connected_for_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[RequestTimeout] = []
    begin = RequestTimeout.connection_made

    def noted(self: RequestTimeout, transport: asyncio.Transport) -> None:
        made.append(self)
        begin(self, transport)
        assert self.timer

    monkeypatch.setattr(RequestTimeout, "connection_made", noted)
    with served(tmp_path) as client:
        key = client.table("hanamikoji", HUMAN, "random")["keys"]["0"]
        with client.sit(key) as seat:
            seat.position()
            assert made
            assert made[-1].timer is None  # nothing is left that would close it
            assert not made[-1].transport.is_closing()


def test_that_nobody_can_connect_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    loop, errors = asyncio.new_event_loop(), ErrorLog()
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    for _ in range(100):
        errors(loop, {"message": "out of system resource", "exception": error, "socket": None})
    loop.close()
    (record,) = caplog.records
    assert not record.exc_info


def test_as_many_files_can_be_open_as_the_system_allows() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, before[1]), before[1]))
    try:
        allow_many_connections()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
