"""What callers give as arguments, checked: each function returns it, or raises UserError."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.limits import DEAL, GAMES_AT_ONCE

SEEDS = 2**64  # seeds run from 0 to one less


def checked_variant(variant: Any) -> Variant:
    """A variant, not its id."""
    if isinstance(variant, Variant):
        return variant
    raise UserError(f"give a variant, as hanamachi.variant(id) returns it, not {shown(variant)}")


def whole_number(value: Any, what: str) -> int:
    """An integer of Python or of numpy, as an int; True and False are none."""
    with suppress(TypeError):
        if not isinstance(value, bool | np.bool_):
            return index(value)
    raise UserError(f"{what} must be a whole number, not {shown(value)}")


def is_number(value: Any) -> bool:
    """Whether it is an integer or a float of Python; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def seat_number(seat: Any, seats: int, words: str = "a seat must be") -> int:
    """A seat as an int; UserError, which begins with `words`, if there is no such seat."""
    with suppress(UserError):
        if 0 <= (number := whole_number(seat, "a seat")) < seats:
            return number
    raise UserError(f"{words} from 0 to {seats - 1}, not {shown(seat)}")


def checked_render_seat(seat: Any, seats: int) -> int | None:
    """The seat whose view is shown; None for the open table."""
    return None if seat is None else seat_number(seat, seats, "a seat to render must be None or")


def checked_size(num_envs: Any) -> int:
    """How many games a batch has."""
    size = whole_number(num_envs, "num_envs")
    if not 1 <= size <= GAMES_AT_ONCE:
        raise UserError(f"num_envs must be from 1 to {GAMES_AT_ONCE:,}, not {shown(size)}")
    return size


def checked_flag(value: Any, name: str) -> bool:
    """True or False, of Python or of numpy."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise UserError(f"{name} must be True or False, not {shown(value)}")


def checked_mapping(options: Any, what: str = "the options of reset") -> Mapping[str, Any]:
    """Options by their names; None stands for none."""
    if options is None or isinstance(options, Mapping):
        return options or {}
    raise UserError(f"{what} must be a dict, not {shown(options)}")


def checked_seeds(seeds: Iterable[Any]) -> NDArray[np.uint64]:
    """Seeds as an array, (B,)."""
    try:
        listed = list(seeds)
    except TypeError:
        raise UserError(f"seeds must be in a list, not {shown(seeds)}") from None
    numbers = [whole_number(seed, "a seed") for seed in listed]
    for number in numbers:
        if not 0 <= number < SEEDS:
            raise UserError(f"a seed must be from 0 to 2**64 - 1, not {shown(number)}")
    return np.array(numbers, np.uint64)


def checked_seed(seed: Any) -> int:
    """A seed as an int."""
    return int(checked_seeds([seed])[0])


def checked_deal(deal: Any) -> tuple[int, ...]:
    try:
        outcomes = tuple(islice(deal, DEAL + 1))  # it may be a generator without an end
    except TypeError:
        listed = "a deal must list outcomes of chance in order"
        raise UserError(f"{listed}, not {shown(deal)}") from None
    if len(outcomes) > DEAL:
        raise UserError(f"a deal may list at most {DEAL:,} outcomes")
    return tuple(whole_number(outcome, "an outcome in a deal") for outcome in outcomes)
