"""How a game without pictures of its own is shown: what each seat observes, as text."""

import numpy as np

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.rendering.canvas import Canvas

LINE, MARGIN, WIDTH = 16, 10, 800


def text(variant: Variant, game: np.record, seat: int | None = None) -> str:
    """A block for the seat, or for every seat: the segments of its observation that are not 0."""
    seats = range(variant.seats) if seat is None else [seat]
    lines = [f"to move: player_{game.mover}" if game.mover >= 0 else "nobody is to move"]
    for number in seats:
        lines += [f"player_{number}", *segments(variant, game, number)]
    return "\n".join(lines)


def segments(variant: Variant, game: np.record, seat: int) -> list[str]:
    """A line for each segment with an entry other than 0: its name and its numbers."""
    layout = variant.observation
    seen = np.empty((1, layout.size), np.float32)
    kernels.observations(variant.rule_set, np.array([game]), np.array([seat]), seen)
    parts = {s.name: seen[0, layout.slice(s.name)] for s in layout.segments}
    return [
        f"  {name}: {' '.join(f'{n:g}' for n in numbers)}"
        for name, numbers in parts.items()
        if numbers.any()
    ]


def drawing(variant: Variant, game: np.record, seat: int | None = None) -> Canvas:
    """The same text as a picture."""
    lines = text(variant, game, seat).splitlines()
    canvas = Canvas(WIDTH, 2 * MARGIN + LINE * len(lines))
    for number, line in enumerate(lines):
        canvas.write(MARGIN, MARGIN + LINE * (number + 0.5), line, 12, anchor="lm")
    return canvas
