"""Games of Hanabi in the JSON of hanab.live, where people's games can be studied.

The format is that of `misc/example_game_with_comments.jsonc` in the site's repository. Its players,
suits and cards are numbered from 0, the first player begins, and a card is known by its place in
the deck. Its suits red, yellow, green, blue and purple are our red, yellow, green, blue and black;
a sixth one is our multicolour suit, and of three or four suits ours are the first ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.games.hanabi.actions import Move
from hanamachi.games.hanabi.rules import CLUE, DISCARD, PLAY
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import DEAL
from hanamachi.sessions.saved_games import Record, record_of, replay

PLAYS, DISCARDS, TELLS_SUIT, TELLS_RANK, ENDS = range(5)  # types of actions there
SUITS = (0, 2, 3, 4, 1, 5)  # ours, by the number that a suit has there
VARIANTS: dict[str, dict[str, Any]] = {  # there -> our options
    "No Variant": {"colours": 5, "multicolour": "none"},
    "3 Suits": {"colours": 3, "multicolour": "none"},
    "4 Suits": {"colours": 4, "multicolour": "none"},
    "6 Suits": {"colours": 5, "multicolour": "ten"},
    "Black (6 Suits)": {"colours": 5, "multicolour": "five"},
}
PLAYERS = (2, 3, 4, 5)
# options of other rules; deckPlays is none, as a card that is played from the deck is refused
UNKNOWN = ("allOrNothing", "detrimentalCharacters", "cardCycle", "startingPlayer")
START = 1  # of the generator, which nothing is drawn from


class Hands:
    """Which cards of the deck the players hold, by their places in it, and who is to move."""

    def __init__(self, players: int, hand_size: int, deck: int) -> None:
        self.deck, self.drawn, self.player = deck, players * hand_size, 0
        firsts = range(0, self.drawn, hand_size)
        self.cards = [list(range(first, first + hand_size)) for first in firsts]

    def take(self, slot: int) -> int:
        """The card that leaves a slot of the player to move; another one is drawn."""
        hand = self.cards[self.player]
        card = hand.pop(slot)
        if self.drawn < self.deck:
            hand.append(self.drawn)
            self.drawn += 1
        return card

    def next_player(self) -> None:
        self.player = (self.player + 1) % len(self.cards)


# --- Reading


def is_hanab_live(content: Any) -> bool:
    """Whether a JSON value looks like a game from there."""
    return isinstance(content, dict) and {"players", "deck", "actions"} <= content.keys()


def read_hanab_live(content: Mapping[str, Any]) -> Record:
    """The game that the JSON spells, up to its end or to where the players broke it off.

    Raises UserError if it is of a variant that is not played here, or not in this form. Whether
    the rules allow its actions shows when it is replayed.
    """
    if not isinstance(content, Mapping):
        raise UserError(f"a game of hanab.live is a JSON object, not {shown(content)}")
    variant = variant_of(content)
    deck = [card_of(variant, card) for card in listed(content, "deck")]
    check_deck(variant, deck)
    hands = Hands(variant.seats, int(variant.rule_set.hand_size), len(deck))
    if hands.drawn > len(deck):
        raise UserError(f"the hands need {hands.drawn} cards, but the deck has {len(deck)}")
    numbers = {move: number for number, move in enumerate(variant.actions.moves)}
    actions = []
    for step in steps(content):
        move = move_of(variant, hands, step)
        if move not in numbers:
            raise UserError(f"{shown(dict(step))} is no action of this game")
        actions.append(numbers[move])
        hands.next_player()
    return Record(variant, START, tuple(deck[: hands.drawn]), tuple(actions))


def check_deck(variant: Variant, deck: Sequence[int]) -> None:
    """UserError unless the deck has each card as often as the game."""
    cards = variant.rule_set.cards
    whole, given = variant.rule_set.copies[:cards], np.bincount(deck, minlength=cards)
    if not np.array_equal(given, whole):
        raise UserError(f"the deck must hold all {whole.sum()} cards of the game")


def variant_of(content: Mapping[str, Any]) -> Variant:
    players, settings = len(listed(content, "players")), content.get("options", {})
    if players not in PLAYERS:
        raise UserError(f"Hanabi is for 2 to 5 players, not {players}")
    if not isinstance(settings, dict):
        raise UserError("the options of a game must be an object")
    name = settings.get("variant", "No Variant")
    if not isinstance(name, str) or name not in VARIANTS:
        raise UserError(f"the variant {shown(name)} is not played here; {', '.join(VARIANTS)} are")
    for option in UNKNOWN:
        if settings.get(option):
            raise UserError(f"games with the option {option} are not played here")
    usual = make_variant(f"hanabi:{players}p").options["hand_size"]
    more = bool(settings.get("oneExtraCard")) - bool(settings.get("oneLessCard"))
    empty = bool(settings.get("emptyClues", False))
    options = {**VARIANTS[name], "starter": 0, "allow_empty_hints": empty}
    return make_variant(f"hanabi:{players}p", hand_size=usual + more, **options)


def listed(content: Mapping[str, Any], name: str) -> list[Any]:
    value = content.get(name)
    if not isinstance(value, list) or len(value) > DEAL:
        raise UserError(f"{name} must be a list of at most {DEAL:,}")
    return value


def steps(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The actions up to one that ends the game early."""
    for step in listed(content, "actions"):
        if not isinstance(step, dict):
            raise UserError(f"an action must be an object, not {shown(step)}")
        if step.get("type") == ENDS:
            return
        yield step


def card_of(variant: Variant, card: Any) -> int:
    """A card's number; older games call its suit "suit"."""
    rule_set = variant.rule_set
    if isinstance(card, dict):
        suit, rank = card.get("suitIndex", card.get("suit")), card.get("rank")
        if is_within(suit, 0, int(rule_set.suits) - 1) and is_within(rank, 1, int(rule_set.ranks)):
            return our_suit(variant, suit) * int(rule_set.ranks) + rank - 1
    raise UserError(f"{shown(card)} is no card of this deck")


def our_suit(variant: Variant, suit: int) -> int:
    return SUITS[suit] if variant.options["colours"] == 5 else suit


def move_of(variant: Variant, hands: Hands, step: Mapping[str, Any]) -> Move | None:
    """The move of an action, which is carried out; None if there is no such move."""
    kind, target, value = (step.get(name) for name in ("type", "target", "value"))
    if not is_within(kind, PLAYS, TELLS_RANK):
        return None
    if kind in (PLAYS, DISCARDS):
        held = hands.cards[hands.player]
        if not is_within(target, 0, hands.deck) or target not in held:
            raise UserError(f"player {hands.player} does not hold the card {shown(target)}")
        slot = held.index(target)
        hands.take(slot)
        return Move(PLAY if kind == PLAYS else DISCARD, slot)
    suits, ranks = int(variant.rule_set.suits), int(variant.rule_set.ranks)
    if not is_within(target, 0, variant.seats - 1):
        return None
    offset = (target - hands.player) % variant.seats
    if kind == TELLS_SUIT and is_within(value, 0, suits - 1):
        return Move(CLUE, offset=offset, trait=our_suit(variant, value))
    if kind == TELLS_RANK and is_within(value, 1, ranks):
        return Move(CLUE, offset=offset, trait=suits + value - 1)
    return None


def is_within(value: Any, low: int, high: int) -> TypeGuard[int]:
    return type(value) is int and low <= value <= high


# --- Writing


def hanab_live(record: Record) -> dict[str, Any]:
    """A game of Hanabi as the site's JSON; cards that nobody drew lie at the end of the deck.

    Raises UserError for other games, for options that the site does not have, and if the rules do
    not allow the game.
    """
    record = record_of(replay(record))
    variant = record.variant
    name, settings = settings_of(variant)
    starter, cards = starter_and_cards(record)
    players, hand_size = variant.seats, int(variant.rule_set.hand_size)
    hands = [cards[seat * hand_size :][:hand_size] for seat in range(players)]
    in_turn = [card for seat in range(players) for card in hands[(starter + seat) % players]]
    drawn = in_turn + cards[players * hand_size :]
    deck = drawn + undrawn(variant, drawn)
    table = Hands(players, hand_size, len(deck))
    return {
        "players": [f"player {(starter + seat) % players}" for seat in range(players)],
        "deck": [card_there(variant, card) for card in deck],
        "actions": [step_of(variant, table, action) for action in record.actions],
        "options": {"variant": name, **settings},
    }


def settings_of(variant: Variant) -> tuple[str, dict[str, Any]]:
    """The variant and the options there."""
    if variant.game.name != "hanabi":
        raise UserError(f"hanab.live has games of Hanabi only, not of {variant.game.title}")
    options = variant.options
    rest = {"max_clues": 8, "max_errors": 3, "ranks": 5, "strikeout_score": "zero"}
    for option, usual in rest.items():
        if options[option] != usual:
            raise UserError(f"hanab.live has no option {option}={options[option]}")
    suits = {name: options[name] for name in ("colours", "multicolour")}
    names = [name for name, chosen in VARIANTS.items() if chosen == suits]
    more = options["hand_size"] - make_variant(variant.id).options["hand_size"]
    sizes: dict[int, dict[str, Any]] = {0: {}, 1: {"oneExtraCard": True}, -1: {"oneLessCard": True}}
    if not names or more not in sizes:
        raise UserError("hanab.live has no variant with these suits, or with hands of this size")
    empty = {"emptyClues": True} if options["allow_empty_hints"] else {}
    return names[0], {**empty, **sizes[more]}


def starter_and_cards(record: Record) -> tuple[int, list[int]]:
    """Who began, and the cards in the order in which chance brought them."""
    starter = record.variant.options["starter"]
    if starter == "random":
        first, *cards = record.chance
        return first, cards
    return starter, list(record.chance)


def undrawn(variant: Variant, drawn: Sequence[int]) -> list[int]:
    copies = variant.rule_set.copies.tolist()
    for card in drawn:
        copies[card] -= 1
    return [card for card, left in enumerate(copies) for _ in range(left)]


def card_there(variant: Variant, card: int) -> dict[str, int]:
    suit, rank = divmod(card, int(variant.rule_set.ranks))
    return {"suitIndex": suit_there(variant, suit), "rank": rank + 1}


def suit_there(variant: Variant, suit: int) -> int:
    return SUITS.index(suit) if variant.options["colours"] == 5 else suit


def step_of(variant: Variant, hands: Hands, action: int) -> dict[str, int]:
    """An action there, which is carried out."""
    move, suits = variant.actions.moves[action], int(variant.rule_set.suits)
    if move.kind != CLUE:
        step = {"type": PLAYS if move.kind == PLAY else DISCARDS, "target": hands.take(move.slot)}
    else:
        target = (hands.player + move.offset) % variant.seats
        of_suit = move.trait < suits
        value = suit_there(variant, move.trait) if of_suit else move.trait - suits + 1
        step = {"type": TELLS_SUIT if of_suit else TELLS_RANK, "target": target, "value": value}
    hands.next_player()
    return step
