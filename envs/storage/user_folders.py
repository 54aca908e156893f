"""Where this system keeps the data and the caches of its users' programs."""

import os
import sys
from pathlib import Path

from hanamachi.errors import UserError

NAME = "hanamachi"


def data_folder() -> Path:
    """For what users would miss; UserError if there is no home folder."""
    if sys.platform == "win32":
        return local() / NAME
    if sys.platform == "darwin":
        return home() / "Library" / "Application Support" / NAME
    return given("XDG_DATA_HOME") or home() / ".local" / "share" / NAME


def cache_folder() -> Path:
    """For what can be had again; UserError if there is no home folder."""
    if sys.platform == "win32":
        return local() / NAME / "Cache"
    if sys.platform == "darwin":
        return home() / "Library" / "Caches" / NAME
    return given("XDG_CACHE_HOME") or home() / ".cache" / NAME


def local() -> Path:
    return Path(os.environ.get("LOCALAPPDATA") or home())


def home() -> Path:
    """UserError where the system knows no folder of the user, as in some containers."""
    try:
        return Path.home()
    except RuntimeError:
        raise UserError(
            "this user has no home folder: set HOME, or name the folder with an option, as --data"
        ) from None


def given(variable: str) -> Path | None:
    folder = os.environ.get(variable, "")
    return Path(folder) / NAME if folder else None
