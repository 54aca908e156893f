"""Whole games as text that people read and write, and games in any form that is known here.

    hanamikoji max_rounds=3
    generator 0x1f2e3d4c5b6a7988
    (player 0 begins, 2a, 3b, 4, 5, 5, 2c, 2a, 3a, 3b, 4, 4, 5, 2b)
    player 0: gift 2a 3b 4
    player 1: take 4
    (3a)
    ...

The first line names the variant, and its options where they differ. The state of the random
generator decides what chance brings where no brackets say it; without the line it is 1. Actions
are in the words that the choices are listed in. "player 0:" may be left out, blank lines and what
follows "#" are passed over.
"""

import json
import os
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, nearest, shown, unknown
from hanamachi.games.registry import GAMES, VARIANTS, changed_options
from hanamachi.games.registry import variant as make_variant
from hanamachi.games.small import SMALL
from hanamachi.limits import RECORD_BYTES
from hanamachi.rendering.parts import render_part
from hanamachi.sessions.events import Event
from hanamachi.sessions.hanab_live import hanab_live, is_hanab_live, read_hanab_live
from hanamachi.sessions.saved_games import (
    Record,
    generator_state,
    loaded,
    record_of,
    replay,
    save,
)
from hanamachi.sessions.session import legal_in, let_chance_happen, possible_outcomes
from hanamachi.storage.files import utf8, write_whole
from hanamachi.storage.plain_yaml import parse_yaml
from hanamachi.storage.reading import checked_path, parse_json, read_bounded

WRITTEN = (".txt", ".json", ".hanab.json")  # how the names of written games end
GENERATOR = re.compile(r"generator\s+(\S+)")
PLAYER = re.compile(r"player\s+(\d{1,3})\s*:\s*(.*)")


# --- Writing


def notation(record: Record) -> str:
    """A game as text, which `read_notation` reads back without loss."""
    events, variant = replay(record).history().events, record.variant
    lines = [head(variant), f"generator {record.generator:#018x}"]
    for by, group in groupby(events, key=lambda event: event.by):
        if by == CHANCE:
            lines.append(f"({', '.join(outcome(variant, event) for event in group)})")
        else:
            for event in group:
                words = variant.actions.describe(event.number, event.before)
                lines.append(f"player {by}: {words}")
    return "\n".join(lines) + "\n"


def head(variant: Variant) -> str:
    """The variant, and its options where they differ from its own."""
    options = [
        f"{name}={json.dumps(value, separators=(',', ':'))}"
        for name, value in changed_options(variant).items()
    ]
    return " ".join([variant.id, *options])


def outcome(variant: Variant, event: Event) -> str:
    name: str = render_part(variant, "outcome_name")(variant, event.before, event.number)
    return name


def write_game(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a game in the form that the file's name asks for.

    NAME.txt is notation, NAME.hanab.json the JSON of hanab.live, and NAME.json a saved game. Raises
    UserError for another name, or if the file cannot be written.
    """
    path = checked_path(path)
    name = path.name.lower()
    if name.endswith(".hanab.json"):
        text = json.dumps(hanab_live(record)) + "\n"
    elif name.endswith(".json"):
        return save(record, path)
    elif name.endswith(".txt"):
        text = notation(record)
    else:
        raise UserError(f"a game is written as {', '.join(WRITTEN)}, not as {path.name}")
    write_whole(path, text.encode())


# --- Reading


def load_game(path: str | os.PathLike[str]) -> Record:
    """Read a game in any form from a file; UserError as for `read_game`."""
    text = read_bounded(path, RECORD_BYTES)
    try:
        return read_game(text)
    except UserError as error:
        raise UserError(f"{path} is no game that can be replayed: {error}") from None


def read_game(text: bytes | str, most: int | None = None) -> Record:
    """A game in any form: as saved here, in notation, or in the JSON of hanab.live.

    Raises UserError if it is none of them, or if the rules do not allow it; and, before anything is
    played, if it has more than `most` actions.
    """
    if isinstance(text, str):
        text = utf8(text)
    if not isinstance(text, bytes):
        raise UserError(f"a game to read must be text or its bytes, not {shown(text)}")
    if text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise UserError("it is text in UTF-16: save it as UTF-8")
    text = text.removeprefix(BOM_UTF8)  # with which some editors begin a file
    if not text.lstrip().startswith(b"{"):
        return read_notation(text.decode(errors="replace"), most)
    content = parse_json(text)
    check_length(content.get("actions"), most)
    if is_hanab_live(content):
        return record_of(replay(read_hanab_live(content)))
    return loaded(text)


def check_length(actions: Any, most: int | None) -> None:
    """UserError for too many actions; what is no list of them is refused later."""
    if most is not None and isinstance(actions, list) and len(actions) > most:
        raise UserError(f"give a game of at most {most:,} actions; this one has {len(actions):,}")


def read_notation(text: str, most: int | None = None) -> Record:
    """The game that the text spells; UserError names the line that cannot be read or played.

    A game of more than `most` actions is refused before it is played.
    """
    if not isinstance(text, str):
        raise UserError(f"notation is text, not {shown(text)}")
    lines = list(lines_of(text))
    if not lines:
        raise UserError("there is no game; its first line must name a variant, such as hanamikoji")
    (_, first), *others = lines
    variant, generator = variant_in(first), 1
    if others and (found := GENERATOR.fullmatch(others[0][1])):
        generator, others = generator_state(found[1]), others[1:]
    check_length([line for _, line in others if not line.startswith("(")], most)
    return played(variant, generator, others)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """What each line says, with its number from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        said = " ".join(line.partition("#")[0].split())
        if said:
            yield number, said


def variant_in(line: str) -> Variant:
    id, *settings = line.split()
    options: dict[str, Any] = {}
    known = named_variant(id).options
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UserError(f"{shown(setting)} must be an option and its value, such as starter=0")
        if name in options:
            raise UserError(f"{shown(name)} is given twice")
        if name not in known:  # before anything is made of the value
            raise unknown(f"option of {id} called", name, known)
        options[name] = parse_yaml(value, f"the value of {name}")
    return make_variant(id, **options)


def named_variant(id: str) -> Variant:
    """The variant that the first line names; a name like none of any game begins another text."""
    if not nearest(id, [*GAMES, *VARIANTS, *SMALL], 0.5):
        raise UserError(
            "it is neither the JSON of a game nor notation, whose first line names a variant, such "
            "as hanamikoji"
        )
    return make_variant(id)


def played(variant: Variant, generator: int, lines: Iterable[tuple[int, str]]) -> Record:
    """The game that these lines lead to, from the start."""
    games, chance, actions = variant.new(np.zeros(1, np.uint64)), [], []
    games["rng"] = generator
    kernels.start_one(variant.rule_set, games[0])
    for number, line in lines:
        try:
            if line.startswith("("):
                chance += [bring(variant, games, name) for name in names_in(line)]
            else:
                chance += let_chance_happen(variant, games)
                actions.append(act(variant, games, line))
        except UserError as error:
            raise UserError(f"line {number}: {error}") from None
    chance += let_chance_happen(variant, games)
    return Record(variant, generator, tuple(chance), tuple(actions))


def names_in(line: str) -> list[str]:
    return [name.strip() for name in line.strip("()").split(",") if name.strip()]


def bring(variant: Variant, games: NDArray[Any], name: str) -> int:
    """Let chance bring the outcome of this name; returns its number."""
    if games["mover"][0] != CHANCE:
        raise UserError(f"{shown(name)} stands in brackets, but chance does not decide here")
    possible = possible_outcomes(variant, games)
    name_of = render_part(variant, "outcome_name")
    found = [number for number in possible if name_of(variant, games[0], number) == name.lower()]
    if not found:
        raise UserError(f"chance cannot bring {shown(name)} here")
    kernels.draw_one(variant.rule_set, games[0])  # each outcome uses one random number
    kernels.resolve_one(variant.rule_set, games[0], found[0])
    return found[0]


def act(variant: Variant, games: NDArray[Any], line: str) -> int:
    """Carry out the action that a line names; returns its number."""
    mover, (player, words) = int(games["mover"][0]), player_and_words(line)
    if mover == OVER:
        raise UserError(f"{shown(line)} comes after the end of the game")
    if player not in (None, mover):
        raise UserError(f"player {mover} is to move, not player {player}")
    action = variant.actions.parse(words, games[0])
    if action not in legal_in(variant, games):
        raise UserError(f"player {mover} may not {shown(words)} here")
    kernels.apply_one(variant.rule_set, games[0], action)
    return action


def player_and_words(line: str) -> tuple[int | None, str]:
    found = PLAYER.fullmatch(line)
    return (int(found[1]), found[2]) if found else (None, line)
