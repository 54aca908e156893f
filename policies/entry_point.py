"""Import the object that an entry point "module:name" names."""

from importlib import import_module
from typing import Any

from hanamachi.errors import UserError


def load_entry_point(spec: str) -> Any:
    """The object `name` of a module; UserError if it cannot be imported."""
    module, _, name = spec.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"{spec} cannot be imported: {error}") from error
