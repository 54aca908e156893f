"""What the server keeps: tables, their events and finished games, in one SQLite file.

A table is a game, its seats and their keys. Its events are the beginning of each game, every action
and the end, one row each, so that a server that is killed comes back with its games. Keys are kept
as digests: who reads the file cannot sit down with them.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Set
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import time
from typing import Any, Literal, NamedTuple

from hanamachi.errors import UserError
from hanamachi.limits import REPLAYS, SENT_REPLAYS, TABLES, TABLES_OF_AN_ADDRESS

FILE = "tables.sqlite"
FORMAT = 1
IDLE = 7 * 86_400.0  # seconds after which a table makes room for a new one, if no other does
UNPLAYED = 600.0  # the same of a table at which nobody has moved yet
SCHEMA = """
create table if not exists tables (id text primary key, opened text, touched real);
create table if not exists keys (digest text primary key, at text, seat integer);
create table if not exists events (
    at text, game integer, number integer, kind text, body text, primary key (at, game, number)
);
create table if not exists memories (at text, seat integer, content blob, primary key (at, seat));
create table if not exists replays (id text primary key, record text, made real);
create table if not exists sent (id text primary key);
create index if not exists keys_of_a_table on keys (at);
create index if not exists newest_replays on replays (made, id);
create temporary table openers (at text primary key, address text);
"""

FAILURES = sqlite3.Error, UnicodeDecodeError  # of SQLite; the latter if it quotes a damaged name

Kind = Literal["begin", "act", "end"]


class Event(NamedTuple):
    """One row of a table's history."""

    game: int  #: of the table, from 0
    number: int  #: in the game; 0 is its beginning
    kind: Kind
    body: Any  #: JSON: how it began, an action, or the id of the replay


class Fault(UserError):
    """The disk fails, or is full; trying again later may be of use."""

    status = 503  # of the answer to a request


class Full(UserError):
    """There is no room now; trying again later is of use."""

    status = 503


class Key(NamedTuple):
    """What a key opens."""

    table: str
    seat: int | None  #: None watches with open hands


class Store:
    """Safe to use from several threads; only one process at a time can open a folder."""

    def __init__(self, folder: Path) -> None:
        """UserError if the folder cannot be used, or another server uses it."""
        self._lock = Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (folder / FILE).touch(mode=0o600)  # who reads it knows all hidden cards
            self._base = sqlite3.connect(folder / FILE, timeout=0.2, check_same_thread=False)
            self._open()
        except (OSError, *FAILURES) as error:
            raise UserError(cannot_open(folder, error)) from None

    def _open(self) -> None:
        self._base.execute("pragma locking_mode = exclusive")
        self._base.execute("pragma journal_mode = wal")
        self._base.execute("pragma synchronous = normal")
        self._base.execute("pragma temp_store = memory")  # no address is written down
        with self._base:
            self._base.execute("begin immediate")
            (version,) = self._base.execute("pragma user_version").fetchone()
            if version not in (0, FORMAT):
                raise sqlite3.DatabaseError("another version of hanamachi wrote it")
        self._base.executescript(f"{SCHEMA}; pragma user_version = {FORMAT};")

    def close(self) -> None:
        with self._lock:
            self._base.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written inside is kept, or nothing of it; Fault if the disk is full."""
        try:
            with self._lock, self._base:
                yield self._base
        except FAILURES as error:
            raise Fault(f"the server cannot keep this: {reason(error)}") from error

    def _read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that a query finds; Fault if the disk fails."""
        try:
            with self._lock, closing(self._base.execute(query, values)) as found:
                return found.fetchall()
        except FAILURES as error:
            raise Fault(f"the server cannot read its games: {reason(error)}") from error

    # --- Tables

    def add_table(
        self,
        id: str,
        opened: Mapping[str, Any],
        keys: Mapping[str, int | None],
        begun: Any,
        in_use: Set[str] = frozenset(),
        address: str = "",
    ) -> None:
        """A new table and its first game; Full if there are too many, of this address or all.

        Tables that are not in use make room: first those at which nobody has moved for ten minutes
        after they were opened, then those whose game is over, then idle ones. Which tables an
        address has opened is only known until the server ends.
        """
        with self._writing() as base:
            make_room(base, in_use, address)
            base.execute("insert into tables values (?, ?, ?)", (id, json.dumps(opened), time()))
            base.execute("insert into openers values (?, ?)", (id, address))
            rows = [(digest_of(key), id, seat) for key, seat in keys.items()]
            base.executemany("insert into keys values (?, ?, ?)", rows)
            insert(base, id, Event(0, 0, "begin", begun))

    def touch(self, table: str) -> None:
        """Somebody comes to the table, which is not idle then."""
        with self._writing() as base:
            touch(base, table)

    def opened(self, table: str) -> dict[str, Any] | None:
        """What `add_table` was given, if the table is there."""
        rows = self._read("select opened from tables where id = ?", table)
        return json.loads(rows[0][0]) if rows else None

    def place_of(self, key: str) -> Key | None:
        rows = self._read("select at, seat from keys where digest = ?", digest_of(key))
        return Key(*rows[0]) if rows else None

    # --- Events

    def add_action(
        self,
        table: str,
        event: Event,
        memory: tuple[int, bytes] | None = None,
        replay: tuple[str, str] | None = None,
    ) -> None:
        """An action, what the policy in a seat remembers after it, and all of a game that it ends.

        `replay` is the id and the record of that game.
        """
        with self._writing() as base:
            insert(base, table, event)
            if memory:
                base.execute("replace into memories values (?, ?, ?)", (table, *memory))
            if replay:
                insert_replay(base, *replay)
                insert(base, table, Event(event.game, event.number + 1, "end", replay[0]))
            touch(base, table)

    def begin_again(self, table: str, event: Event) -> None:
        """The beginning of another game; the events of those before are not kept."""
        with self._writing() as base:
            base.execute("delete from events where at = ?", (table,))
            base.execute("delete from memories where at = ?", (table,))
            insert(base, table, event)
            touch(base, table)

    def events(self, table: str) -> list[Event]:
        """Those of the game in progress, in order."""
        columns = "select game, number, kind, body from events where at = ? order by game, number"
        rows = self._read(columns, table)
        return [Event(game, number, kind, json.loads(body)) for game, number, kind, body in rows]

    def memories(self, table: str) -> dict[int, bytes]:
        """What the policies remember, by seat."""
        return dict(self._read("select seat, content from memories where at = ?", table))

    # --- Replays

    def add_replay(self, id: str, record: str, sent: bool = False) -> None:
        """A game to look at; the oldest makes room if there are too many, of those sent or all."""
        with self._writing() as base:
            insert_replay(base, id, record)
            if sent:  # else strangers could send so many that no finished game stays
                base.execute("insert into sent values (?)", (id,))
                keep_newest(base, SENT_REPLAYS, "id in (select id from sent)")

    def replay(self, id: str) -> str | None:
        rows = self._read("select record from replays where id = ?", id)
        return rows[0][0] if rows else None


def insert(base: sqlite3.Connection, table: str, event: Event) -> None:
    row = (table, event.game, event.number, event.kind, json.dumps(event.body))
    base.execute("insert into events values (?, ?, ?, ?, ?)", row)


def insert_replay(base: sqlite3.Connection, id: str, record: str) -> None:
    base.execute("insert into replays values (?, ?, ?)", (id, record, time()))
    keep_newest(base, REPLAYS)


def keep_newest(base: sqlite3.Connection, most: int, which: str = "true") -> None:
    older = f"select id from replays where {which} order by made desc limit -1 offset ?"
    for (id,) in base.execute(older, (most,)).fetchall():
        for rows in ("replays", "sent"):
            base.execute(f"delete from {rows} where id = ?", (id,))


def touch(base: sqlite3.Connection, table: str) -> None:
    base.execute("update tables set touched = ? where id = ?", (time(), table))


def make_room(base: sqlite3.Connection, in_use: Set[str], address: str) -> None:
    """Forget a table if its address, or all, have as many as they may; Full if none fits."""
    own = ids(base, "select at from openers where address = ?", address)
    everyones = ids(base, "select id from tables")
    if len(own) >= TABLES_OF_AN_ADDRESS:  # else one browser could shut all others out
        whose = f"your address has opened {TABLES_OF_AN_ADDRESS:,} tables"
        forget(base, forgettable(base, own - in_use, whose))
    elif len(everyones) >= TABLES:
        forget(base, forgettable(base, everyones - in_use, f"there are {TABLES:,} tables"))


def ids(base: sqlite3.Connection, query: str, *values: Any) -> set[str]:
    return {id for (id,) in base.execute(query, values)}


def forgettable(base: sqlite3.Connection, candidates: Set[str], full: str) -> str:
    """The one of these tables that makes room for another one; Full if none does."""
    idle = "select id from tables where touched < ?"
    unplayed = f"{idle} and id not in (select at from events where game > 0 or number > 0)"
    over = "select id from tables where id in (select at from events where kind = 'end')"
    unplayed_since, idle_since = time() - UNPLAYED, time() - IDLE
    for query, values in ((unplayed, (unplayed_since,)), (over, ()), (idle, (idle_since,))):
        for (id,) in base.execute(f"{query} order by touched", values):
            if id in candidates:
                found: str = id
                return found
    raise Full(f"{full} already; finish a game at one of them first")


def forget(base: sqlite3.Connection, table: str) -> None:
    base.execute("delete from tables where id = ?", (table,))
    for rows in ("keys", "events", "memories", "openers"):
        base.execute(f"delete from {rows} where at = ?", (table,))


def digest_of(key: str) -> str:
    return sha256(key.encode()).hexdigest()


# --- What can be wrong


class Damaged(UserError):
    """What is kept of one table cannot be read; the other tables are as they were."""

    def __init__(self) -> None:
        super().__init__(f"this table is damaged in the server's {FILE}: open another one")


def reason(error: Exception) -> str:
    """Why SQLite fails, and what to do if its file is damaged: that does not pass."""
    if isinstance(error, sqlite3.OperationalError):  # the disk, which may work again later
        return str(error)
    return f"{in_words(error)}; end it, move {FILE} away, and start it again"


def in_words(error: Exception) -> str:
    return "its file is damaged" if isinstance(error, UnicodeDecodeError) else str(error)


def cannot_open(folder: Path, error: Exception) -> str:
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return f"another server keeps its games in {folder}; choose another folder with --data"
    reason = getattr(error, "strerror", None) or in_words(error)
    away = f"move {FILE} away, or " if (folder / FILE).exists() else ""
    return f"games cannot be kept in {folder}: {reason}; {away}choose another folder with --data"
