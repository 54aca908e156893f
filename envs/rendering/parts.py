"""How a game is shown: by its own module of words and pictures, or else as `plain` does."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.rendering import plain


def render_part(variant: Variant, name: str) -> Callable[..., Any]:
    """The function of `plain` of this name, or the game's own in its place.

    The game's module is imported here, as most programs never show a table.
    """
    module = variant.game.render
    own: Callable[..., Any] | None = getattr(import_module(module), name, None) if module else None
    return own or getattr(plain, name)
