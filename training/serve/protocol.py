"""The door for what browsers send: each message is checked here before anything acts on it.

A message is a JSON object with just the keys of its type; a request likewise. Whatever does not fit
is refused with one sentence (UserError).
"""

from dataclasses import dataclass
from typing import Any

from hanamachi.errors import UserError, shown, unknown
from hanamachi.limits import MESSAGE_BYTES
from hanamachi.sessions.arguments import SEEDS
from hanamachi.storage.reading import parse_json

WORDS = 200  # characters of an action
NAME = 200  # characters of the name of a game or of who sits in a seat
SEATS = 16
OPTIONS = 64
FAR = 1 << 31  # no game has as many actions


# --- Messages of a socket


@dataclass(frozen=True)
class Act:
    """An action of the seat, as a number or in words, after `number` actions."""

    number: int
    action: int | None = None
    words: str | None = None


@dataclass(frozen=True)
class Hint:
    number: int


@dataclass(frozen=True)
class Step:
    """The next policy moves, after `number` actions; or the one that failed is asked again."""

    number: int


@dataclass(frozen=True)
class New:
    """The same seats play again."""


Message = Act | Hint | Step | New


def message_of(text: str | bytes) -> Message:
    """The message that a text spells; UserError if it spells none."""
    content = text.encode(errors="replace") if isinstance(text, str) else text
    if len(content) > MESSAGE_BYTES:
        raise UserError(f"a message has at most {MESSAGE_BYTES:,} bytes")
    given = object_of(content, "a message")
    kind = given.pop("type", None)
    if kind == "act":
        return act_of(given)
    if kind == "hint":
        return Hint(only_number(given))
    if kind == "step":
        return Step(only_number(given))
    if kind == "new":
        only(given, ())
        return New()
    raise unknown("type of message", kind, ("act", "hint", "step", "new"))


def act_of(given: dict[str, Any]) -> Act:
    only(given, ("number", "action", "words"))
    if ("action" in given) == ("words" in given):
        raise UserError("an act names its action either by number or in words")
    number = natural(given, "number")
    if "action" in given:
        return Act(number, action=natural(given, "action"))
    return Act(number, words=text_in(given, "words", WORDS))


def only_number(given: dict[str, Any]) -> int:
    only(given, ("number",))
    return natural(given, "number")


# --- Requests


@dataclass(frozen=True)
class Opening:
    """A table that somebody wants to open; names are looked up elsewhere."""

    game: str
    options: dict[str, Any]
    seats: tuple[str, ...]
    seed: int | None


def opening_of(content: bytes) -> Opening:
    """The table that the body of a request asks for; UserError if it asks for none."""
    given = object_of(content, "a table")
    only(given, ("game", "options", "seats", "seed"))
    options, seats, seed = given.get("options", {}), given.get("seats"), given.get("seed")
    if not isinstance(options, dict) or len(options) > OPTIONS:
        raise UserError(f"options must be an object of at most {OPTIONS} options")
    if not isinstance(seats, list) or not 1 <= len(seats) <= SEATS:
        raise UserError("seats must list who sits in each seat")
    names = tuple(checked_text(seat, "a seat") for seat in seats)
    if seed is not None and (type(seed) is not int or not 0 <= seed < SEEDS):
        raise UserError("seed must be null or from 0 to 2**64 - 1")
    return Opening(text_in(given, "game", NAME), options, names, seed)


def game_text_of(content: bytes) -> str:
    """The text of a game in the body of a request."""
    given = object_of(content, "a request")
    only(given, ("text",))
    if given.get("text") == "":
        raise UserError("choose a file or paste the text of a game first")
    return text_in(given, "text", len(content))


# --- Parts


def object_of(content: bytes, what: str) -> dict[str, Any]:
    try:
        given = parse_json(content)
    except UserError as error:
        raise UserError(f"{what} must be a JSON object: {error}") from None
    if not isinstance(given, dict):
        raise UserError(f"{what} must be a JSON object, not {shown(given)}")
    return given


def only(given: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            others = f"known keys: {', '.join(known)}" if known else "leave it out"
            raise UserError(f"unknown key {shown(name)}; {others}")


def natural(given: dict[str, Any], name: str) -> int:
    value = given.get(name)
    if type(value) is not int or not 0 <= value < FAR:
        raise UserError(f"{name} must be a whole number of at least 0, not {shown(value)}")
    return value


def text_in(given: dict[str, Any], name: str, longest: int) -> str:
    return checked_text(given.get(name), name, longest)


def checked_text(value: Any, what: str, longest: int = NAME) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise UserError(f"{what} must be a text of 1 to {longest} characters, not {shown(value)}")
    return value
