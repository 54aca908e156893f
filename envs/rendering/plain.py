"""How a game without words and pictures of its own is shown: by what each seat observes.

A game says more in a module of its own, `Game.render`. What that leaves out comes from this one:
everything is asked for through `parts.render_part`.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.records import alone
from hanamachi.rendering.canvas import Canvas

LINE, MARGIN, WIDTH = 16, 10, 800


def headline(variant: Variant, game: np.record) -> str:
    return variant.game.title


def status(variant: Variant, game: np.record, viewer: int | None) -> str:
    """Who has to decide."""
    if game.mover == OVER:
        return "the game is over"
    return "chance decides" if game.mover == CHANCE else f"player {game.mover} is to move"


def table(
    variant: Variant, game: np.record, viewer: int | None, near: int | None = None
) -> dict[str, Any]:
    """The segments of the observation of the viewer, or of every seat, by name."""
    if viewer is not None:
        return observed(variant, game, viewer)
    return {f"player {seat}": observed(variant, game, seat) for seat in range(variant.seats)}


def pieces(variant: Variant, game: np.record, action: int) -> list[tuple[str, str]]:
    """An action is one piece."""
    words = variant.actions.describe(action, game)
    return [(words, words)]


def heard(
    variant: Variant, before: np.record, by: int, event: int, viewer: int | None
) -> list[str]:
    """One's own actions; of others only that they have moved, as more may be secret."""
    if by == CHANCE:
        return []
    return [variant.actions.describe(event, before) if viewer in (None, by) else "moves"]


def inks(variant: Variant) -> dict[str, str]:
    """The colours of words in a terminal."""
    return {}


def deductions(variant: Variant, game: np.record, viewer: int) -> str:
    """What the viewer can work out beyond what the table shows."""
    return ""


def outcome_name(variant: Variant, before: np.record, outcome: int) -> str:
    """An outcome of chance as games are written down."""
    return str(outcome)


def text(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> str:
    """A block for the seat, or for every seat: the segments of its observation that are not 0."""
    seats = range(variant.seats) if seat is None else [seat]
    lines = [f"to move: player_{game.mover}" if game.mover >= 0 else "nobody is to move"]
    for number in seats:
        lines += [f"player_{number}", *segments(variant, game, number)]
    return "\n".join(lines)


def segments(variant: Variant, game: np.record, seat: int) -> list[str]:
    """A line for each segment with an entry other than 0: its name and its numbers."""
    return [
        f"  {name}: {' '.join(f'{n:g}' for n in numbers)}"
        for name, numbers in observed(variant, game, seat).items()
        if any(numbers)
    ]


def observed(variant: Variant, game: np.record, seat: int) -> dict[str, list[float]]:
    """The segments of a seat's observation, by name."""
    layout, seen = variant.observation, observation(variant, game, seat)
    return {s.name: seen[layout.slice(s.name)].tolist() for s in layout.segments}


def segment(variant: Variant, game: np.record, seat: int, name: str) -> list[float]:
    """One segment of a seat's observation."""
    part = observation(variant, game, seat)[variant.observation.slice(name)]
    return cast(list[float], part.tolist())


def observation(variant: Variant, game: np.record, seat: int) -> NDArray[np.float32]:
    """(N,) what a seat observes."""
    seen = np.empty((1, variant.observation.size), np.float32)
    kernels.observations(variant.rule_set, alone(game), np.array([seat]), seen)
    return cast(NDArray[np.float32], seen[0])


def round_end(variant: Variant, before: np.record, action: int, seat: int | None = None) -> str:
    """The table as text when `action` has ended a round and another follows; else ""."""
    return ""


def round_end_drawing(
    variant: Variant, before: np.record, action: int, seat: int | None = None
) -> Canvas | None:
    """The table when `action` has ended a round and another follows, where a game has rounds."""
    return None


def drawing(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> Canvas:
    """The same text as a picture."""
    lines = text(variant, game, seat).splitlines()
    canvas = Canvas(WIDTH, 2 * MARGIN + LINE * len(lines))
    for number, line in enumerate(lines):
        canvas.write(MARGIN, MARGIN + LINE * (number + 0.5), line, 12, anchor="lm")
    return canvas
