"""Where this system keeps the data and the caches of its users' programs."""

import os
import sys
from pathlib import Path

NAME = "hanamachi"


def data_folder() -> Path:
    """For what users would miss."""
    if sys.platform == "win32":
        return local() / NAME
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / NAME
    return given("XDG_DATA_HOME") or Path.home() / ".local" / "share" / NAME


def cache_folder() -> Path:
    """For what can be had again."""
    if sys.platform == "win32":
        return local() / NAME / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / NAME
    return given("XDG_CACHE_HOME") or Path.home() / ".cache" / NAME


def local() -> Path:
    return Path(os.environ.get("LOCALAPPDATA", Path.home()))


def given(variable: str) -> Path | None:
    folder = os.environ.get(variable, "")
    return Path(folder) / NAME if folder else None
