"""Checks of the options that users choose a rule set by; each refuses in one sentence."""

from collections.abc import Sequence
from typing import Any

from hanamachi.errors import UserError, shown

STARTERS = ("random", 0, 1)


def one_of(name: str, value: Any, choices: Sequence[Any]) -> None:
    if (type(value), value) not in [(type(choice), choice) for choice in choices]:
        wanted = " or ".join(repr(choice) for choice in choices)
        raise UserError(f"{name} must be {wanted}, not {shown(value)}")


def number_in_range(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise UserError(f"{name} must be a whole number from {low} to {high}, not {shown(value)}")


def numbers_in_range(name: str, values: Any, low: int, high: int, least: int, most: int) -> None:
    """A list of `least` to `most` whole numbers, each from `low` to `high`."""
    listed = isinstance(values, list | tuple) and least <= len(values) <= most
    if not listed or not all(type(value) is int and low <= value <= high for value in values):
        count = f"{least} to {most}" if least < most else f"{most}"
        raise UserError(
            f"{name} must list {count} whole numbers from {low} to {high}, not {shown(values)}"
        )
