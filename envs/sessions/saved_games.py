"""Saved games: a small JSON file from which a game can be replayed exactly.

    record = env.record()
    save(record, "game.json")
    for game, what_happened in positions(load("game.json")):
        ...

A file lists the outcomes of chance and the actions, in order.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from re import fullmatch
from typing import Any

import numpy as np

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import RECORD_BYTES
from hanamachi.sessions.arguments import SEEDS, checked_variant, whole_number
from hanamachi.sessions.events import History
from hanamachi.sessions.session import Session, let_chance_happen
from hanamachi.storage.files import write_whole
from hanamachi.storage.reading import checked_path, parse_json, read_bounded

FORMAT = 1
KEYS = {"hanamachi_record", "variant", "options", "catalogue", "generator", "chance", "actions"}


@dataclass(frozen=True)
class Record:
    """All that happened in one game, finished or not."""

    variant: Variant
    generator: int  #: the state of the game's random generator at its start
    chance: tuple[int, ...]  #: what chance brought, in order
    actions: tuple[int, ...]  #: what the seats chose, in order

    def __post_init__(self) -> None:
        checked_variant(self.variant)
        if type(self.generator) is not int or not 0 < self.generator < SEEDS:
            raise UserError(
                f"a state of a generator is from 1 to 2**64 - 1, not {shown(self.generator)}"
            )
        for name, part in (("chance", self.chance), ("actions", self.actions)):
            if not isinstance(part, tuple) or not all(type(number) is int for number in part):
                raise UserError(f"{name} must be a tuple of whole numbers, not {shown(part)}")

    def _repr_svg_(self) -> str | None:
        """The table for a notebook, as the game left it."""
        return replay(self)._repr_svg_()


def record_of(session: Session) -> Record:
    """The record of a game that was played from its start; UserError for any other."""
    session.check_begun()
    if not session.from_start:
        raise UserError("a game that began from a given position cannot be saved")
    variant, games = session.variant, session.first_position()
    happened = let_chance_happen(variant, games, session.deal)
    for action in session.actions:
        kernels.apply_one(variant.rule_set, games[0], action)
        happened += let_chance_happen(variant, games, session.deal, len(happened))
    return Record(variant, session.generator, tuple(happened), tuple(session.actions))


def record_of_events(history: History) -> Record:
    """The record of a game that somebody follows from its start, finished or not."""
    first = history.events[0].before if history.events else history.games[0]
    chance = [event.number for event in history.events if event.by == CHANCE]
    actions = [event.number for event in history.events if event.by != CHANCE]
    return Record(history.variant, int(first.rng), tuple(chance), tuple(actions))


# --- Replay


def check_record(record: Any) -> None:
    """UserError for anything but a record."""
    if not isinstance(record, Record):
        raise UserError(f"give a game that record() or load() has returned, not {shown(record)}")


def replay(record: Record, moves: int | None = None) -> Session:
    """Play the game again, or its first moves; UserError if the rules do not allow it."""
    check_record(record)
    if moves is not None and whole_number(moves, "moves") < 0:
        raise UserError(f"moves must be 0 or more, the first ones, not {shown(moves)}")
    session = Session(record.variant)
    session.begin_dealt(record.generator, record.chance)
    for action in record.actions[:moves]:
        if session.mover == OVER:
            raise UserError("it goes on after the end of the game")
        session.step(action)
    return session


def positions(record: Record) -> Iterator[tuple[np.record, str]]:
    """The position after the first deal and after each action, with words for what happened."""
    session = replay(record, 0)
    yield session.state(), "the cards are dealt"
    for action in record.actions:
        words = record.variant.actions.describe(action, session.games[0])
        happened = f"player_{session.mover}: {words}"
        session.step(action)
        yield session.state(), happened


# --- Files


def content_of(record: Record) -> dict[str, Any]:
    """A record as a JSON object."""
    check_record(record)
    return {
        "hanamachi_record": FORMAT,
        "variant": record.variant.id,
        "options": dict(record.variant.options),
        "catalogue": record.variant.actions.digest,
        "generator": f"{record.generator:#018x}",  # other readers of JSON round large numbers
        "chance": record.chance,
        "actions": record.actions,
    }


def save(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record as JSON; a file that is there is replaced whole or not at all."""
    write_whole(checked_path(path), json.dumps(content_of(record)).encode() + b"\n")


def load(path: str | os.PathLike[str]) -> Record:
    """Read a record and play it through; UserError if it is none, was cut, or cannot have been."""
    text = read_bounded(path, RECORD_BYTES)
    try:
        return loaded(text)
    except UserError as error:
        raise UserError(f"{path} is no saved game that can be replayed: {error}") from None


def loaded(text: bytes) -> Record:
    """The record that a text spells; UserError as for `load`. The caller bounds the text."""
    record = parsed(object_in(text))
    if record_of(replay(record)).chance != record.chance:
        raise UserError("its deal was cut or added to")
    return record


def object_in(text: bytes) -> dict[str, Any]:
    """The JSON object in a text, with just the keys of a record."""
    content = parse_json(text)
    if not isinstance(content, dict) or content.keys() != KEYS:
        raise UserError(f"it does not have the keys {', '.join(sorted(KEYS))}")
    if content["hanamachi_record"] != FORMAT:
        raise UserError("another version of hanamachi wrote it")
    return content


def parsed(content: dict[str, Any]) -> Record:
    """The record that a JSON object spells."""
    id, options = content["variant"], content["options"]
    if not isinstance(id, str) or not isinstance(options, dict):
        raise UserError("it names no variant")
    variant = make_variant(id, **options)
    if content["catalogue"] != variant.actions.digest:
        raise UserError("its actions are numbered as in another version of hanamachi")
    chance, actions = numbers(content["chance"], "chance"), numbers(content["actions"], "actions")
    return Record(variant, generator_state(content["generator"]), chance, actions)


def numbers(value: Any, name: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(number) is int for number in value):
        raise UserError(f"{name} must be a list of whole numbers")
    return tuple(value)


def generator_state(value: Any) -> int:
    """A state of a generator, from its hexadecimal spelling; never 0, which it could not leave."""
    if not isinstance(value, str) or not fullmatch("0x[0-9a-f]{16}", value) or not int(value, 16):
        raise UserError('generator must be "0x" and 16 hexadecimal digits, not all 0')
    return int(value, 16)
