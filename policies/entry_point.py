"""Import the object that an entry point "module:name" names."""

from importlib import import_module
from typing import Any

from hanamachi.errors import UserError


def load_entry_point(spec: str) -> Any:
    """The object `name` of a module; UserError if it cannot be imported, whatever the reason."""
    module, _, name = spec.partition(":")
    try:
        return getattr(import_module(module), name)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{spec} cannot be imported: {named(error)}") from error


def named(error: BaseException) -> str:
    """An error's type and message."""
    return f"{type(error).__name__}: {error}"
