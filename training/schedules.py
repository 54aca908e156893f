"""Schedules: settings that change over a run, such as `lin_3e-4` or `[1e-3, 5e-5]`."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from hanamachi.limits import COEFFICIENT

LINEAR = r"^lin_\d{1,6}(\.\d{0,9})?(e-\d{1,2})?$"  # below COEFFICIENT
Number = Annotated[float, Field(ge=0, le=COEFFICIENT)]
Schedule = Number | Annotated[str, Field(pattern=LINEAR)] | tuple[Number, Number]


def schedule(value: Any) -> Callable[[float], float]:
    """The value as a function of the share of the run that is left, 1 at the start."""
    if isinstance(value, str):
        value = (float(value.removeprefix("lin_")), 0.0)
    start, end = value if isinstance(value, tuple) else (value, value)
    return partial(linear, start, end)


def linear(start: float, end: float, left: float) -> float:
    return end + (start - end) * max(0.0, left)  # the last rollout may end after the run's steps
