"""What environments show to people: the render modes of all adapters."""

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import unknown
from hanamachi.rendering.canvas import Canvas
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.pixels import pixels
from hanamachi.rendering.svg import svg

RENDER_MODES = ("human", "ansi", "rgb_array")
FORFEITED = "an illegal action has ended the game"

Frame = str | NDArray[np.uint8] | None


def checked_render_mode(mode: str | None, known: Sequence[str] = RENDER_MODES) -> str | None:
    if mode is None or (isinstance(mode, str) and mode in known):
        return mode
    raise unknown("render mode", mode, known)


def frame(
    variant: Variant,
    game: np.record,
    mode: str,
    seat: int | None = None,
    *,
    forfeited: bool = False,
) -> Frame:
    """The table as a seat sees it: printed, as text, or as an image (H, W, 3) uint8.

    Without a seat hidden cards are shown, too. Text says whether the game was forfeited, which the
    table does not tell.
    """
    if mode == "rgb_array":
        return pixels(render_part(variant, "drawing")(variant, game, seat))
    text: str = render_part(variant, "text")(variant, game, seat)
    if forfeited:
        text += f"\n{FORFEITED}"
    if mode == "ansi":
        return text
    print_anywhere(text)
    return None


def print_anywhere(text: str) -> None:
    """Print, with escapes for the characters that standard output cannot encode."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def table_svg(variant: Variant, game: np.record) -> str:
    """The whole table as SVG, hidden cards too, such as a notebook shows it."""
    drawing: Canvas = render_part(variant, "drawing")(variant, game)
    return svg(drawing, f"the table of {variant.game.title}")
