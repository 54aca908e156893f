"""Replies of language models that have been paid for, in one SQLite file.

An evaluation that is stopped goes on with them, and the same evaluation costs nothing twice. Of a
request only a digest is kept, and no key. Several threads and processes may use a file.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

from hanamachi.errors import Unavailable
from hanamachi.policies.external.chat import Reply

PATIENCE = 60.0  # seconds while others write
SCHEMA = """
create table if not exists replies (
    request text primary key, text text, prompt_tokens integer, completion_tokens integer
)
"""


class ReplyCache:
    """The replies in a file, which is made when it is needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, request: str) -> Reply | None:
        """The reply to a request; Unavailable if the file cannot be used."""
        with self._open() as replies:
            row = replies.execute(
                "select text, prompt_tokens, completion_tokens from replies where request = ?",
                [request],
            ).fetchone()
        if row and list(map(type, row)) != [str, int, int]:
            raise Unavailable(f"{self.path} holds no replies: name another file with cache=PATH")
        return Reply(*row) if row else None

    def keep(self, request: str, reply: Reply) -> Reply:
        """Keep a reply; returns the one kept first, so that a request has one reply everywhere."""
        with self._open() as replies:
            replies.execute("insert or ignore into replies values (?, ?, ?, ?)", [request, *reply])
        return self.find(request) or reply

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as replies, replies:
                replies.execute(SCHEMA)
                yield replies
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise Unavailable(
                f"replies cannot be kept in {self.path} ({reason}): name another file with "
                "cache=PATH"
            ) from None


def digest(url: str, body: bytes) -> str:
    """What stands for a request in the file."""
    return sha256(url.encode() + b"\0" + body).hexdigest()
