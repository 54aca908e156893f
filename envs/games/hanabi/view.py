"""What a seat may know of a game of Hanabi, as plain data and in words.

`viewer` is the seat that looks; None sees all that is hidden, too. `near` is the side that it is
seen from, by default the viewer's, or that of player 0.
"""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.records import copied
from hanamachi.games.hanabi.actions import Catalogue
from hanamachi.games.hanabi.rules import (
    CHOOSE_STARTER,
    CLUE,
    DISCARD,
    DRAW,
    HAND,
    NONE,
    PLAY,
    seat_to_draw,
)
from hanamachi.rendering.words import counted, near_side, player_name

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

# --- What lies where


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


class Held(NamedTuple):
    """A card in a hand, in words."""

    name: str  # such as red3, with a question mark for what the viewer cannot know
    told: list[str]  # by clues
    may_be: list[str]  # suits and ranks that clues leave possible


class Player(NamedTuple):
    seat: int
    name: str
    cards: list[Held]  # the oldest first
    last_turn: str


class Table(NamedTuple):
    """All that lies on the table, as the viewer sees it; cards by suit, "112" is two 1s and a 2."""

    fireworks: dict[str, int]  # the cards of each
    discards: dict[str, str]
    unseen: dict[str, str]  # what the viewer has not seen: in the deck or in their own hand
    deck: int
    clue_tokens: int  # in the box
    errors: int
    score: int
    players: list[Player]  # clockwise after the near one, who is the last


def table(variant: Variant, game: np.record, viewer: int | None, near: int | None = None) -> Table:
    suits = suit_names(variant)

    def by_suit(copies: NDArray[np.int8]) -> dict[str, str]:
        return dict(zip(suits, piles(variant, copies), strict=True))

    return Table(
        {suit: int(game.fireworks[n]) for n, suit in enumerate(suits)},
        by_suit(game.discards),
        by_suit(unseen(game, viewer)),
        int(game.deck),
        int(game.clues),
        int(game.errors),
        int(game.score),
        [
            Player(
                hand.seat, hand.name, [held(variant, card) for card in hand.cards], hand.last_turn
            )
            for hand in hands(variant, game, viewer, near)
        ],
    )


def held(variant: Variant, card: Card) -> Held:
    told, may_be = (
        [trait for trait, has in zip(trait_names(variant), traits, strict=True) if has]
        for traits in (card.named, card.may_be)
    )
    return Held(card_name(variant, card.suit, card.rank), told, may_be)


def hands(
    variant: Variant, game: np.record, viewer: int | None, near: int | None = None
) -> list[Hand]:
    """All hands from top to bottom: clockwise after the near one, which is the last."""
    me = near_side(viewer, near)
    return [
        hand(variant, game, (me + side) % variant.seats, viewer)
        for side in range(1, variant.seats + 1)
    ]


def hand(variant: Variant, game: np.record, seat: int, viewer: int | None) -> Hand:
    slots = range(game.held[seat])
    return Hand(
        seat,
        player_name(seat, viewer),
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
        return f"told player {game.told[seat]} about {trait}: {touched_words(variant, game, seat)}"
    suit, rank = divmod(int(game.card[seat]), int(variant.rule_set.ranks))
    which = f"card {game.slot[seat] + 1}, {card_name(variant, suit, rank)}"
    if game.did[seat] == DISCARD:
        return f"discarded {which}"
    back = ", and a clue token came back" if game.regained[seat] else ""
    return f"played {which}{back}" if game.scored[seat] else f"played {which}, an error"


def touched_words(variant: Variant, game: np.record, seat: int) -> str:
    """The cards that a player's last clue has pointed out, by the places where they lie now."""
    places = [slot + 1 for slot in range(HAND) if game.touched[seat] >> slot & 1]
    left = slot_left_since(variant, game, seat)
    if left != NONE:
        places = [place - (place > left + 1) for place in places if place != left + 1]
        if not places:
            return "a card that has left"
    names = " ".join(map(str, places))
    return f"card{'s' * (len(places) > 1)} {names}" if places else "no card"


def slot_left_since(variant: Variant, game: np.record, seat: int) -> int:
    """The slot that a card has left since the seat's clue, of the hand that got it; or NONE."""
    told = int(game.told[seat])
    clue, turn = ((game.player - who - 1) % variant.seats for who in (seat, told))  # turns ago
    return int(game.slot[told]) if turn < clue and game.did[told] != NONE else NONE


def trait_names(variant: Variant) -> tuple[str, ...]:
    """Suits, then ranks, as the choices name them."""
    return cast(Catalogue, variant.actions).traits


def suit_names(variant: Variant) -> tuple[str, ...]:
    return trait_names(variant)[: variant.rule_set.suits]


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


# --- In words


def headline(variant: Variant, game: np.record) -> str:
    most = int(variant.rule_set.cards)
    return (
        f"{variant.game.title} · {variant.seats} players · score {game.score} of {most} · "
        f"deck {game.deck}"
    )


def status(variant: Variant, game: np.record, viewer: int | None = None) -> str:
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


def heard(
    variant: Variant, before: np.record, by: int, event: int, viewer: int | None
) -> list[str]:
    """What the viewer hears of an action of the seat `by`, or of an outcome if it is CHANCE."""
    if by == CHANCE:
        return heard_of_chance(variant, before, event, viewer)
    after = copied(before)
    kernels.apply_one(variant.rule_set, after, event)
    words = f"{variant.actions.describe(event, before)}: {came_of(variant, after, by)}"
    return [words, result(variant, after)] if after.mover == OVER else [words]


def came_of(variant: Variant, after: np.record, by: int) -> str:
    """The cards that a clue points out, or the card that was turned up and what became of it."""
    if after.did[by] == CLUE:
        return touched_words(variant, after, by)
    suit, rank = divmod(int(after.card[by]), int(variant.rule_set.ranks))
    name = card_name(variant, suit, rank)
    if after.did[by] == PLAY and not after.scored[by]:
        return f"{name}, an error"
    back = ", and a clue token comes back" if after.did[by] == PLAY and after.regained[by] else ""
    return name + back


def heard_of_chance(
    variant: Variant, before: np.record, outcome: int, viewer: int | None
) -> list[str]:
    """The starter, and what others draw; the hands that are dealt lie on the table."""
    if before.phase == CHOOSE_STARTER:
        return [f"player {outcome} begins"]
    if (before.did == NONE).all():
        return []
    seat = int(seat_to_draw(variant.rule_set, before))
    return [f"player {seat} draws {'a card' if viewer == seat else named_card(variant, outcome)}"]


def deductions(variant: Variant, game: np.record, viewer: int) -> str:
    """What each card of the viewer's own can be, by clues and by the cards that are seen."""
    copies, lines = unseen(game, viewer), []
    for slot in range(game.held[viewer]):
        possible = int(game.possible[viewer, slot])
        cards = [card for card in range(len(copies)) if possible >> card & 1 and copies[card]]
        lines.append(
            f"Your card {slot + 1} can be {' '.join(named_card(variant, c) for c in cards)}."
        )
    return "\n".join(lines)


def outcome_name(variant: Variant, before: np.record, outcome: int) -> str:
    """An outcome of chance as games are written down: the starter, or a card."""
    if before.phase == CHOOSE_STARTER:
        return f"player {outcome} begins"
    return named_card(variant, outcome)


def named_card(variant: Variant, card: int) -> str:
    return card_name(variant, *divmod(card, int(variant.rule_set.ranks)))


# --- What actions are made of


def pieces(variant: Variant, game: np.record, action: int) -> list[tuple[str, str]]:
    """The pieces that make up an action of the seat to move, each with what it is called.

    They are what to do, and pieces of the picture: a card of one's own, or a player and a firework.
    """
    move = cast(Catalogue, variant.actions).moves[action]
    if move.kind != CLUE:
        verb = ("discard", "play")[move.kind]
        return [(verb, verb.capitalize()), (f"card:{move.slot + 1}", f"card {move.slot + 1}")]
    seat, trait = (game.mover + move.offset) % variant.seats, trait_names(variant)[move.trait]
    return [("tell", "Tell"), (f"player:{seat}", f"player {seat}"), (f"about:{trait}", trait)]
