"""The table of Hanabi to look at: as text for a terminal, and as a picture.

Both show what one seat sees; `seat=None` shows all that is hidden, too. `near` is the seat at the
bottom, by default the one that looks, or player 0; the others lie above it, clockwise. A suit also
has a letter, so that nothing hangs on telling colours apart.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.games.hanabi import MULTICOLOUR
from hanamachi.games.hanabi.rules import NONE
from hanamachi.games.hanabi.view import (
    Card,
    Hand,
    card_name,
    deductions,
    hands,
    headline,
    heard,
    held,
    outcome_name,
    pieces,
    piles,
    status,
    suit_names,
    table,
    unseen,
)
from hanamachi.rendering.canvas import GOLD, HIDDEN, INK, LIGHT, PANEL, PAPER, TABLE, Canvas
from hanamachi.rendering.words import counted

__all__ = [
    "deductions",
    "drawing",
    "headline",
    "heard",
    "inks",
    "outcome_name",
    "pieces",
    "status",
    "table",
    "text",
]

LETTERS = {"red": "R", "black": "K", "yellow": "Y", "green": "G", "blue": "B", MULTICOLOUR: "M"}


def signs(variant: Variant) -> list[str]:
    """One character for each trait: the letters of the suits, then the ranks."""
    ranks = [str(rank + 1) for rank in range(variant.rule_set.ranks)]
    return [*(LETTERS[name] for name in suit_names(variant)), *ranks]


# --- As text

TITLE, MARGIN, CARD, SUIT = 16, 14, 13, 11  # characters


def text(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> str:
    """The table in at most 80 columns, as `seat` sees it, or all of it."""
    lines = [headline(variant, game), "", *board_lines(variant, game, seat), ""]
    for hand in hands(variant, game, seat, near):
        lines += [*hand_lines(variant, hand), ""]
    return "\n".join(line.rstrip() for line in [*lines, status(variant, game)])


def board_lines(variant: Variant, game: np.record, seat: int | None) -> list[str]:
    """The fireworks, and where the other cards of each suit are; the tokens."""
    rule_set, suits = variant.rule_set, suit_names(variant)
    rows: list[tuple[str, Iterable[Any]]] = [
        ("", suits),
        ("letter", [LETTERS[name] for name in suits]),
        ("firework", game.fireworks[: rule_set.suits].tolist()),
        ("discards", piles(variant, game.discards)),
        ("deck" if seat is None else "unseen", piles(variant, unseen(game, seat))),
    ]
    rows += [
        ("clue tokens", [tokens(game.clues, rule_set.max_clues)]),
        ("errors", [tokens(game.errors, rule_set.max_errors)]),
    ]
    return [line(name, cells, SUIT) for name, cells in rows]


def tokens(n: int, most: int) -> str:
    """The full circles are those in the box."""
    return "●" * n + "○" * (most - n)


def hand_lines(variant: Variant, hand: Hand) -> list[str]:
    """A player's last turn and cards, numbered as the choices are, with what clues have told."""
    names = [card_name(variant, card.suit, card.rank) for card in hand.cards]
    told = [shown(variant, card.named, "") for card in hand.cards]
    may_be = [shown(variant, card.may_be, "·") for card in hand.cards]
    numbers = [str(n + 1) for n in range(len(names))]
    rows = [("card", numbers), ("hand", names), ("told", told), ("may be", may_be)]
    title = f"{hand.name:<{TITLE}}{hand.last_turn}"
    return [title, *(line(name, cells, CARD) for name, cells in rows if any(cells))]


def shown(variant: Variant, traits: list[bool], other: str) -> str:
    """The signs of these traits, with another sign for each other one; suits apart from ranks."""
    marks = [sign if has else other for sign, has in zip(signs(variant), traits, strict=True)]
    suits = int(variant.rule_set.suits)
    return f"{''.join(marks[:suits])} {''.join(marks[suits:])}".strip()


def line(name: str, cells: Iterable[Any], width: int) -> str:
    return f"  {name:<{MARGIN - 2}}" + "".join(f"{cell:<{width}}" for cell in cells)


# --- As a picture

WIDTH = 600  # the units of all sizes below
HANDS, SIDE = 176, 84  # where the hands begin, and how much each takes

COLOURS = {"R": "#c0404a", "K": "#3a3330", "Y": "#c4951c", "G": "#3f8f5f", "B": "#3b7cb8"}
CLUES, ERRORS = COLOURS["B"], COLOURS["R"]
FIREWORK = 66  # the width of a suit on the table
PLACE = 114  # the width of a card in a hand, with what its owner knows


def height(variant: Variant) -> int:
    return HANDS + SIDE * variant.seats + 30


def inks(variant: Variant) -> dict[str, str]:
    """The colours of names in a terminal, where black might not be seen."""
    shown = {name: COLOURS.get(LETTERS[name], HIDDEN) for name in suit_names(variant)}
    return shown | {"black": HIDDEN}


def drawing(
    variant: Variant, game: np.record, seat: int | None = None, near: int | None = None
) -> Canvas:
    """The table as `seat` sees it, or all of it."""
    canvas = Canvas(WIDTH, height(variant))
    canvas.write(14, 18, headline(variant, game), 15, anchor="lm")
    draw_fireworks(canvas, variant, game)
    draw_tokens(canvas, variant, game)
    for place, hand in enumerate(hands(variant, game, seat, near)):
        to_decide, near = game.mover == hand.seat, place == variant.seats - 1
        draw_hand(canvas, variant, hand, HANDS + SIDE * place, to_decide, near)
    canvas.write(14, height(variant) - 16, status(variant, game), 15, anchor="lm")
    return canvas


def draw_fireworks(canvas: Canvas, variant: Variant, game: np.record) -> None:
    """Each suit's firework, and its discards below."""
    canvas.box(10, 36, 412, 132, PANEL)
    canvas.write(20, 118, "discards", 10, anchor="lm")
    discards = piles(variant, game.discards)
    for suit, letter in enumerate(signs(variant)[: variant.rule_set.suits]):
        x, cards = 18 + FIREWORK * suit, int(game.fireworks[suit])
        name = suit_names(variant)[suit]
        with canvas.piece(f"about:{name}", f"firework {name}, {counted(cards, 'card')}"):
            complete = cards == variant.rule_set.ranks
            draw_firework(canvas, letter, cards, x + 9, 44, complete)
        for place, rank in enumerate(discards[suit]):
            draw_chip(canvas, letter, rank, x + 1 + 12 * (place % 5), 127 + 19 * (place // 5))


def draw_firework(
    canvas: Canvas, letter: str, cards: int, x: float, y: float, complete: bool
) -> None:
    """Its highest card, or an empty place; underlined if no more can be added."""
    if cards:
        draw_card(canvas, letter, str(cards), x, y, 44)
    else:
        canvas.box(x, y, 44, 56, TABLE, COLOURS.get(letter, INK))
        canvas.write(x + 22, y + 26, letter, 22)
    if complete:
        canvas.box(x, y + 60, 44, 4, GOLD)


def draw_tokens(canvas: Canvas, variant: Variant, game: np.record) -> None:
    """The deck, and the tokens: those in the box are filled."""
    canvas.box(430, 36, 160, 132, PANEL)
    rows = [
        ("clue tokens", game.clues, variant.rule_set.max_clues, CLUES),
        ("errors", game.errors, variant.rule_set.max_errors, ERRORS),
    ]
    for row, (name, n, most, colour) in enumerate(rows):
        canvas.write(440, 50 + 42 * row, name, 12, anchor="lm")
        for token in range(most):
            canvas.disc(447 + 18 * token, 68 + 42 * row, 7, colour if token < n else PAPER)
    canvas.write(440, 146, "deck", 12, anchor="lm")
    canvas.box(478, 128, 30, 34, HIDDEN)
    canvas.write(493, 145, str(game.deck), 16, LIGHT)


def draw_hand(
    canvas: Canvas, variant: Variant, hand: Hand, y: float, to_decide: bool, near: bool
) -> None:
    """A player's last turn and cards; framed while it is theirs to decide."""
    with canvas.piece(f"player:{hand.seat}", f"{hand.name}, {hand.last_turn or 'no turn yet'}"):
        canvas.box(10, y, 580, SIDE - 6, PANEL, GOLD if to_decide else None)
        canvas.write(20, y + 13, hand.name, 14, anchor="lm")
        canvas.write(132, y + 14, hand.last_turn, 12, anchor="lm")
    for place, card in enumerate(hand.cards):
        name = f"card:{place + 1}" if near else f"card {hand.seat}:{place + 1}"
        with canvas.piece(name, card_label(variant, hand, place)):
            draw_held(canvas, variant, card, 18 + PLACE * place, y + 26)


def card_label(variant: Variant, hand: Hand, place: int) -> str:
    """A card, and what clues leave possible of it and have told of it."""
    card = held(variant, hand.cards[place])
    words = f"card {place + 1} of {hand.name}: {card.name}; may be {' '.join(card.may_be)}"
    return f"{words}; told {' '.join(card.told)}" if card.told else words


def draw_held(canvas: Canvas, variant: Variant, card: Card, x: float, y: float) -> None:
    """A card, and the suits and ranks that clues leave possible, underlined if they were told."""
    suits = int(variant.rule_set.suits)
    letter = signs(variant)[card.suit] if card.suit != NONE else ""
    draw_card(canvas, letter, str(card.rank + 1) if card.rank != NONE else "?", x, y, 36)
    for trait, sign in enumerate(signs(variant)):
        row, place = (0, trait) if trait < suits else (1, trait - suits)
        left, top = x + 39 + 12 * place, y + 2 + 22 * row
        if not card.may_be[trait]:
            canvas.ellipse((left + 4, top + 7, left + 7, top + 10), HIDDEN)
        elif row == 0:
            draw_chip(canvas, sign, sign, left, top)
        else:
            canvas.write(left + 5.5, top + 8, sign, 13)
        if card.named[trait]:
            canvas.box(left, top + 17, 11, 3, GOLD)


def draw_card(canvas: Canvas, letter: str, rank: str, x: float, y: float, width: float) -> None:
    """A card with its suit's letter, and grey without one."""
    draw_ground(canvas, letter, x, y, width, 1.27 * width)
    canvas.write(x + width / 2, y + 0.6 * width, letter + rank, 0.5 * width, ink_on(letter))


def draw_chip(canvas: Canvas, letter: str, sign: str, x: float, y: float) -> None:
    """A suit's letter or a rank on a small ground of the suit's colour."""
    draw_ground(canvas, letter, x, y, 11, 16)
    canvas.write(x + 5.5, y + 8, sign, 11, ink_on(letter))


def draw_ground(canvas: Canvas, letter: str, x: float, y: float, w: float, h: float) -> None:
    """Of the suit's colour; the multicolour one has all of them at its foot."""
    multicolour = letter == LETTERS[MULTICOLOUR]
    canvas.box(x, y, w, h, LIGHT if multicolour else COLOURS.get(letter, HIDDEN))
    for stripe, colour in enumerate(COLOURS.values() if multicolour else ()):
        left, right = x + w * stripe / 5, x + w * (stripe + 1) / 5
        top, foot = y + 0.74 * h, y + 0.9 * h
        canvas.polygon([left, top, right, top, right, foot, left, foot], colour)


def ink_on(letter: str) -> str:
    return INK if letter == LETTERS[MULTICOLOUR] else LIGHT
