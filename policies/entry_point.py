"""Import the object that an entry point "module:name" names."""

from importlib import import_module
from inspect import isclass, isfunction
from types import ModuleType
from typing import Any

from hanamachi.errors import UserError, unknown


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


def missing(error: ModuleNotFoundError, wanted: str) -> str:
    """Which module is missing, and if it is the one that the user named, where Python looked."""
    if error.name and f"{wanted}.".startswith(f"{error.name}."):
        return f"Python finds no module {error.name} in the current folder or among its packages"
    return type_and_message(error)


def type_and_message(error: BaseException) -> str:
    """An error's type and message."""
    return f"{type(error).__name__}: {error}"
