"""What goes over a seat's socket depends on nothing that the seat may not know.

Two games that a seat cannot tell apart, by its memory of all that it has seen and done, are played
at two tables. What the server sends to the seat is the same to the byte.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import pytest
from samples import sample
from serving import HUMAN, Client

from hanamachi.engine.contract import CHANCE
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.sessions.moments import Moment
from hanamachi.sessions.saved_games import Record, record_of, replay
from hanamachi.sessions.session import Session
from hanamachi.training.serve.tables import new_key

GAMES = ["hanamikoji:three_rounds", "geishas_road:advanced", "geishas_road:2021", "hanabi:3p"]
PAIRS = sample(40, 0.05)
TRIES = 100


class Pair(NamedTuple):
    """Two games of the same actions, which a seat cannot tell apart."""

    seat: int
    one: Record
    other: Record


# --- Games that a seat cannot tell apart


def pairs(chosen: Variant) -> Iterator[Pair]:
    rng, found = np.random.default_rng(0), 0
    while found < PAIRS:
        record, seat = unfinished(chosen, rng), int(rng.integers(chosen.seats))
        other = alike(record, seat, rng)
        if other:
            found += 1
            yield Pair(seat, record, other)


def unfinished(chosen: Variant, rng: np.random.Generator) -> Record:
    """A game by chance that is not over."""
    session, length = Session(chosen), int(rng.integers(3, 20))
    session.begin(int(rng.integers(1 << 62)))
    while len(session.actions) < length:
        _, mask = session.observe(session.mover)
        session.step(int(rng.choice(np.flatnonzero(mask))))
        if session.mover < 0:
            return unfinished(chosen, rng)
    return record_of(session)


def alike(record: Record, seat: int, rng: np.random.Generator) -> Record | None:
    """The same actions after another deal that the seat cannot tell from this one."""
    known, sight = remembered(record, seat), seen(record, seat)
    for _ in range(TRIES):
        chance = np.array(record.chance)
        here, there = rng.integers(len(chance), size=2)
        chance[[here, there]] = chance[[there, here]]
        dealt = tuple(chance.tolist())
        other = Record(record.variant, record.generator, dealt, record.actions)
        differs = dealt != record.chance and seen(other, seat) == sight
        if differs and remembered(other, seat) == known:
            return other
    return None


def seen(record: Record, seat: int) -> bytes | None:
    """What the seat sees in the end, or None if the game cannot have been."""
    try:
        return replay(record).observe(seat)[0].tobytes()
    except UserError:
        return None


def remembered(record: Record, seat: int) -> str | None:
    """All that the seat has seen and done, or None if the game cannot have been."""
    session = Session(record.variant)
    session.begin_dealt(record.generator, ())
    moment = Moment(record.variant, session.first_position(), 10_000, (0.0,) * record.variant.seats)
    chance, actions = iter(record.chance), iter(record.actions)
    try:
        while (event := next(chance if moment.mover == CHANCE else actions, None)) is not None:
            moment = moment.after(event)
    except UserError:
        return None
    return None if moment.mover == CHANCE else moment.memory(seat).text


# --- What a seat hears


def heard(client: Client, record: Record, seat: int) -> list[str]:
    """All that the seat gets while the game is played, by people, at a table."""
    seats, table = record.variant.seats, new_key()
    keys = [new_key() for _ in range(seats)]
    opened = {
        "variant": record.variant.id,
        "options": dict(record.variant.options),
        "catalogue": record.variant.actions.digest,
        "seats": [HUMAN] * seats,
    }
    begun = {"generator": f"{record.generator:#018x}", "deal": record.chance, "luck": 0}
    owners: dict[str, int | None] = {key: number for number, key in enumerate(keys)}
    client.server.store.add_table(table, opened, owners, begun)
    with ExitStack() as stack:
        others = {
            number: stack.enter_context(client.sit(key))
            for number, key in enumerate(keys)
            if number != seat
        }
        for other in others.values():
            other.until("position")
        own = stack.enter_context(client.sit(keys[seat]))
        position = own.until("position")
        for number, action in enumerate(record.actions):
            assert position["number"] == number
            annoy(own, number)
            mover = position["view"]["mover"]
            (own if mover == seat else others[mover]).send(type="act", number=number, action=action)
            position = own.until("position")
        return own.heard


def annoy(seat: Any, number: int) -> None:
    """Ask for more than a seat gets out of its turn."""
    seat.send(type="hint", number=number)
    seat.next()
    for action in (0, 5):
        seat.send(type="act", number=number + 1, action=action)
        seat.until("refused")
    seat.send(type="act", number=number, words="reveal the other hand")
    seat.until("refused")


@pytest.fixture(autouse=True)
def room_for_all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("TABLES", "TABLES_OF_AN_ADDRESS"):
        monkeypatch.setattr(f"hanamachi.training.serve.store.{limit}", 1_000_000)


@pytest.mark.parametrize("id", GAMES)
def test_a_seat_gets_the_same_bytes_in_games_that_it_cannot_tell_apart(
    client: Client, id: str
) -> None:
    for seat, one, other in pairs(variant(id)):
        assert heard(client, one, seat) == heard(client, other, seat)


def test_the_other_seat_sees_that_the_games_differ(client: Client) -> None:
    """The pairs are not the same games: at some other seat, they differ."""
    found = [
        heard(client, one, 1 - seat) != heard(client, other, 1 - seat)
        for seat, one, other in pairs(variant("hanamikoji:three_rounds"))
    ]
    assert any(found)
