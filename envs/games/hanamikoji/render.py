"""The table of Hanamikoji to look at: as text for a terminal, and as a picture.

Both show what one seat sees; `seat=None` shows all that is hidden, too. `near` is the seat at the
bottom, by default the one that looks, or player 0.
"""

from collections.abc import Iterable, Iterator
from math import cos, pi, sin

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.engine.rounds import scored_round
from hanamachi.games.hanamikoji.rules import ACTIONS, COMPETITION
from hanamachi.games.hanamikoji.view import (
    BACK,
    ROUND_OVER,
    TILES,
    Side,
    Tile,
    deductions,
    geisha_names,
    headline,
    heard,
    outcome_name,
    pieces,
    side,
    spelled,
    status,
    table,
    tile_piece,
    written,
)
from hanamachi.rendering.canvas import GOLD, HIDDEN, INK, LIGHT, PANEL, TABLE, Canvas
from hanamachi.rendering.words import counted, near_side

__all__ = [
    "deductions",
    "drawing",
    "headline",
    "heard",
    "inks",
    "outcome_name",
    "pieces",
    "round_end",
    "round_end_drawing",
    "status",
    "table",
    "text",
]

# --- As text

MARGIN, COLUMN = 14, 9  # characters


def text(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> str:
    """The table in at most 80 columns, as `seat` sees it, or all of it."""
    return "\n".join([*table_lines(variant, game, seat, near), status(variant, game)])


def round_end(variant: Variant, before: np.record, action: int, seat: int | None = None) -> str:
    """The table when `action` has ended a round and another follows, Secrets revealed; else ""."""
    scored = scored_round(variant, before, action)
    if scored is None:
        return ""
    return "\n".join([*table_lines(variant, scored, seat), ROUND_OVER])


def table_lines(
    variant: Variant, game: np.record, seat: int | None, near: int | None = None
) -> list[str]:
    me = near_side(seat, near)
    mine, theirs = (side(variant, game, owner, seat) for owner in (me, 1 - me))
    lines = [
        f"{variant.game.title} · {headline(variant, game)}",
        "",
        *side_lines(theirs),
        "",
        *board_lines(variant, theirs, mine),
        "",
        *side_lines(mine),
        "",
        *unseen_lines(variant, game, seat),
    ]
    return [line.rstrip() for line in lines]


def side_lines(side: Side) -> list[str]:
    unused = ", ".join(tile.name for tile in side.tiles if tile.turn == 0)
    rows = [("hand", written(side.hand) or "none")]
    rows += [(f"{tile.turn} {tile.name}", tile_words(tile)) for tile in side.tiles if tile.turn]
    rows += [("not used", unused)] if unused else []
    title = f"{side.name:<{MARGIN}}  {side.geisha} geisha, {side.charm} charm"
    return [title, *(f"  {name:<{MARGIN}}{words}" for name, words in rows)]


def tile_words(tile: Tile) -> str:
    words = written(tile.cards)
    if tile.name == TILES[COMPETITION]:
        words = f"{written(tile.cards[:2])} | {written(tile.cards[2:])}"
    taken = written(tuple(tile.cards[place] for place in tile.taken))
    return f"{words}  ({taken} taken)" if taken else words


def board_lines(variant: Variant, above: Side, below: Side) -> list[str]:
    """Items on both sides of the geisha, and whom each favours."""
    pairs = zip(above.favoured, below.favoured, strict=True)
    marks = ["▲" if up else "▼" if down else "·" for up, down in pairs]
    rows = [
        ("items", ["■" * n for n in above.items]),
        ("geisha", geisha_names(variant)),
        *([("charm", variant.rule_set.cards[: len(marks)].tolist())] if in_suits(variant) else []),
        ("favour", marks),
        ("items", ["■" * n for n in below.items]),
    ]
    return [
        f"  {name:<{MARGIN}}" + "".join(f"{c:<{COLUMN}}" for c in cells) for name, cells in rows
    ]


def in_suits(variant: Variant) -> bool:
    """Whether the geisha have names that do not begin with their charm."""
    return not geisha_names(variant)[0][0].isdigit()


def unseen_lines(variant: Variant, game: np.record, seat: int | None) -> list[str]:
    """For the eye that sees everything, what nobody has seen."""
    if seat is not None or not game.unseen.any():
        return []
    return [f"in the pile or removed: {written(spelled(variant, game.unseen))}", ""]


# --- As a picture

WIDTH, HEIGHT = 600, 560  # the units of all sizes below

COLOURS = ("#7d5ba6", "#c8434f", "#b8892b", "#3b7cb8", "#d9702f", "#3f8f5f", "#cf5f94")

Shape = tuple[str, list[float]]  # in a square from 0 to 1; "hole" is an ellipse left open
SUIT_SHAPES: dict[str, list[Shape]] = {
    "club": [
        ("ellipse", [0.28, 0.02, 0.72, 0.46]),
        ("ellipse", [0.04, 0.38, 0.48, 0.82]),
        ("ellipse", [0.52, 0.38, 0.96, 0.82]),
        ("polygon", [0.5, 0.35, 0.68, 1.0, 0.32, 1.0]),
    ],
    "spade": [
        ("polygon", [0.5, 0.0, 0.94, 0.52, 0.06, 0.52]),
        ("ellipse", [0.05, 0.36, 0.51, 0.80]),
        ("ellipse", [0.49, 0.36, 0.95, 0.80]),
        ("polygon", [0.5, 0.45, 0.68, 1.0, 0.32, 1.0]),
    ],
    "heart": [
        ("ellipse", [0.02, 0.08, 0.53, 0.58]),
        ("ellipse", [0.47, 0.08, 0.98, 0.58]),
        ("polygon", [0.06, 0.46, 0.94, 0.46, 0.5, 0.98]),
    ],
    "diamond": [("polygon", [0.5, 0.0, 0.88, 0.5, 0.5, 1.0, 0.12, 0.5])],
    "coin": [("ellipse", [0.04, 0.04, 0.96, 0.96]), ("hole", [0.34, 0.34, 0.66, 0.66])],
    "crown": [
        ("polygon", [0.04, 0.2, 0.3, 0.5, 0.5, 0.1, 0.7, 0.5, 0.96, 0.2, 0.88, 0.9, 0.12, 0.9])
    ],
    "moon": [("ellipse", [0.06, 0.04, 0.96, 0.96]), ("hole", [0.34, -0.06, 1.1, 0.78])],
    "star": [
        (
            "polygon",
            [
                0.5 + (0.5 if point % 2 == 0 else 0.2) * turn
                for point in range(10)
                for turn in (sin(point * pi / 5), -cos(point * pi / 5))
            ],
        )
    ],
}


def inks(variant: Variant) -> dict[str, str]:
    """The colours of names in a terminal; a charm without a letter looks like any number."""
    names = geisha_names(variant)
    return {n: colour for n, colour in zip(names, COLOURS, strict=False) if not n.isdecimal()}


def drawing(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> Canvas:
    """The table as `seat` sees it, or all of it."""
    return drawn_table(variant, game, seat, status(variant, game), near)


def round_end_drawing(
    variant: Variant, before: np.record, action: int, seat: int | None = None
) -> Canvas | None:
    """The table when `action` has ended a round and another follows; else None."""
    scored = scored_round(variant, before, action)
    return None if scored is None else drawn_table(variant, scored, seat, ROUND_OVER)


def drawn_table(
    variant: Variant, game: np.record, seat: int | None, words: str, near: int | None = None
) -> Canvas:
    """The table, with words on what is to be done below."""
    canvas = Canvas(WIDTH, HEIGHT)
    me = near_side(seat, near)
    mine, theirs = (side(variant, game, owner, seat) for owner in (me, 1 - me))
    canvas.write(14, 18, f"{variant.game.title} · {headline(variant, game)}", 15, anchor="lm")
    draw_side(canvas, variant, theirs, 36, to_decide=game.mover == theirs.seat)
    draw_board(canvas, variant, theirs, mine, 160)
    draw_side(canvas, variant, mine, 410, to_decide=game.mover == mine.seat, near=True)
    canvas.write(14, 544, words, 15, anchor="lm")
    return canvas


def draw_side(
    canvas: Canvas, variant: Variant, side: Side, y: float, to_decide: bool, near: bool = False
) -> None:
    """A player's name, favours, hand and tiles; framed in gold while it is theirs to decide.

    Actions are made of pieces on the near side, and of what the far side offers.
    """
    canvas.box(10, y, 580, 114, PANEL, GOLD if to_decide else None)
    canvas.write(22, y + 17, side.name, 15, anchor="lm")
    canvas.write(22, y + 35, f"{side.geisha} geisha, {side.charm} charm", 12, anchor="lm")
    for place, name in enumerate(reversed(side.hand)):
        piece = f"hand:{name}" if near else f"hand {side.seat}:{name}"
        with canvas.piece(piece, f"{spoken(name)} in the hand of {side.name}"):
            draw_card(canvas, variant, name, 552 - 32 * place, y + 8, 28)
    for place, tile in enumerate(side.tiles):
        kind = TILES.index(tile.name)
        piece = tile_piece(kind) if near else f"tile {side.seat}:{ACTIONS[kind]}"
        with canvas.piece(piece, tile_label(side, tile)):
            draw_tile(canvas, tile, 20 + 141 * place, y + 52)
        if near or not tile.answer:
            draw_cards(canvas, variant, tile, range(len(tile.cards)), 20 + 141 * place, y + 52)
            continue
        for shown, label, cards in offered(tile):
            with canvas.piece(shown, label):
                draw_cards(canvas, variant, tile, cards, 20 + 141 * place, y + 52)


def tile_label(side: Side, tile: Tile) -> str:
    words = f"used in turn {tile.turn}: {tile_words(tile)}" if tile.turn else "not used"
    return f"{tile.name} of {side.name}, {words}"


def offered(tile: Tile) -> Iterator[tuple[str, str, list[int]]]:
    """What can be taken of an offer: the name of the piece, its label, and its places."""
    if tile.name == TILES[COMPETITION]:
        for pair, places in enumerate(([0, 1], [2, 3]), 1):
            cards = written(tuple(tile.cards[place] for place in places))
            yield f"pair:{pair}", f"{cards} on offer", places
    else:
        for place, name in enumerate(tile.cards):
            yield f"offer:{name}", f"{name} on offer", [place]


def spoken(name: str) -> str:
    return "a hidden card" if name == BACK else name


def draw_tile(canvas: Canvas, tile: Tile, x: float, y: float) -> None:
    """A tile not yet used stands out."""
    edge = GOLD if tile.answer else None
    canvas.box(x, y, 136, 54, TABLE if tile.turn else INK, edge)
    canvas.write(x + 8, y + 11, tile.name, 12, INK if tile.turn else LIGHT, anchor="lm")
    if tile.turn:
        canvas.write(x + 128, y + 11, f"turn {tile.turn}", 10, anchor="rm")


def draw_cards(
    canvas: Canvas, variant: Variant, tile: Tile, places: Iterable[int], x: float, y: float
) -> None:
    """Cards of a used tile; those that were taken are underlined."""
    for place in places:
        gap = 10 if tile.name == TILES[COMPETITION] and place >= 2 else 0
        left = x + 8 + 26 * place + gap
        draw_card(canvas, variant, tile.cards[place], left, y + 20, 22)
        if place in tile.taken:
            canvas.box(left, y + 50, 22, 3, GOLD)


def draw_card(
    canvas: Canvas, variant: Variant, name: str, x: float, y: float, width: float
) -> None:
    height = 1.27 * width
    colour = HIDDEN if name == BACK else COLOURS[geisha_names(variant).index(name)]
    canvas.box(x, y, width, height, colour)
    draw_symbol(canvas, x + width / 2, y + height / 2, name, 0.55 * width, colour)


def draw_symbol(canvas: Canvas, x: float, y: float, name: str, size: float, ground: str) -> None:
    """A suit's shape, or the name of a card, around a point."""
    if name not in SUIT_SHAPES:
        canvas.write(x, y, name, size, LIGHT)
        return
    corner = (x - size / 2, y - size / 2)
    for kind, points in SUIT_SHAPES[name]:
        place = [corner[i % 2] + size * v for i, v in enumerate(points)]
        if kind == "polygon":
            canvas.polygon(place, LIGHT)
        else:
            canvas.ellipse(place, ground if kind == "hole" else LIGHT)


def draw_board(canvas: Canvas, variant: Variant, above: Side, below: Side, y: float) -> None:
    """Each geisha between the items on both sides; a gold marker lies towards whom she favours."""
    names = geisha_names(variant)
    left = (WIDTH - 82 * len(names)) / 2
    for g, name in enumerate(names):
        with canvas.piece(f"geisha:{name}", geisha_label(variant, above, below, g)):
            x = left + 82 * g + 4
            draw_items(canvas, x, y + 72, -15, above.items[g], COLOURS[g])
            draw_items(canvas, x, y + 156, 15, below.items[g], COLOURS[g])
            canvas.box(x, y + 90, 74, 60, COLOURS[g])
            draw_symbol(canvas, x + 30, y + 112, name, 24, COLOURS[g])
            charm = f"charm {variant.rule_set.cards[g]}"
            canvas.write(x + 8, y + 138, charm, 10, LIGHT, anchor="lm")
            towards = below.favoured[g] - above.favoured[g]
            canvas.disc(x + 62, y + 120 + 24 * towards, 8, GOLD)


def geisha_label(variant: Variant, above: Side, below: Side, g: int) -> str:
    names = [side.name for side in (above, below) if side.favoured[g]] or ["nobody"]
    items = ", ".join(f"{counted(side.items[g], 'item')} of {side.name}" for side in (above, below))
    charm = variant.rule_set.cards[g]
    return f"geisha {geisha_names(variant)[g]}, charm {charm}: {items}; favours {names[0]}"


def draw_items(canvas: Canvas, x: float, y: float, step: float, count: int, colour: str) -> None:
    """Items from the geisha outwards, closer together where small versions have many."""
    for n in range(count):
        canvas.box(
            x, y + step * n * min(1, 5 / count), 74, 12, colour, TABLE if count > 5 else None
        )
