"""What pictures of all games are drawn with. Pillow is imported only where an image is drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.errors import missing_extra

FINER = 2  # drawn so much larger, then reduced, which smooths the edges

PAPER, PANEL, TABLE = "#f7f3ea", "#ece4d4", "#e2d7c1"
INK, HIDDEN, GOLD, LIGHT = "#3a3330", "#8f8a86", "#d9a521", "#ffffff"


class Canvas:
    """A drawing of `across` by `down` units, `width` pixels wide."""

    def __init__(self, across: int, down: int, width: int) -> None:
        try:
            from PIL import Image, ImageDraw, ImageFont
        except ImportError:
            raise missing_extra("Pillow", "render") from None
        self.size = (width, round(width * down / across))
        self.scale = FINER * width / across
        size = (round(across * self.scale), round(down * self.scale))
        self.image: Any = Image.new("RGB", size, PAPER)
        self.draw: Any = ImageDraw.Draw(self.image)
        self.font: Any = ImageFont.load_default

    def box(
        self, x: float, y: float, w: float, h: float, fill: str, edge: str | None = None
    ) -> None:
        area = self._scaled((x, y, x + w, y + h))
        radius = 4 * self.scale
        self.draw.rounded_rectangle(area, radius, fill, edge, round(2 * self.scale))

    def disc(self, x: float, y: float, radius: float, fill: str) -> None:
        corners = (x - radius, y - radius, x + radius, y + radius)
        self.draw.ellipse(self._scaled(corners), fill, INK, round(self.scale))

    def ellipse(self, corners: Sequence[float], fill: str) -> None:
        """Without an edge, between two corners."""
        self.draw.ellipse(self._scaled(corners), fill)

    def polygon(self, points: Sequence[float], fill: str) -> None:
        """Without an edge, through points given by x and y in turn."""
        self.draw.polygon(self._scaled(points), fill)

    def write(
        self, x: float, y: float, words: str, size: float, fill: str = INK, anchor: str = "mm"
    ) -> None:
        """Text around or from a point, as Pillow's anchors say."""
        font = self.font(size * self.scale)
        self.draw.text((x * self.scale, y * self.scale), words, fill, font, anchor)

    def pixels(self) -> NDArray[np.uint8]:
        """The picture, (height, width, 3)."""
        return np.asarray(self.image.resize(self.size), np.uint8)

    def _scaled(self, values: Sequence[float]) -> list[float]:
        return [v * self.scale for v in values]
