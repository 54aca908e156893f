"""A canvas as SVG, which browsers and notebooks show sharp at any size; it needs no library.

Pixels are drawn with the font Aileron. A viewer without it uses another one, of the same family,
and fits each line of text to the width that it has in Aileron: so no text leaves its place.
"""

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from itertools import count

from hanamachi.rendering.canvas import (
    CORNER,
    EDGE,
    PAPER,
    RIM,
    Anchor,
    Box,
    Canvas,
    Ellipse,
    Outline,
    Piece,
    Polygon,
    Text,
    outlines,
)

FONTS = "Aileron, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
BASELINE = 0.37  # from the middle of a line down to its baseline, in Aileron, of the size
ANCHORS: dict[Anchor, str] = {"lm": "start", "mm": "middle", "rm": "end"}
FITTED = 4  # a shorter text keeps the width of the viewer's font: all its neighbours are far

# The advance widths of Aileron Regular, in thousandths of the size; of other characters, OTHER.
ADVANCES = {
    **dict.fromkeys("0123456789#$+<=>^~", 580),
    **dict.fromkeys(",.:;", 220),
    **{" ": 216, "!": 242, '"': 339, "%": 740, "&": 654, "'": 176, "(": 315, ")": 315, "*": 560},
    **{"-": 274, "/": 303, "?": 499, "@": 852, "[": 307, "\\": 303, "]": 295, "`": 300, "{": 303},
    **{"|": 250, "}": 303, "·": 202},
    **{"A": 639, "B": 627, "C": 699, "D": 709, "E": 587, "F": 567, "G": 710, "H": 730, "I": 264},
    **{"J": 544, "K": 609, "L": 575, "M": 866, "N": 718, "O": 737, "P": 598, "Q": 733, "R": 619},
    **{"S": 585, "T": 612, "U": 682, "V": 622, "W": 952, "X": 625, "Y": 581, "Z": 591},
    **{"a": 531, "b": 611, "c": 529, "d": 615, "e": 549, "f": 290, "g": 615, "h": 593, "i": 238},
    **{"j": 233, "k": 522, "l": 247, "m": 855, "n": 593, "o": 586, "p": 611, "q": 615, "r": 330},
    **{"s": 459, "t": 313, "u": 592, "v": 514, "w": 785, "x": 482, "y": 513, "z": 462},
}
OTHER = 500


def svg(canvas: Canvas, label: str) -> str:
    """The picture as one element; `label` says what it shows to those who cannot see it."""
    return document(canvas.across, canvas.down, label, shapes(canvas))


def picture_of_pieces(canvas: Canvas, label: str) -> str:
    """The same, with its pieces as groups that a page can find and a screen reader can speak.

    Each has an id of its own and, as `data-piece`, the name that legal actions have for it.
    """
    numbers, parts = count(), [paper(canvas)]
    for shape in canvas.shapes:
        if isinstance(shape, Piece):
            inside = "".join(map(element, outlines(shape.shapes)))
            names = f'id="piece-{next(numbers)}" data-piece="{escape(shape.name)}"'
            spoken = f'role="img" aria-label="{escape(shape.label)}"'
            parts.append(f"<g {names} {spoken}>{inside}</g>")
        else:
            parts.append(element(shape))
    return document(canvas.across, canvas.down, label, "".join(parts))


def document(across: int, down: int, label: str, content: str) -> str:
    """An SVG element around what it shows; it shrinks where less room is."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" '
        f'role="img" aria-label="{escape(label)}" style="max-width:100%;height:auto" '
        f'font-family="{FONTS}">{content}</svg>'
    )


def shapes(canvas: Canvas) -> str:
    """The paper and all shapes on it."""
    return "".join([paper(canvas), *map(element, outlines(canvas.shapes))])


def paper(canvas: Canvas) -> str:
    return f'<rect width="{canvas.across}" height="{canvas.down}" fill="{PAPER}"/>'


@lru_cache(maxsize=1 << 14, typed=True)  # most shapes of a table are those of a moment ago
def element(shape: Outline) -> str:
    match shape:
        case Box():
            return box_element(shape)
        case Ellipse():
            return ellipse_element(shape)
        case Polygon(points, fill):
            return f'<polygon points="{spaced(points)}" fill="{fill}"/>'
        case Text():
            return text_element(shape)


def box_element(box: Box) -> str:
    """SVG draws an edge on both sides of an outline, so that of an edge lies further in."""
    x, y, w, h, fill, edge = box
    inset = EDGE / 2 if edge else 0.0
    w, h = w - 2 * inset, h - 2 * inset
    corner = min(CORNER - inset, w / 2, h / 2)
    place = f'x="{short(x + inset)}" y="{short(y + inset)}" width="{short(w)}" height="{short(h)}"'
    return f'<rect {place} rx="{short(corner)}" {paint(fill, edge, EDGE)}/>'


def ellipse_element(ellipse: Ellipse) -> str:
    left, top, right, bottom, fill, edge = ellipse
    inset = RIM / 2 if edge else 0.0
    middle = f'cx="{short((left + right) / 2)}" cy="{short((top + bottom) / 2)}"'
    rx, ry = (right - left) / 2 - inset, (bottom - top) / 2 - inset
    return f'<ellipse {middle} rx="{short(rx)}" ry="{short(ry)}" {paint(fill, edge, RIM)}/>'


def text_element(text: Text) -> str:
    x, y, words, size, fill, anchor = text
    if not words:
        return ""
    place = f'x="{short(x)}" y="{short(y + BASELINE * size)}" font-size="{short(size)}"'
    if ANCHORS[anchor] != "start":
        place += f' text-anchor="{ANCHORS[anchor]}"'
    if len(words) >= FITTED:
        place += f' textLength="{short(advance(words, size))}" lengthAdjust="spacingAndGlyphs"'
    return f'<text {place} fill="{fill}">{escape(words, quote=False)}</text>'


def advance(words: str, size: float) -> float:
    """How wide a text is in Aileron, in the units of its size."""
    return sum(ADVANCES.get(character, OTHER) for character in words) * size / 1000


def paint(fill: str, edge: str | None, width: int) -> str:
    return f'fill="{fill}"' + (f' stroke="{edge}" stroke-width="{width}"' if edge else "")


def spaced(values: Iterable[float]) -> str:
    return " ".join(map(short, values))


def short(value: float) -> str:
    """A number to a hundredth of a unit."""
    return f"{round(value, 2):g}"
