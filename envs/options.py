"""Checks of the options that users choose a rule set by; each refuses in one sentence."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hanamachi.errors import UserError, unknown

STARTERS = ("random", 0, 1)


def one_of(name: str, value: Any, choices: Sequence[Any]) -> None:
    if (type(value), value) not in [(type(choice), choice) for choice in choices]:
        wanted = " or ".join(repr(choice) for choice in choices)
        raise UserError(f"{name} must be {wanted}, not {value!r}")


def whole_number(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise UserError(f"{name} must be a whole number from {low} to {high}, not {value!r}")


def whole_numbers(name: str, values: Any, low: int, high: int, least: int, most: int) -> None:
    """A list of `least` to `most` whole numbers, each from `low` to `high`."""
    listed = isinstance(values, list | tuple) and least <= len(values) <= most
    if not listed or not all(type(value) is int and low <= value <= high for value in values):
        count = f"{least} to {most}" if least < most else f"{most}"
        raise UserError(
            f"{name} must list {count} whole numbers from {low} to {high}, not {values!r}"
        )


def checked_actions(actions: Any, names: Sequence[str]) -> tuple[str, ...]:
    """The actions in use, in the order of the rulebook."""
    if not isinstance(actions, list | tuple) or not actions:
        raise UserError(f"actions must list at least one action, not {actions!r}")
    for action in actions:
        if action not in names:
            raise unknown("action", action, names)
    if max(Counter(actions).values()) > 1:
        raise UserError(f"each action may be listed once, not {actions!r}")
    return tuple(action for action in names if action in actions)


def cards_used(
    sizes: Sequence[int], names: Sequence[str], actions: Sequence[str], deck: int
) -> int:
    """The cards that each player uses in a round, of which there must be enough for both."""
    used = sum(sizes[names.index(action)] for action in actions)
    if 2 * used > deck:
        raise UserError(
            f"these actions use {2 * used} cards but there are only {deck}; "
            "leave out an action or add cards"
        )
    return used
