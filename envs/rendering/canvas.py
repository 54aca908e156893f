"""What the tables of all games are drawn on: a canvas keeps shapes, for pixels or for SVG.

    canvas = Canvas(600, 560)
    canvas.box(10, 36, 580, 114, PANEL)
    canvas.write(22, 53, "player 0", 15, anchor="lm")
    svg(canvas)     # hanamachi.rendering.svg: a string, without Pillow
    pixels(canvas)  # hanamachi.rendering.pixels: an array, with Pillow

Lengths are in units of the canvas, x to the right and y down from its upper left corner.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

PAPER, PANEL, TABLE = "#f7f3ea", "#ece4d4", "#e2d7c1"
INK, HIDDEN, GOLD, LIGHT = "#3a3330", "#8f8a86", "#d9a521", "#ffffff"

CORNER = 4  # the radius of a box's corners
EDGE, RIM = 2, 1  # how wide the edges of boxes and of discs are, inside the shape

Anchor = Literal["lm", "mm", "rm"]  # a text begins at the point, lies around it, or ends at it


class Box(NamedTuple):
    """A rectangle with round corners."""

    x: float
    y: float
    w: float
    h: float
    fill: str
    edge: str | None


class Ellipse(NamedTuple):
    """Between two corners; a disc has an edge."""

    left: float
    top: float
    right: float
    bottom: float
    fill: str
    edge: str | None = None


class Polygon(NamedTuple):
    """Through points given by x and y in turn, without an edge."""

    points: tuple[float, ...]
    fill: str


class Text(NamedTuple):
    """Words on one line; y is the middle of the line."""

    x: float
    y: float
    words: str
    size: float
    fill: str
    anchor: Anchor


Outline = Box | Ellipse | Polygon | Text


class Piece(NamedTuple):
    """Something on the table that an action may be made of, such as a card in a hand."""

    name: str  # as the legal actions name it; equal cards have the same name
    label: str  # in words, for those who cannot see it
    shapes: tuple["Shape", ...]


Shape = Outline | Piece


def outlines(shapes: Sequence[Shape]) -> Iterator[Outline]:
    """The shapes without the pieces around them."""
    for shape in shapes:
        if isinstance(shape, Piece):
            yield from outlines(shape.shapes)
        else:
            yield shape


class Drawing:
    """The context in which a piece is drawn; a generator would take twice the time."""

    def __init__(self, canvas: "Canvas", name: str, label: str) -> None:
        self.canvas, self.name, self.label = canvas, name, label

    def __enter__(self) -> None:
        self.around, self.canvas.shapes = self.canvas.shapes, []

    def __exit__(self, *error: object) -> None:
        drawn, self.canvas.shapes = tuple(self.canvas.shapes), self.around
        self.canvas.shapes.append(Piece(self.name, self.label, drawn))


class Canvas:
    """A drawing of `across` by `down` units: its shapes, each above those before it."""

    def __init__(self, across: int, down: int) -> None:
        self.across, self.down = across, down
        self.shapes: list[Shape] = []

    def piece(self, name: str, label: str) -> "Drawing":
        """What is drawn in this context is one piece."""
        return Drawing(self, name, label)

    def box(
        self, x: float, y: float, w: float, h: float, fill: str, edge: str | None = None
    ) -> None:
        self.shapes.append(Box(x, y, w, h, fill, edge))

    def disc(self, x: float, y: float, radius: float, fill: str) -> None:
        self.shapes.append(Ellipse(x - radius, y - radius, x + radius, y + radius, fill, INK))

    def ellipse(self, corners: Sequence[float], fill: str) -> None:
        """Without an edge, between two corners."""
        left, top, right, bottom = corners
        self.shapes.append(Ellipse(left, top, right, bottom, fill))

    def polygon(self, points: Sequence[float], fill: str) -> None:
        """Without an edge, through points given by x and y in turn."""
        self.shapes.append(Polygon(tuple(points), fill))

    def write(
        self, x: float, y: float, words: str, size: float, fill: str = INK, anchor: Anchor = "mm"
    ) -> None:
        """Words on one line, around or from a point."""
        self.shapes.append(Text(x, y, words, size, fill, anchor))
