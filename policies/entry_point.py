"""Import the object that an entry point "module:name" names."""

import sys
from importlib import import_module
from inspect import isclass, isfunction, signature
from pathlib import Path
from traceback import walk_tb
from types import FrameType, ModuleType
from typing import Any

from hanamachi.errors import UserError, unknown

NOT_THE_USERS = sys.stdlib_module_names | {"hanamachi", "numpy", "torch"}  # modules


def load_entry_point(spec: str) -> Any:
    """The object `name` of a module; UserError if it cannot be imported, whatever the reason."""
    module, _, name = spec.partition(":")
    try:
        return attribute_of(import_module(module), name)
    except UserError:
        raise
    except ModuleNotFoundError as error:
        raise UserError(f"{spec} cannot be imported: {missing(error, module)}") from error
    except (Exception, SystemExit) as error:
        raise UserError(f"{spec} cannot be imported: {type_and_message(error)}") from error


def attribute_of(module: ModuleType, name: str) -> Any:
    """The object of this name; UserError, with the nearest of the module's own, if it has none."""
    if hasattr(module, name):
        return getattr(module, name)
    own = [
        known
        for known, found in vars(module).items()
        if (isfunction(found) or isclass(found)) and found.__module__ == module.__name__
    ]
    raise unknown(f"function of {module.__name__} called", name, own)


def refused_arguments(function: Any, *arguments: Any, **settings: Any) -> str | None:
    """Why a function cannot be called with these; None if it can, or if nobody knows."""
    try:
        signature(function).bind(*arguments, **settings)
    except TypeError as error:
        return str(error)
    except ValueError:  # what is written in C may have no signature
        return None
    return None


def missing(error: ModuleNotFoundError, wanted: str) -> str:
    """Which module is missing, and if it is the one that the user named, where Python looked."""
    if error.name and f"{wanted}.".startswith(f"{error.name}."):
        return f"Python finds no module {error.name} in the current folder or among its packages"
    return type_and_message(error)


def type_and_message(error: BaseException) -> str:
    """The type and message of an error in a user's code, and where it was raised."""
    return f"{type(error).__name__}: {error}{place_of(error)}"


def place_of(error: BaseException) -> str:
    """The last line of the user's code that an error went through, as " (my_bots.py, line 15)"."""
    places = [
        f" ({Path(frame.f_code.co_filename).name}, line {line})"
        for frame, line in walk_tb(error.__traceback__)
        if root_module(frame) not in NOT_THE_USERS
    ]
    return places[-1] if places else ""


def root_module(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]
