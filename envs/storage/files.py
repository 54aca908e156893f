"""Saves that are whole or not there: written aside, flushed to the disk, then renamed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """A file to write that takes the place of `path` only if nothing goes wrong."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.parent / f".{path.name}.new"  # also of a path without a name, such as "."
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that takes the place of the folder `path` only if nothing goes wrong."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside, old = path.with_name(f".{path.name}.new"), path.with_name(f".{path.name}.old")
    restore_folder(path)
    for left in (aside, old):  # by a save that was killed
        shutil.rmtree(left, ignore_errors=True)
    try:
        aside.mkdir()
        yield aside
        for file in aside.iterdir():
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        if path.exists():
            path.rename(old)
        aside.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def restore_folder(path: Path) -> None:
    """Put back the folder of a save that was cut between its two renames."""
    old = path.with_name(f".{path.name}.old")
    if old.exists() and not path.exists():
        old.rename(path)
