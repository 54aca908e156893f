"""The small versions: a table of variants whose whole tree is walked in seconds."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar, cast

Name = TypeVar("Name")  # of a game, or what takes its place


class Small(NamedTuple):
    """A variant and the options that make it small."""

    id: str
    options: Mapping[str, Any]


ONE_ROUND = {"max_rounds": 1, "starter": 0}
GIFTS = {"colours": 2, "item_values": (1, 2, 3), "actions": ("gift",), "starter": 0}
POINTS = {"rounds": 1, "instant_win": 2, "prestige_tokens": (1, 1)}
ONE_ERROR = {"max_clues": 1, "max_errors": 1, "starter": 0}

SMALL: dict[str, Small] = {
    "hanamikoji-gifts": Small(
        "hanamikoji", ONE_ROUND | {"cards": (2, 3, 4), "actions": ("secret", "gift")}
    ),
    "hanamikoji-competitions": Small(
        "hanamikoji", ONE_ROUND | {"cards": (2, 2, 3, 3), "actions": ("secret", "competition")}
    ),
    # the starter chooses a marker first; returns take tokens from two stacks
    "2021-gifts": Small(
        "geishas_road:2021", GIFTS | {"rounds_to_win": 1, "light": (2, 3), "dark": (1,)}
    ),
    # markers are drawn and tokens shuffled
    "introductory-gifts": Small(
        "geishas_road:introductory", GIFTS | POINTS | {"prestige_tokens": (1, 2)}
    ),
    # 1 and 2 collect guests and markers
    "standard-gifts": Small("geishas_road:standard", GIFTS | POINTS),
    # with gifts there would be more than four million states, so offers are never made
    "advanced-intrigue": Small(
        "geishas_road:advanced",
        GIFTS | POINTS | {"actions": ("reveal", "intrigue")},
    ),
    "hanabi-pairs": Small("hanabi:2p", ONE_ERROR | {"colours": 1, "ranks": 2, "hand_size": 2}),
    "hanabi-triples": Small("hanabi:2p", ONE_ERROR | {"colours": 1, "ranks": 3, "hand_size": 2}),
}


def small_versions(game: str) -> list[str]:
    """The names of the small versions of one game."""
    return [name for name, small in SMALL.items() if small.id.partition(":")[0] == game]


def spelled_out(game: Name, options: Mapping[str, Any]) -> tuple[Name, dict[str, Any]]:
    """The id and the options that the name of a small version stands for; other names stay.

    `options` replace those of the small version.
    """
    small = SMALL.get(game) if isinstance(game, str) else None
    if not small:
        return game, dict(options)
    return cast(Name, small.id), {**small.options, **options}
