"""The table of Hanabi to look at: as text for a terminal, and as a picture.

Both show what one seat sees, with that seat at the bottom and the others above it, clockwise;
`seat=None` shows all that is hidden, too, from the side of player 0. A suit also has a letter,
so that nothing hangs on telling colours apart.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import OVER, Variant
from hanamachi.games.hanabi import MULTICOLOUR
from hanamachi.games.hanabi.actions import Catalogue
from hanamachi.games.hanabi.rules import CHOOSE_STARTER, CLUE, DISCARD, DRAW, HAND, NONE
from hanamachi.rendering.canvas import GOLD, HIDDEN, INK, LIGHT, PANEL, PAPER, TABLE, Canvas
from hanamachi.rendering.words import counted

LETTERS = {"red": "R", "black": "K", "yellow": "Y", "green": "G", "blue": "B", MULTICOLOUR: "M"}
RATINGS = (  # of a whole game: the most points for which it is
    (5, "terrible"),
    (10, "poor"),
    (15, "fair"),
    (20, "excellent"),
    (24, "amazing"),
    (29, "legendary"),
    (30, "transcendent"),
)
LEGENDARY = 25  # a game that cannot bring as many points has no rating

# --- What there is to show


class Card(NamedTuple):
    """A card in a hand: what the viewer knows of it, and what clues have told of it.

    Suits and ranks one after the other: `named` are those told of it, `may_be` those left.
    """

    suit: int  # NONE if the viewer cannot know
    rank: int  # likewise
    named: list[bool]
    may_be: list[bool]


class Hand(NamedTuple):
    """What the viewer sees of one player."""

    seat: int
    name: str
    cards: list[Card]
    last_turn: str


def hands(variant: Variant, game: np.record, viewer: int | None) -> list[Hand]:
    """All hands from top to bottom: clockwise after the viewer, whose own is the last."""
    me = viewer or 0
    return [
        hand(variant, game, (me + side) % variant.seats, viewer)
        for side in range(1, variant.seats + 1)
    ]


def hand(variant: Variant, game: np.record, seat: int, viewer: int | None) -> Hand:
    slots = range(game.held[seat])
    return Hand(
        seat,
        f"player {seat} (you)" if viewer == seat else f"player {seat}",
        [card(variant, game, seat, slot, shown=viewer != seat) for slot in slots],
        last_turn(variant, game, seat),
    )


def card(variant: Variant, game: np.record, seat: int, slot: int, shown: bool) -> Card:
    rule_set = variant.rule_set
    possible, named = game.possible[seat, slot], game.named[seat, slot]
    may_be = [bool(possible & cards) for cards in rule_set.cards_with[: rule_set.traits]]
    if shown:
        suit, rank = divmod(int(game.hand[seat, slot]), int(rule_set.ranks))
    else:
        suit, rank = only(may_be[: rule_set.suits]), only(may_be[rule_set.suits :])
    return Card(suit, rank, [bool(named >> trait & 1) for trait in range(rule_set.traits)], may_be)


def only(possible: list[bool]) -> int:
    """The one that is possible, if it is the only one."""
    return possible.index(True) if possible.count(True) == 1 else NONE


def last_turn(variant: Variant, game: np.record, seat: int) -> str:
    """What a player did last, in words."""
    if game.did[seat] == NONE:
        return ""
    if game.did[seat] == CLUE:
        trait = trait_names(variant)[game.trait[seat]]
        return f"told player {game.told[seat]} about {trait}: {touched_words(game, seat)}"
    suit, rank = divmod(int(game.card[seat]), int(variant.rule_set.ranks))
    which = f"card {game.slot[seat] + 1}, {card_name(variant, suit, rank)}"
    if game.did[seat] == DISCARD:
        return f"discarded {which}"
    back = ", and a clue token came back" if game.regained[seat] else ""
    return f"played {which}{back}" if game.scored[seat] else f"played {which}, an error"


def touched_words(game: np.record, seat: int) -> str:
    """The cards that a player's last clue has pointed out, by the places where they lay."""
    places = [str(slot + 1) for slot in range(HAND) if game.touched[seat] >> slot & 1]
    return f"card{'s' * (len(places) > 1)} {' '.join(places)}" if places else "no card"


def trait_names(variant: Variant) -> tuple[str, ...]:
    """Suits, then ranks, as the choices name them."""
    return cast(Catalogue, variant.actions).traits


def suit_names(variant: Variant) -> tuple[str, ...]:
    return trait_names(variant)[: variant.rule_set.suits]


def signs(variant: Variant) -> list[str]:
    """One character for each trait: the letters of the suits, then the ranks."""
    ranks = [str(rank + 1) for rank in range(variant.rule_set.ranks)]
    return [*(LETTERS[name] for name in suit_names(variant)), *ranks]


def card_name(variant: Variant, suit: int, rank: int) -> str:
    """Such as red3, with a question mark for what is not known."""
    if suit == rank == NONE:
        return "?"
    colour = suit_names(variant)[suit] if suit != NONE else "?"
    return f"{colour}{rank + 1 if rank != NONE else '?'}"


def piles(variant: Variant, copies: NDArray[np.int8]) -> list[str]:
    """The ranks of these cards, suit by suit: "112" is two 1s and a 2."""
    suits, ranks = int(variant.rule_set.suits), int(variant.rule_set.ranks)
    rows = copies[: suits * ranks].reshape(suits, ranks).tolist()
    return ["".join(str(rank + 1) * n for rank, n in enumerate(row)) for row in rows]


def unseen(game: np.record, viewer: int | None) -> NDArray[np.int8]:
    """Copies of each card that the viewer has not seen: in the deck or in their own hand."""
    copies: NDArray[np.int8] = game.unseen.copy()
    if viewer is not None:
        np.add.at(copies, game.hand[viewer, : game.held[viewer]], 1)
    return copies


def headline(variant: Variant, game: np.record) -> str:
    most = int(variant.rule_set.cards)
    return (
        f"{variant.game.title} · {variant.seats} players · score {game.score} of {most} · "
        f"deck {game.deck}"
    )


def status(variant: Variant, game: np.record) -> str:
    """Whose turn it is, or how the game has ended."""
    if game.mover == OVER:
        return result(variant, game)
    if game.phase == CHOOSE_STARTER:
        return "the starter is drawn"
    if game.phase == DRAW:
        return "cards are dealt" if (game.did == NONE).all() else "a card is drawn"
    left = f", {counted(game.turns_left, 'turn')} left" if game.deck == 0 else ""
    return f"it is the turn of player {game.mover}{left}"


def result(variant: Variant, game: np.record) -> str:
    points = counted(game.score, "point")
    if game.errors == variant.rule_set.max_errors:
        return f"lost by the last error, with {points}"
    if variant.rule_set.cards < LEGENDARY:
        return f"the fireworks are worth {points}"
    rating = next(word for most, word in RATINGS if game.score <= most)
    return f"the fireworks are worth {points}: {rating}"


# --- As text

TITLE, MARGIN, CARD, SUIT = 16, 14, 13, 11  # characters


def text(variant: Variant, game: np.record, seat: int | None = None) -> str:
    """The table in at most 80 columns, as `seat` sees it, or all of it."""
    lines = [headline(variant, game), "", *board_lines(variant, game, seat), ""]
    for hand in hands(variant, game, seat):
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


def drawing(variant: Variant, game: np.record, seat: int | None = None) -> Canvas:
    """The table as `seat` sees it, or all of it."""
    canvas = Canvas(WIDTH, height(variant))
    canvas.write(14, 18, headline(variant, game), 15, anchor="lm")
    draw_fireworks(canvas, variant, game)
    draw_tokens(canvas, variant, game)
    for place, hand in enumerate(hands(variant, game, seat)):
        draw_hand(canvas, variant, hand, HANDS + SIDE * place, to_decide=game.mover == hand.seat)
    canvas.write(14, height(variant) - 16, status(variant, game), 15, anchor="lm")
    return canvas


def draw_fireworks(canvas: Canvas, variant: Variant, game: np.record) -> None:
    """Each suit's firework, and its discards below."""
    canvas.box(10, 36, 412, 132, PANEL)
    canvas.write(20, 118, "discards", 10, anchor="lm")
    discards = piles(variant, game.discards)
    for suit, letter in enumerate(signs(variant)[: variant.rule_set.suits]):
        x, cards = 18 + FIREWORK * suit, int(game.fireworks[suit])
        draw_firework(canvas, letter, cards, x + 9, 44, complete=cards == variant.rule_set.ranks)
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


def draw_hand(canvas: Canvas, variant: Variant, hand: Hand, y: float, to_decide: bool) -> None:
    """A player's last turn and cards; framed while it is theirs to decide."""
    canvas.box(10, y, 580, SIDE - 6, PANEL, GOLD if to_decide else None)
    canvas.write(20, y + 13, hand.name, 14, anchor="lm")
    canvas.write(132, y + 14, hand.last_turn, 12, anchor="lm")
    for place, card in enumerate(hand.cards):
        draw_held(canvas, variant, card, 18 + PLACE * place, y + 26)


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
