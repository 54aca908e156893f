"""Saves that are whole or not there: written aside, flushed to the disk, then renamed.

Each save is written under a hidden name of its own, so that two writers never share a file. A
process that is killed leaves such a name behind; `remove_leftovers` removes it.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from hanamachi.errors import UserError

ASIDE = re.compile(r"\..+\.[0-9a-f]{8}\.new", re.DOTALL)  # the names that `aside_of` gives
Read = TypeVar("Read")


# --- Writing


@contextmanager
def replacing(
    path: Path, give_name: Callable[[Path, Path], object] = os.replace
) -> Iterator[BufferedWriter]:
    """A file to write that takes the place of `path` only if nothing goes wrong.

    It has the permissions of the file that was there. A link stands for its file, and stays.
    UserError if `path` is a folder, a pipe or a device, or its folder is a file.
    """
    path = Path(os.path.realpath(path))
    check_folder(path.parent)
    if os.path.isdir(path):
        raise UserError(f"{path} is a folder: name a file")
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is no regular file, and would be replaced: name another")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = aside_of(path)
    try:
        with aside.open("xb") as file:
            if path.exists():
                shutil.copymode(path, aside)
            yield file
            file.flush()
            os.fsync(file.fileno())
        give_name(aside, path)
        flush_names(path.parent)
    except OSError as error:
        # writes name no file, and nobody has named the one aside
        if error.errno is not None and error.filename in (None, aside, str(aside)):
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        with suppress(OSError):  # which would hide what went wrong
            aside.unlink()


def creating(path: Path) -> AbstractContextManager[BufferedWriter]:
    """As `replacing`, but raises FileExistsError, and leaves the file, if `path` is there."""
    return replacing(path, name_if_free)


def name_if_free(aside: Path, path: Path) -> None:
    """Give a file that was written aside its name; of several processes one alone succeeds."""
    try:
        os.link(aside, path)
    except FileExistsError:
        raise
    except OSError:  # without links, as on exFAT, two at the very same moment may both succeed
        if path.exists():
            raise FileExistsError(path) from None
        aside.replace(path)


def utf8(text: str) -> bytes:
    """The text in UTF-8; what it cannot hold, as in names of some files, is written as escapes."""
    return text.encode(errors="backslashreplace")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that a user asked for, whole or not at all; UserError if that cannot be."""
    try:
        with replacing(path) as file:
            file.write(content)
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}; name another place") from None
    except ValueError:  # an encoding has no such character, or the system does not take it
        raise UserError(f"cannot write {path}: no file can have this name") from None


def refuse_existing(path: Path) -> None:
    """UserError if a save would replace a file."""
    if path.is_file():
        raise UserError(f"{path} is there already: move it, or name another file")


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that takes the place of the folder `path` only if nothing goes wrong.

    A link stands for its folder, and stays. UserError if `path` or a folder above it is a file.
    """
    check_folder(path)
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    restore_folder(path)
    aside, old = aside_of(path), old_of(path)
    try:
        aside.mkdir()
        yield aside
        for file in aside.iterdir():
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        flush_names(aside)
        if path.exists():
            path.rename(old)
        aside.rename(path)
        flush_names(path.parent)
    finally:
        restore_folder(path)
        shutil.rmtree(aside, ignore_errors=True)


def check_folder(path: Path) -> None:
    """UserError if this can be no folder, because it, or one above it, is a file."""
    for place in (path, *path.parents):
        if os.path.exists(place) and not os.path.isdir(place):
            raise UserError(f"{place} is a file: name a folder")


def aside_of(path: Path) -> Path:
    """A hidden name next to `path` that no other writer has."""
    return path.parent / f".{path.name}.{token_hex(4)}.new"  # "." has a parent, but no name


def old_of(path: Path) -> Path:
    """Where the folder `path` is between the two renames of a save."""
    whole = Path(os.path.realpath(path))  # "." has no name, and a link stands for its folder
    return whole.parent / f".{whole.name}.old"


def flush_names(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the platform and the file system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


# --- After a save that was cut


def restore_folder(path: Path) -> None:
    """Put back the old folder if the new one never took its place, or remove it if it did."""
    path, old = Path(os.path.realpath(path)), old_of(path)
    if old.exists() and not path.exists():
        old.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed saves left in a folder; only for a process that alone saves there."""
    for left in folder.iterdir() if folder.is_dir() else ():
        if ASIDE.fullmatch(left.name):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


# --- Reading


def read_folder(path: Path, read: Callable[[Path], Read]) -> Read:
    """What `read` makes of a folder; it reads again if a save replaced the folder meanwhile.

    Between the two renames of a save, it reads the old folder.
    """
    while True:
        before, old = identities(path), old_of(path)
        renaming = os.path.exists(old) and not os.path.exists(path)
        try:
            return read(old if renaming else path)
        except Exception:
            if identities(path) == before:
                raise


def identities(path: Path) -> list[tuple[int, int] | None]:
    """What tells one save of a folder from the next: its number and time, and those of the old."""
    found: list[tuple[int, int] | None] = []
    for folder in (path, old_of(path)):
        try:
            status = folder.stat()
            found.append((status.st_ino, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return found
