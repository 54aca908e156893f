"""Files from outside: never more is read than a file of its kind can hold."""

import json
import os
from pathlib import Path
from stat import S_ISREG
from typing import Any

from hanamachi.errors import UserError, shown
from hanamachi.limits import DIGITS, NESTING, VALUES


def read_bounded(path: str | os.PathLike[str], largest: int) -> bytes:
    """The content of a regular file; UserError if there is none, or more than `largest` bytes."""
    checked_path(path)
    try:
        with open(path, "rb", opener=opened_at_once) as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UserError(f"{path} cannot be read: it is no regular file")
            content = file.read(largest + 1)
    except IsADirectoryError:
        raise UserError(f"{path} is a folder: name a file in it") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > largest:
        raise UserError(f"{path} cannot be read: it has more than {largest:,} bytes")
    return content


def read_object(path: str | os.PathLike[str], largest: int) -> dict[str, Any] | None:
    """The JSON object in a file; None if it cannot be read or holds anything else."""
    try:
        found = parse_json(read_bounded(path, largest))
    except UserError:
        return None
    return found if isinstance(found, dict) else None


def checked_path(path: str | os.PathLike[str]) -> Path:
    """The path; UserError unless it is a text or a Path that a file or folder can have."""
    if not isinstance(path, str | os.PathLike):  # a number is an open file, which open() closes
        raise UserError(f"a path must be a text or a Path, not {shown(path)}")
    if path == "":
        raise UserError("a path is empty: name a file or a folder; that of this folder is .")
    if not may_name_a_file(path):
        raise UserError(f"no file can have the characters of the name {path}")
    return Path(path)


def may_name_a_file(path: str | os.PathLike[str]) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def opened_at_once(path: str, flags: int) -> int:
    """Opens a file without waiting, as a pipe would until somebody writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # Windows has no such pipes


def parse_json(content: bytes) -> Any:
    """The value that JSON spells; the caller bounds the content.

    As Python writes them, NaN and Infinity are numbers too. UserError if it is none, repeats a key,
    is nested deep, has very many values or a whole number of many digits.
    """
    if sum(map(content.count, b"[{,")) > VALUES:  # each value but one follows one of these
        raise UserError(f"it has more than {VALUES:,} values")
    try:
        value = json.loads(content, object_pairs_hook=without_repetition, parse_int=bounded_int)
    except (ValueError, RecursionError):
        raise UserError("it is not JSON, repeats a key, or has too long a number") from None
    if is_nested(value, NESTING):
        raise UserError("it is nested too deep")
    return value


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError if a key is repeated, where most readers would take the last."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def bounded_int(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def is_nested(value: Any, levels: int) -> bool:
    """Whether lists and objects are nested deeper than this."""
    if not isinstance(value, dict | list | tuple):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_nested(part, levels - 1) for part in parts)
