"""The numpy record that is a game in progress, and the one that is its rule set.

A batch of games is an array of records. A rule set holds options and tables. In Python and in
compiled code, the fields of both are attributes. No constant here may be used in compiled code,
which is not compiled again when this file changes.
"""

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.layout import Layout

SEGMENTS = 64  # at most, of an observation


def record(seats: int, *fields: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype of one game: the fields every game has, then its own, without any gap.

    `seats` is the most that any rule set has; with fewer, the other rewards stay 0.
    """
    common = [
        ("rng", np.uint64),  # this game's own random generator
        ("rewards", np.float32, (seats,)),  # what the last action brought each seat
        ("mover", np.int8),  # the seat to decide; CHANCE; OVER
    ]
    filled = sorted([*common, *fields], key=lambda field: -np.dtype(field[1]).itemsize)
    filled.append(("rest", np.uint8, (-np.dtype(filled).itemsize % 8,)))
    return with_attributes(filled)


class Record(np.record):  # type: ignore[misc]
    """A record whose fields are read and written as attributes, several times as fast as numpy's.

    Each field of any game is a property of this class.
    """

    __getattribute__ = np.void.__getattribute__
    __setattr__ = np.void.__setattr__
    __getitem__ = np.void.__getitem__  # type: ignore[assignment]


def with_attributes(fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """A dtype whose records let `game.mover` be written in Python as in compiled code."""
    names = {name for name, *_ in fields}
    assert not names & set(dir(np.record)), names & set(dir(np.record))
    for name in names:
        setattr(Record, name, field_property(name))
    return np.dtype((Record, np.dtype(fields, align=True)))


def field_property(name: str) -> property:
    def write(record: Record, value: Any) -> None:
        record[name] = value

    return property(operator.itemgetter(name), write)


def rule_set_dtype(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype of a rule set: what every game has, then the game's own options and tables.

    It is one record because compiled functions would count the references of every array of a tuple
    each time they pass it on.
    """
    common = [
        ("seats", np.int64),  # S
        ("max_outcomes", np.int64),  # of one chance event
        ("units", np.float32, (SEGMENTS,)),  # of each segment, what an int8 observation counts in
        # first entry of each segment of the observation, and N; an index that cannot be negative
        # spares Numba a test at every use
        ("at", np.uint16, (SEGMENTS,)),
    ]
    return with_attributes([*common, *fields])


def filled(dtype: np.dtype[Any], layout: Layout, **values: Any) -> np.record:
    """A rule set with these values, one for each other field; zeros fill up shorter tables."""
    values |= {"at": layout.offsets, "units": layout.segment_units}
    assert values.keys() == set(dtype.names or ()), values.keys() ^ set(dtype.names or ())
    rule_set = np.zeros(1, dtype)
    for name, value in values.items():
        corner: Any = (0, *(slice(n) for n in np.shape(value)))
        rule_set[name][corner] = value
    row: np.record = rule_set[0]
    return row


# --- Copies


def copied(game: np.record) -> np.record:
    """A copy to the byte, in a tenth of numpy's time, which copies field by field.

    numpy's own also leaves the bytes between the fields to chance.
    """
    copy: np.record = alone(game)[0]
    return copy


def alone(game: np.record) -> NDArray[Any]:
    """(1,) a copy for the kernels: one that can be written, or they would be compiled again."""
    return np.frombuffer(bytearray(game.tobytes()), game.dtype)
