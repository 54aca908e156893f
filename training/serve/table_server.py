"""All tables in use: people enter them by their keys, and policies move there.

Threads do the work, each one thing after another: one for moves and hints, which take milliseconds;
one for games to look at; one for reviews and the searches that every server offers; and one for
each policy of the user, searches included, which may wait for a program or a network. Tables are
only changed in the first, so each message is carried out whole before the next one. The others only
read a game, whose events the first has completed, while a policy thinks; nobody else can move
meanwhile, nor begin another game. A table that nobody looks at is left to the store.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.limits import SOCKETS, SOCKETS_OF_A_SEAT, SOCKETS_OF_AN_ADDRESS
from hanamachi.policies.agents import default_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.thoughts import judgement
from hanamachi.sessions.players import SeatedPlayer
from hanamachi.sessions.saved_games import Record
from hanamachi.training.serve.offers import HUMAN, Offers, is_quick
from hanamachi.training.serve.protocol import Act, Hint, Message, New, Opening, Step, message_of
from hanamachi.training.serve.replays import record_in, text_of
from hanamachi.training.serve.store import Damaged, Full, Key, Store
from hanamachi.training.serve.tables import Table, new_key
from hanamachi.training.serve.worker import Worker

ANSWERS = 32  # that wait for a browser that does not read them
RECORDS = 64  # games to look at that are kept read

log = logging.getLogger("hanamachi.serve")


class Socket(Protocol):
    """What the server needs of a WebSocket."""

    async def send_text(self, data: str) -> None: ...


class Connection:
    """A browser at a table. It gets every answer, and of the positions only the newest."""

    def __init__(self, seat: int | None, address: str) -> None:
        self.seat, self.address = seat, address
        self._answers: deque[str] = deque()
        self._position: str | None = None
        self._news = asyncio.Event()

    def answer(self, content: Mapping[str, Any]) -> None:
        self._answers.append(json.dumps(content))
        self._news.set()

    def show(self, position: str) -> None:
        self._position = position
        self._news.set()

    @property
    def reads(self) -> bool:
        """Whether the browser takes what it asked for."""
        return len(self._answers) < ANSWERS

    async def send_to(self, socket: Socket) -> None:
        """Send all that comes, until cancelled."""
        while await self._news.wait():
            self._news.clear()
            while self._answers:
                await socket.send_text(self._answers.popleft())
            if self._position is not None:
                position, self._position = self._position, None
                await socket.send_text(position)


class OpenTable:
    """A table in use: who is connected, whether its policies are moving, and why one failed to."""

    def __init__(self, table: Table, slow: Mapping[int, Worker]) -> None:
        self.table = table
        self.slow = slow  # seats of policies that may think for long, and where they do
        self.connections: set[Connection] = set()
        self.moving: asyncio.Future[None] | None = None  # a policy, or on to another game
        self.failed: str | None = None

    def move_quickly(self, once: bool) -> None:
        """Once, or all moves until a person or a slow policy is to move."""
        table = self.table
        while table.policy_to_move and table.session.mover not in self.slow:
            table.play(table.choose())
            if once:
                break

    @property
    def here(self) -> set[int]:
        return {each.seat for each in self.connections if each.seat is not None}


class Policies:
    """The policies that play and give hints, each loaded by the worker that fits its pace."""

    def __init__(self, offers: Offers, quick: Worker, slow: Worker) -> None:
        self.offers, self.quick, self.slow = offers, quick, slow
        self.workers_of_users: dict[str, Worker] = {}  # one for each policy of the user

    def worker(self, spec: str) -> Worker:
        """Where a policy is asked."""
        if is_quick(spec):
            return self.quick
        if spec not in self.offers.named:
            return self.slow
        if spec not in self.workers_of_users:
            self.workers_of_users[spec] = Worker(spec)
        return self.workers_of_users[spec]

    async def seated(
        self, chosen: Variant, seats: tuple[str, ...]
    ) -> tuple[dict[int, Policy], dict[int, Worker]]:
        """The policies by their seats, and the workers of those that may think for long."""
        with_people = HUMAN in seats
        specs = {
            seat: self.offers.spec(chosen, name, with_people)
            for seat, name in enumerate(seats)
            if name != HUMAN
        }
        workers = {seat: self.worker(spec) for seat, spec in specs.items()}
        loaded = {
            seat: await self._loaded(seats[seat], workers[seat], spec, chosen)
            for seat, spec in specs.items()
        }
        slow = {seat: worker for seat, worker in workers.items() if worker is not self.quick}
        return loaded, slow

    async def _loaded(self, name: str, worker: Worker, spec: str, chosen: Variant) -> Policy:
        """The policy; UserError without its path if it is one of the user's and fails to load."""
        try:
            return await load(worker, spec, chosen)
        except Exception as error:  # of a file or a module, which may hold anything
            if not self.offers.versions([name]):
                raise
            known = isinstance(error, UserError)
            log.warning("%s cannot be loaded: %s", name, error, exc_info=not known)
            raise UserError(f"{name} cannot be loaded; the server's log says why") from None

    async def warm_up(self, opened: OpenTable) -> None:
        """Let quick policies compile what they need before anybody waits for them."""
        table, adviser = opened.table, await self.adviser(opened.table)
        players = [player for seat, player in table.players.items() if seat not in opened.slow]
        for player in (SeatedPlayer(adviser, table.variant, games=1), *players):
            await self.quick.run(judgement, player, table.session, False)

    async def adviser(self, table: Table) -> Policy:
        """The policy that gives hints; it is asked by the quick worker."""
        return await load(self.quick, default_policy(table.variant), table.variant)


async def load(worker: Worker, spec: str, chosen: Variant) -> Policy:
    """The policy of this name, for this worker alone."""
    return await worker.run(worker.policy, spec, chosen)


class TableServer:
    """Opens tables, lets people in, and does what their messages say."""

    def __init__(self, store: Store, offers: Offers) -> None:
        self.store = store
        self.quick, self.replays, self.slow = Worker("quick"), Worker("replays"), Worker("slow")
        self.policies = Policies(offers, self.quick, self.slow)
        self.open_tables: dict[str, OpenTable] = {}
        self._restoring: dict[str, asyncio.Task[OpenTable]] = {}
        self._record = lru_cache(maxsize=RECORDS)(partial(read, store))

    def close(self) -> None:
        for worker in (self.slow, *self.policies.workers_of_users.values()):
            worker.close(wait=False)  # a search may take seconds, and its answer is not kept
        self.replays.close(wait=False)
        self.quick.close(wait=True)
        self.store.close()

    # --- Opening tables

    async def open(self, wanted: Opening, address: str) -> dict[str, Any]:
        """A new table for an address; returns its id and the keys of its seats.

        UserError if it cannot be.
        """
        chosen = variant(wanted.game, **wanted.options)
        check_seats(chosen, wanted)
        opened = await self._with_policies(new_key(), chosen, wanted.seats)
        table = opened.table
        begun = await self.quick.run(table.begin, wanted.seed)
        await self.policies.warm_up(opened)
        keys: dict[str, int | None] = {new_key(): seat for seat in table.people}
        watch = None if keys else new_key()
        description = {
            "variant": chosen.id,
            "options": dict(chosen.options),
            "catalogue": chosen.actions.digest,
            "seats": wanted.seats,
            "policies": self.policies.offers.versions(wanted.seats),
        }
        all_keys = keys if watch is None else {watch: None}
        in_use = self.open_tables.keys() | self._restoring.keys()
        await self.quick.run(
            self.store.add_table, table.id, description, all_keys, begun, in_use, address
        )
        return {
            "table": table.id,
            "keys": {str(seat): key for key, seat in keys.items()},
            "watch": watch,
        }

    async def _with_policies(self, id: str, chosen: Variant, seats: tuple[str, ...]) -> OpenTable:
        """An open table with all policies loaded, and no game yet."""
        policies, slow = await self.policies.seated(chosen, seats)
        table = await self.quick.run(Table, id, chosen, seats, policies, self.store)
        return OpenTable(table, slow)

    # --- Coming and going

    async def place_of(self, key: str) -> Key | None:
        return await self.quick.run(self.store.place_of, key)

    async def enter(self, place: Key, address: str) -> tuple[OpenTable, Connection]:
        """Sit down, or look on; UserError if the table is gone or too many are connected."""
        await self.quick.run(self.store.touch, place.table)
        opened = self.open_tables.get(place.table) or await self._restored_once(place.table)
        opened = self.open_tables.get(place.table, opened)  # others may have come meanwhile
        connection = Connection(place.seat, address)
        all_connections = [each for one in self.open_tables.values() for each in one.connections]
        check_space(opened, connection, all_connections)
        opened.connections.add(connection)
        self.open_tables[place.table] = opened
        return opened, connection

    async def announce(self, opened: OpenTable) -> None:
        """Show who has come, and to whom; policies that were moving when all had gone go on."""
        await self._broadcast(opened)
        self._let_policies_move(opened)

    async def _restored_once(self, id: str) -> OpenTable:
        """One open table for all who come at the same time."""
        if id not in self._restoring:
            self._restoring[id] = asyncio.create_task(self._restored(id))
            self._restoring[id].add_done_callback(lambda _: self._restoring.pop(id))
        return await asyncio.shield(self._restoring[id])

    async def _restored(self, id: str) -> OpenTable:
        try:
            return await self._continued(id)
        except UserError:
            raise
        except Exception as error:  # damaged rows can raise anything
            raise Damaged from error

    async def _continued(self, id: str) -> OpenTable:
        description = await self.quick.run(self.store.opened, id)
        if description is None:
            raise UserError("this table is no longer there")
        chosen = variant(description["variant"], **description["options"])
        if description["catalogue"] != chosen.actions.digest:
            raise UserError("this game was begun with another version of hanamachi")
        if description.get("policies", {}) != self.policies.offers.versions(description["seats"]):
            raise UserError(
                "this game was begun with other policies: name the same ones, in the same order, "
                "when you start the server"
            )
        opened = await self._with_policies(id, chosen, tuple(description["seats"]))
        await self.quick.run(opened.table.restore)
        return opened

    async def leave(self, opened: OpenTable, connection: Connection) -> None:
        opened.connections.discard(connection)
        self._forget_if_empty(opened)
        await self._broadcast(opened)

    def _forget_if_empty(self, opened: OpenTable) -> None:
        if not opened.connections and opened.moving is None:
            self.open_tables.pop(opened.table.id, None)

    # --- Replays

    async def keep(self, record: Record) -> str:
        """Keep a game that was sent to be looked at; returns its id."""
        id = new_key()
        await self.quick.run(self.store.add_replay, id, text_of(record), True)
        return id

    async def replay(self, id: str) -> Record | None:
        """The game of this id, if there is one."""
        return await self.replays.run(self._record, id)

    # --- Messages

    async def receive(self, opened: OpenTable, connection: Connection, text: str | bytes) -> None:
        """Do what a message says, or answer why not."""
        try:
            await self._handle(opened, connection, message_of(text))
        except UserError as error:
            connection.answer(refusal(str(error)))

    async def _handle(self, opened: OpenTable, connection: Connection, message: Message) -> None:
        table, seat = opened.table, connection.seat
        if isinstance(message, Act):
            if seat is None:
                raise UserError("spectators cannot act")
            await self.quick.run(table.act, seat, message)
            await self._go_on(opened)
        elif isinstance(message, Hint):
            adviser = await self.policies.adviser(table)
            connection.answer(await self.quick.run(table.hint, seat, message.number, adviser))
        elif isinstance(message, Step):
            check_step(opened, seat, message.number)
            self._let_policies_move(opened, by_step=not table.people)
        else:
            assert isinstance(message, New)
            await self._begin_again(opened)
            await self._go_on(opened)

    async def _begin_again(self, opened: OpenTable) -> None:
        """Another game, once at a time, and never while a policy thinks about the last one."""
        check_rest(opened)
        opened.moving = asyncio.ensure_future(
            self.quick.run(opened.table.again, opened.failed is not None)
        )
        try:
            await opened.moving
        finally:
            opened.moving = None
        opened.failed = None

    # --- Moves of policies

    async def _go_on(self, opened: OpenTable) -> None:
        """After a move: the policies are next, or everybody sees the new position."""
        if opened.table.policy_to_move and opened.table.people:
            self._let_policies_move(opened)
        else:
            await self._broadcast(opened)

    def _let_policies_move(self, opened: OpenTable, by_step: bool = False) -> None:
        """All policies until a person is to move, or one of them at a table without people."""
        if opened.moving or not opened.table.policy_to_move or not (by_step or opened.table.people):
            return
        opened.moving = asyncio.create_task(self._move(opened, by_step))

    async def _move(self, opened: OpenTable, once: bool) -> None:
        table = opened.table
        opened.failed = None
        try:
            while table.policy_to_move:
                if worker := opened.slow.get(table.session.mover):
                    await self._think_and_move(opened, worker)
                else:
                    await self.quick.run(opened.move_quickly, once)
                if once:
                    break
        except Exception as error:  # of a policy of the user, which may be anything
            mover = table.session.mover
            known = isinstance(error, UserError)
            log.warning("player %d did not move: %s", mover, error, exc_info=not known)
            opened.failed = failure(mover)
        finally:
            opened.moving = None
        await self._broadcast(opened)
        self._forget_if_empty(opened)

    async def _think_and_move(self, opened: OpenTable, worker: Worker) -> None:
        await self._broadcast(opened)  # people see their own move while the policy thinks
        chosen = await worker.run(opened.table.choose)
        await self.quick.run(opened.table.play, chosen)

    # --- What everybody sees

    async def _broadcast(self, opened: OpenTable) -> None:
        """Show the position to all who are connected, each as its seat may know it."""
        seats = {connection.seat for connection in opened.connections}
        if not seats:
            return
        positions = await self.quick.run(opened.table.positions, seats, opened.here, opened.failed)
        for connection in opened.connections:
            if connection.seat in positions:
                connection.show(positions[connection.seat])


def read(store: Store, id: str) -> Record | None:
    text = store.replay(id)
    return None if text is None else record_in(text)


def refusal(words: str) -> dict[str, Any]:
    return {"type": "refused", "words": words}


def failure(mover: int) -> str:
    """What browsers may read: the error itself may name paths, addresses or what a bot wrote."""
    return f"player {mover} did not move; the log of the server says why"


def check_seats(chosen: Variant, wanted: Opening) -> None:
    if len(wanted.seats) != chosen.seats:
        raise UserError(f"{chosen.id} has {chosen.seats} seats, not {len(wanted.seats)}")
    if wanted.seed is not None and wanted.seats.count(HUMAN) > 1:
        raise UserError("leave out the seed: the player who sets it would know the cards")


def check_step(opened: OpenTable, seat: int | None, number: int) -> None:
    if seat is not None and not opened.failed:
        raise UserError("policies move by themselves where people play")
    check_rest(opened)
    opened.table.expect(number)


def check_rest(opened: OpenTable) -> None:
    if opened.moving:
        raise UserError("wait until the policy has moved or the new game has begun")


def check_space(opened: OpenTable, new: Connection, everyones: Sequence[Connection]) -> None:
    beside = sum(each.seat == new.seat for each in opened.connections)
    own = sum(each.address == new.address for each in everyones)
    everywhere = len(everyones) >= SOCKETS or own >= SOCKETS_OF_AN_ADDRESS
    if everywhere or beside >= SOCKETS_OF_A_SEAT:
        raise Full("too many browsers are connected already; close one of them")
