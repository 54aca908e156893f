"""A run folder has one owner: the process that trains in it.

The owner holds a lock, which ends with its process, however that ends. The lock's file stays in the
folder, because removing it could give the folder two owners.
"""

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hanamachi.errors import UserError
from hanamachi.limits import DESCRIPTION_BYTES
from hanamachi.storage.files import check_folder, remove_leftovers, replacing, restore_folder
from hanamachi.storage.reading import read_object
from hanamachi.training.run_files import POLICY

LOCK, OWNER = ".lock", ".owner.json"

patience = ContextVar("patience", default=0.0)  # seconds to wait for another owner's end


@contextmanager
def waiting(seconds: float) -> Iterator[None]:
    """Within it, this thread waits so long for a folder whose owner is about to end."""
    before = patience.set(seconds)
    try:
        yield
    finally:
        patience.reset(before)


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Own a folder, and create it if it is missing; UserError if another process owns it."""
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "training in"):
        try:
            put_right(folder)
            me = {**this_process(), "since": time.strftime("%Y-%m-%d %H:%M")}
            with replacing(folder / OWNER) as file:
                file.write(json.dumps(me).encode())
            yield
        finally:
            if is_ours(folder):
                (folder / OWNER).unlink()


@contextmanager
def locked(folder: Path, doing: str) -> Iterator[None]:
    """Hold the lock of a folder; UserError if another process, `doing` the same, holds it."""
    lock = FileLock(folder / LOCK, timeout=patience.get())
    try:
        lock.acquire()
    except Timeout:
        raise UserError(
            f"another process is {doing} {folder}{described(owner_of(folder))}: "
            "wait for its end, or name another folder"
        ) from None
    except (OSError, NotImplementedError) as error:
        why = getattr(error, "strerror", None) or "its file system has no locks"
        raise UserError(f"the folder {folder} cannot be locked: {why}") from error
    try:
        yield
    finally:
        lock.release()


def check_owned(folder: Path) -> None:
    """UserError if the folder is gone, or has become another's, while this process used it."""
    if not is_ours(folder):
        raise UserError(
            f"{folder} was removed, or replaced, while this process was training in it: "
            "nothing more is saved"
        )


def put_right(folder: Path) -> None:
    """Complete or undo the saves of an owner that was killed."""
    restore_folder(folder / POLICY)
    for place in (folder, folder / POLICY):
        remove_leftovers(place)


# --- Who owns it


def this_process() -> dict[str, Any]:
    return {"pid": os.getpid(), "host": platform.node()}


def owner_of(folder: Path) -> dict[str, Any]:
    """The process that owns a folder, as it described itself; empty if that cannot be read."""
    return read_object(folder / OWNER, DESCRIPTION_BYTES) or {}


def is_ours(folder: Path) -> bool:
    return this_process().items() <= owner_of(folder).items()


def described(owner: dict[str, Any]) -> str:
    if not owner.keys() >= {"pid", "host", "since"}:
        return ""
    return f" (pid {owner['pid']} on {owner['host']}, since {owner['since']})"
