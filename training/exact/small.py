"""The small versions: variants whose whole tree is walked in seconds, one table of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hanamachi.game import Variant
from hanamachi.games import VARIANTS, variant


class Small(NamedTuple):
    """The options that make a variant small."""

    id: str
    options: Mapping[str, Any]

    def variant(self) -> Variant:
        return variant(self.id, **self.options)


SMALL: dict[str, Small] = {
    "hanamikoji-9": Small(
        "hanamikoji",
        {"cards": (2, 3, 4), "actions": ("secret", "gift"), "max_rounds": 1, "starter": 0},
    ),
}


def small_versions(game: str) -> list[Small]:
    """Those of one game."""
    return [small for small in SMALL.values() if VARIANTS[small.id].name == game]


def command_line(small: Small) -> str:
    """How the command line is told to take it."""
    settings = (f"--set {name}={spelled(value)}" for name, value in small.options.items())
    return f"--game {small.id} {' '.join(settings)}"


def spelled(value: Any) -> str:
    return f"[{','.join(map(spelled, value))}]" if isinstance(value, tuple) else str(value)
