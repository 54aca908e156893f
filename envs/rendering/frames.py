"""What environments show to people: the render modes of all adapters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import unknown
from hanamachi.rendering.canvas import Canvas
from hanamachi.rendering.pixels import pixels
from hanamachi.rendering.svg import svg

RENDER_MODES = ("human", "ansi", "rgb_array")

Frame = str | NDArray[np.uint8] | None


def checked_render_mode(mode: str | None) -> str | None:
    if mode is None or (isinstance(mode, str) and mode in RENDER_MODES):
        return mode
    raise unknown("render mode", mode, RENDER_MODES)


def frame(variant: Variant, game: np.record, mode: str) -> Frame:
    """The whole table, hidden cards too: printed, as text, or as an image (H, W, 3) uint8."""
    module: Any = variant.game.render()
    if mode == "rgb_array":
        return pixels(module.drawing(variant, game))
    text: str = module.text(variant, game)
    if mode == "ansi":
        return text
    print(text)
    return None


def table_svg(variant: Variant, game: np.record) -> str:
    """The whole table as SVG, hidden cards too, such as a notebook shows it."""
    drawing: Canvas = variant.game.render().drawing(variant, game)
    return svg(drawing, f"the table of {variant.game.title}")
