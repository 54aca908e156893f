"""A canvas as pixels. Pillow is imported only here."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.errors import missing_extra
from hanamachi.rendering.canvas import (
    CORNER,
    EDGE,
    PAPER,
    RIM,
    Box,
    Canvas,
    Ellipse,
    Polygon,
    Text,
    outlines,
)

FINER = 2  # drawn so much larger, then reduced, which smooths the edges


def pixels(canvas: Canvas, width: int | None = None) -> NDArray[np.uint8]:
    """The picture, (height, width, 3), by default as wide as the canvas has units.

    Raises UserError if Pillow is missing.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise missing_extra("Pillow", "render") from None
    width = width or canvas.across
    scale = FINER * width / canvas.across
    size = (round(canvas.across * scale), round(canvas.down * scale))
    image: Any = Image.new("RGB", size, PAPER)
    brush = ImageDraw.Draw(image)
    for shape in outlines(canvas.shapes):
        match shape:
            case Box(x, y, w, h, fill, edge):
                area = scaled((x, y, x + w, y + h), scale)
                brush.rounded_rectangle(area, CORNER * scale, fill, edge, round(EDGE * scale))
            case Ellipse(left, top, right, bottom, fill, edge):
                area = scaled((left, top, right, bottom), scale)
                brush.ellipse(area, fill, edge, round(RIM * scale))
            case Polygon(points, fill):
                brush.polygon(scaled(points, scale), fill)
            case Text(x, y, words, size_of_text, fill, anchor):
                font = ImageFont.load_default(size_of_text * scale)
                brush.text((x * scale, y * scale), words, fill, font, anchor)
    reduced = image.resize((width, round(width * canvas.down / canvas.across)))
    return np.asarray(reduced, np.uint8)


def scaled(values: Iterable[float], scale: float) -> list[float]:
    return [value * scale for value in values]
