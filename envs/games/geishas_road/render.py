"""The table of Geisha's Road to look at: as text for a terminal, and as a picture.

Both show what one seat sees; `seat=None` shows all that is hidden, too. `near` is the seat at the
bottom, by default the one that looks, or player 0.
"""

from functools import cache
from math import cos, pi, sin

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.engine.rounds import scored_round
from hanamachi.games.geishas_road.rules import COMPETITION, INTRIGUE, NONE, TWO_PLACES
from hanamachi.games.geishas_road.view import (
    NAMES,
    ROUND_OVER,
    Action,
    Card,
    Markers,
    Side,
    Token,
    action_piece,
    at,
    colour_names,
    counted_markers,
    deductions,
    headline,
    heard,
    marker_name,
    offer_kind,
    offer_piece,
    on_offer,
    outcome_name,
    pieces,
    row_left,
    scored_markers,
    side,
    status,
    table,
    unseen,
    worth,
    written,
)
from hanamachi.rendering.canvas import (
    GOLD,
    HIDDEN,
    INK,
    LIGHT,
    PANEL,
    PAPER,
    TABLE,
    Canvas,
    Shape,
)
from hanamachi.rendering.words import near_side

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

MARGIN, COLUMNS = 15, 60  # characters


def text(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> str:
    """The table in at most 80 columns, as `seat` sees it, or all of it."""
    lines = table_lines(variant, game, seat, counted_markers(game), near)
    return "\n".join([*lines, status(variant, game, seat)])


def round_end(variant: Variant, before: np.record, action: int, seat: int | None = None) -> str:
    """The table when `action` has ended a round and another follows; else ""."""
    scored = scored_round(variant, before, action)
    if scored is None:
        return ""
    markers = scored_markers(variant, before, action)
    return "\n".join([*table_lines(variant, scored, seat, markers), ROUND_OVER])


def table_lines(
    variant: Variant, game: np.record, seat: int | None, markers: Markers, near: int | None = None
) -> list[str]:
    me = near_side(seat, near)
    mine, theirs = (side(variant, game, owner, seat, markers) for owner in (me, 1 - me))
    lines = [
        headline(variant, game),
        "",
        *side_lines(variant, theirs),
        "",
        *board_lines(variant, game, theirs, mine),
        "",
        *side_lines(variant, mine),
        "",
        *common_lines(variant, game, seat),
    ]
    return [line.rstrip() for line in lines]


def side_lines(variant: Variant, side: Side) -> list[str]:
    used = [action for action in side.actions if action.turn]
    unused = [action.name for action in side.actions if not action.turn]
    unused += [token.name for token in side.tokens if not token.where]
    guests = [f"{n} {c}" for n, c in zip(side.guests, colour_names(variant), strict=True) if n]
    rows = [("hand", written(side.hand) or "none")]
    rows += [(f"{action.turn} {action.name}", action_words(action)) for action in used]
    rows += [(token.name, token_words(token)) for token in side.tokens if token.where]
    rows += [("not used", ", ".join(unused)), ("guests", ", ".join(guests))]
    title = f"{side.name:<{MARGIN}}  {side.score}"
    return [title, *(f"  {name:<{MARGIN}}{words}" for name, words in rows if words)]


def token_words(token: Token) -> str:
    return f"{' for '.join(card.words for card in token.cards)} in {token.where}"


def action_words(action: Action) -> str:
    words = written(action.cards)
    if action.name == NAMES[INTRIGUE]:
        words = " discarding ".join(card.words for card in action.cards)
    elif action.name == NAMES[COMPETITION]:
        words = f"{written(action.cards[:TWO_PLACES])} | {written(action.cards[TWO_PLACES:])}"
    taken = written(tuple(action.cards[place] for place in action.taken))
    return f"{words}  ({taken} taken)" if taken else words


def board_lines(variant: Variant, game: np.record, above: Side, below: Side) -> list[str]:
    """Each geisha between what both players have played for her, and what is at her house."""
    n, names = variant.rule_set.colours, colour_names(variant)
    marks = {above.seat: "▲", below.seat: "▼", NONE: "house" if variant.rule_set.guests else "·"}
    rows = [
        ("", list(names)),
        ("cards", [spaced(values) for values in above.tableau]),
        ("influence", above.influence),
        ("worth", [worth(variant, game, c) for c in range(n)]),
        (marker_name(variant), [marks[int(seat)] for seat in game.marker[:n]]),
        ("influence", below.influence),
        ("cards", [spaced(values) for values in below.tableau]),
        ("returns", game.returns[:n].tolist()),
        ("stands at", [names[(c + game.steps[c]) % n] for c in range(n)]),
    ]
    if variant.rule_set.guests:
        rows.append(("guests here", ["●" * k for k in game.guests[:n]]))
    column = COLUMNS // n
    return [
        f"  {name:<{MARGIN}}" + "".join(f"{c:<{column}}" for c in cells) for name, cells in rows
    ]


def spaced(values: list[int]) -> str:
    return " ".join(map(str, values))


def common_lines(variant: Variant, game: np.record, seat: int | None) -> list[str]:
    """The prestige in store, the cards on offer, and for the eye that sees all, the deck."""
    cards = on_offer(variant, game, seat)
    rows = [
        ("first returns", spaced(row_left(variant, game, 0)) or "none left"),
        ("second returns", spaced(row_left(variant, game, 1)) or "none left"),
        ("on the table", offer_words(game, cards)),
    ]
    if seat is None:
        rule_set = variant.rule_set
        deck = unseen(variant, game, None)
        for c, name in enumerate(colour_names(variant)):
            values = [int(rule_set.value[card]) for card in deck if rule_set.colour[card] == c]
            rows.append((f"deck, {name}", spaced(values)))
    return [*(f"  {name:<{MARGIN}}{words}" for name, words in rows if words), ""]


def offer_words(game: np.record, cards: dict[int, Card]) -> str:
    words = [at(cards, place) for place in cards]
    pairs = offer_kind(game, game.turn) == COMPETITION and len(cards) > TWO_PLACES
    return " ".join(words[:TWO_PLACES] + ["|"] * pairs + words[TWO_PLACES:])


# --- As a picture

WIDTH, HEIGHT = 840, 700  # the units of all sizes below

COLOURS = ("#d0649a", "#c0404a", "#3b7cb8", "#3f8f5f", "#c4951c")
CENTRE = (170, 352)  # of the circle
RADIUS = 122
ROAD = 7  # how wide it is
BOARD = 350  # where the tableaus begin
COLUMN = 74  # of one colour


def inks(variant: Variant) -> dict[str, str]:
    """The colours of names in a terminal."""
    return dict(zip(colour_names(variant), COLOURS, strict=False))


def drawing(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> Canvas:
    """The table as `seat` sees it, or all of it."""
    words = status(variant, game, seat)
    return drawn_table(variant, game, seat, counted_markers(game), words, near)


def round_end_drawing(
    variant: Variant, before: np.record, action: int, seat: int | None = None
) -> Canvas | None:
    """The table when `action` has ended a round and another follows; else None."""
    scored = scored_round(variant, before, action)
    if scored is None:
        return None
    return drawn_table(variant, scored, seat, scored_markers(variant, before, action), ROUND_OVER)


def drawn_table(
    variant: Variant,
    game: np.record,
    seat: int | None,
    markers: Markers,
    words: str,
    near: int | None = None,
) -> Canvas:
    """The table, with words on what is to be done below."""
    canvas = Canvas(WIDTH, HEIGHT)
    me = near_side(seat, near)
    mine, theirs = (side(variant, game, owner, seat, markers) for owner in (me, 1 - me))
    canvas.write(14, 18, headline(variant, game), 15, anchor="lm")
    draw_side(canvas, theirs, 36, to_decide=game.mover == theirs.seat)
    draw_circle(canvas, variant, game)
    draw_offer(canvas, variant, game, seat)
    draw_board(canvas, variant, game, theirs, mine)
    draw_rows(canvas, variant, game)
    draw_side(canvas, mine, 534, to_decide=game.mover == mine.seat, near=True)
    canvas.write(14, 682, words, 15, anchor="lm")
    return canvas


def draw_side(canvas: Canvas, side: Side, y: float, to_decide: bool, near: bool = False) -> None:
    """A player's score, guests, hand, actions and tokens; framed while it is theirs to decide.

    Actions are made of pieces on the near side.
    """
    canvas.box(10, y, 820, 126, PANEL, GOLD if to_decide else None)
    canvas.write(22, y + 17, side.name, 15, anchor="lm")
    canvas.write(22, y + 37, side.score, 12, anchor="lm")
    draw_guests(canvas, side.guests, 420, y + 27)
    whose = "" if near else f" {side.seat}"
    for place, card in enumerate(reversed(side.hand)):
        with canvas.piece(f"hand{whose}:{card.name}", f"{spoken(card)} in the hand of {side.name}"):
            draw_card(canvas, card, 788 - 34 * place, y + 10, 30)
    for place, action in enumerate(side.actions):
        piece, _ = action_piece(NAMES.index(action.name))
        words = f"turn {action.turn}: {action_words(action)}" if action.turn else "not used"
        name = piece.replace(":", f"{whose}:")
        with canvas.piece(name, f"{action.name} of {side.name}, {words}"):
            draw_action(canvas, action, 20 + 132 * place, y + 58)
    for place, token in enumerate(side.tokens):
        words = token_words(token) if token.where else "not used"
        piece = ("token:hidden", "token:counter")[place].replace(":", f"{whose}:")
        with canvas.piece(piece, f"{token.name} of {side.name}, {words}"):
            draw_token(canvas, token, 556 + 134 * place, y + 58)


def spoken(card: Card) -> str:
    return "a hidden card" if card.colour == NONE else card.words


def draw_guests(canvas: Canvas, guests: list[int], x: float, y: float) -> None:
    """How many a player has collected of each colour."""
    collected = [c for c, count in enumerate(guests) if count]
    if collected:
        canvas.write(x, y, "guests", 12, anchor="lm")
    for place, c in enumerate(collected):
        canvas.disc(x + 58 + 22 * place, y, 10, COLOURS[c])
        canvas.write(x + 58 + 22 * place, y, str(guests[c]), 12, LIGHT)


def draw_action(canvas: Canvas, action: Action, x: float, y: float) -> None:
    """One not yet used stands out; a used one shows its cards, those taken underlined."""
    draw_tile(canvas, action.name, bool(action.turn), x, y, 128, GOLD if action.open else None)
    if action.turn:
        canvas.write(x + 120, y + 12, f"turn {action.turn}", 10, anchor="rm")
    for place, card in enumerate(action.cards):
        apart = action.name == NAMES[COMPETITION] and place >= TWO_PLACES
        left = x + 8 + 26 * place + 10 * apart
        draw_card(canvas, card, left, y + 23, 22)
        if place in action.taken:
            canvas.box(left, y + 54, 22, 3, GOLD)


def draw_token(canvas: Canvas, token: Token, x: float, y: float) -> None:
    """A used one shows the new card, the card that it replaced smaller, and the offer."""
    draw_tile(canvas, token.name, bool(token.where), x, y, 130)
    for place, card in enumerate(token.cards):
        draw_card(canvas, card, x + 8 + 26 * place, y + 23 + 5 * place, 22 - 4 * place)
    canvas.write(x + 122, y + 37, token.where, 10, anchor="rm")


def draw_tile(
    canvas: Canvas, name: str, used: bool, x: float, y: float, w: float, edge: str | None = None
) -> None:
    canvas.box(x, y, w, 60, TABLE if used else INK, edge)
    canvas.write(x + 8, y + 12, name, 12, INK if used else LIGHT, anchor="lm")


def draw_card(canvas: Canvas, card: Card, x: float, y: float, width: float) -> None:
    """A card; one that lies face down has a wide grey rim."""
    height, rim = 1.27 * width, width / 7 if card.down else 0
    canvas.box(x, y, width, height, HIDDEN)
    if card.colour != NONE:
        canvas.box(x + rim, y + rim, width - 2 * rim, height - 2 * rim, COLOURS[card.colour])
    canvas.write(x + width / 2, y + height / 2, card.name[-1], 0.55 * width, LIGHT)


def draw_circle(canvas: Canvas, variant: Variant, game: np.record) -> None:
    """The houses clockwise from the top, on a road, with the geisha and tokens at each."""
    colours = colour_names(variant)
    canvas.shapes += houses(colours)
    n, guests, marker = len(colours), game.guests.tolist(), game.marker.tolist()
    stands_at = [(c + steps) % n for c, steps in enumerate(game.steps[:n].tolist())]
    for house in range(n):
        x, y = place_of(house, n)
        tiebreaker = variant.rule_set.guests > 0 and marker[house] == NONE
        draw_tokens(canvas, x, y, house, guests[house], tiebreaker)
        there = [c for c in range(n) if stands_at[c] == house]
        for place, c in enumerate(there):
            draw_standee(canvas, x + 17 * (place - (len(there) - 1) / 2), y + 32, COLOURS[c])


@cache
def houses(colours: tuple[str, ...]) -> list[Shape]:
    """The road and the houses, which never move."""
    (x, y), n = CENTRE, len(colours)
    canvas = Canvas(WIDTH, HEIGHT)
    for colour, radius in ((TABLE, RADIUS + ROAD), (PAPER, RADIUS - ROAD)):
        canvas.ellipse((x - radius, y - radius, x + radius, y + radius), colour)
    for house, name in enumerate(colours):
        draw_arrow(canvas, 2 * pi * (house + 0.5) / n)
        draw_house(canvas, *place_of(house, n), house, name)
    return canvas.shapes


def place_of(house: int, houses: int) -> tuple[float, float]:
    """The middle of a house on the road."""
    angle = 2 * pi * house / houses
    return CENTRE[0] + RADIUS * sin(angle), CENTRE[1] - RADIUS * cos(angle)


def draw_arrow(canvas: Canvas, angle: float) -> None:
    """On the road, in the direction of the walk."""
    corners = []
    for along, out in ((0.05, 0), (-0.04, ROAD - 2), (-0.04, 2 - ROAD)):
        corners.append(CENTRE[0] + (RADIUS + out) * sin(angle + along))
        corners.append(CENTRE[1] - (RADIUS + out) * cos(angle + along))
    canvas.polygon(corners, HIDDEN)


def draw_house(canvas: Canvas, x: float, y: float, colour: int, name: str) -> None:
    roof = [x - 34, y - 32, x + 34, y - 32, x + 44, y - 13, x - 44, y - 13]
    canvas.box(x - 36, y - 16, 72, 30, PANEL, COLOURS[colour])
    canvas.polygon(roof, COLOURS[colour])
    canvas.write(x, y - 22, name, 12, LIGHT)


def draw_tokens(
    canvas: Canvas, x: float, y: float, colour: int, guests: int, tiebreaker: bool
) -> None:
    """Guests in the house, and her tiebreaker."""
    for guest in range(guests):
        canvas.disc(x - 24 + 15 * guest, y + 1, 6, COLOURS[colour])
    if tiebreaker:
        canvas.disc(x + 23, y + 1, 7, GOLD)


def draw_standee(canvas: Canvas, x: float, y: float, colour: str) -> None:
    canvas.polygon([x, y - 10, x + 8, y + 12, x - 8, y + 12], colour)
    canvas.disc(x, y - 8, 6, colour)


def draw_offer(canvas: Canvas, variant: Variant, game: np.record, seat: int | None) -> None:
    """In the middle of the circle: what lies on the table, else the deck."""
    x, y = CENTRE
    cards = on_offer(variant, game, seat)
    pairs = offer_kind(game, game.turn) == COMPETITION
    left = x - (17 * (max(cards, default=0) + 1) + 4 * pairs)
    for place, card in cards.items():
        piece, name = offer_piece(cards, place)
        with canvas.piece(piece, f"{name} on offer"):
            apart = 8 * (pairs and place >= TWO_PLACES)
            draw_card(canvas, card, left + 34 * place + apart, y + 8, 30)
    if not cards:
        canvas.write(x, y - 12, "deck", 12)
        canvas.box(x - 15, y, 30, 38, HIDDEN)
        canvas.write(x, y + 19, str(int(game.unseen).bit_count()), 16, LIGHT)


def draw_board(canvas: Canvas, variant: Variant, game: np.record, above: Side, below: Side) -> None:
    """The tableaus of both players on both sides of the geisha, with what decides who wins her."""
    left = BOARD + COLUMN * (len(COLOURS) - variant.rule_set.colours) / 2
    for c, name in enumerate(colour_names(variant)):
        with canvas.piece(f"geisha:{name}", geisha_label(variant, game, above, below, c)):
            draw_geisha(canvas, variant, game, above, below, c, left + COLUMN * c + 4)


def geisha_label(variant: Variant, game: np.record, above: Side, below: Side, c: int) -> str:
    names = colour_names(variant)
    holders = [side.name for side in (above, below) if game.marker[c] == side.seat] or ["nobody"]
    influence = ", ".join(
        f"influence {side.influence[c]} of {side.name}" for side in (above, below)
    )
    stands = names[(c + game.steps[c]) % len(names)]
    return (
        f"geisha {names[c]}, worth {worth(variant, game, c)}: {influence}; "
        f"{marker_name(variant)} of {holders[0]}; stands at the {stands} house"
    )


def draw_geisha(
    canvas: Canvas, variant: Variant, game: np.record, above: Side, below: Side, c: int, x: float
) -> None:
    draw_tableau(canvas, x, 280, -27, above.tableau[c], COLOURS[c])
    draw_tableau(canvas, x, 393, 27, below.tableau[c], COLOURS[c])
    canvas.box(x, 310, 66, 79, COLOURS[c])
    canvas.write(x + 8, 322, above.influence[c], 12, LIGHT, anchor="lm")
    canvas.write(x + 8, 350, str(worth(variant, game, c)), 22, LIGHT, anchor="lm")
    canvas.write(x + 8, 377, below.influence[c], 12, LIGHT, anchor="lm")
    for k in range(game.returns[c]):
        draw_home(canvas, x + 41, 350 + 15 * (k - (game.returns[c] - 1) / 2))
    held = int(game.marker[c])
    if held != NONE or not variant.rule_set.guests:
        towards = (held == below.seat) - (held == above.seat)
        canvas.disc(x + 54, 350 + 27 * towards, 8, GOLD)


def draw_home(canvas: Canvas, x: float, y: float) -> None:
    """A small sign for a return."""
    canvas.polygon([x - 5, y - 1, x, y - 6, x + 5, y - 1], LIGHT)
    canvas.polygon([x - 3, y - 1, x + 3, y - 1, x + 3, y + 5, x - 3, y + 5], LIGHT)


def draw_tableau(
    canvas: Canvas, x: float, y: float, step: float, values: list[int], colour: str
) -> None:
    """Cards from the geisha outwards, closer together where small versions have many."""
    for k, value in enumerate(values):
        top = y + step * k * min(1, 4 / len(values))
        canvas.box(x, top, 66, 25, colour, TABLE if len(values) > 4 else None)
        canvas.write(x + 33, top + 12, str(value), 16, LIGHT)


def draw_rows(canvas: Canvas, variant: Variant, game: np.record) -> None:
    """The prestige in store for first and second returns, the next one in gold."""
    canvas.write(780, 236, "returns", 12)
    for row, name in enumerate(("first", "second")):
        x = 758 + 46 * row
        canvas.write(x, 254, name, 11)
        for place, token in enumerate(row_left(variant, game, row)):
            canvas.disc(x, 280 + 35 * place, 14, LIGHT if place else GOLD)
            canvas.write(x, 280 + 35 * place, str(token), 15)
