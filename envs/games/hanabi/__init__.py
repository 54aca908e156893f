"""Hanabi, in which two to five players build fireworks together; start with RULES.md."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.contract import implemented_in
from hanamachi.engine.game import Game, Length
from hanamachi.engine.layout import Layout
from hanamachi.engine.records import filled
from hanamachi.errors import UserError
from hanamachi.games.hanabi import information, observation, rules, symmetry, validity
from hanamachi.games.hanabi.actions import Catalogue
from hanamachi.games.options import number_in_range, one_of

COLOURS = ("red", "black", "yellow", "green", "blue")
MULTICOLOUR = "multicolour"
HAND_SIZES = {2: 5, 3: 5, 4: 4, 5: 4}  # by players
MULTICOLOURS = ("none", "five", "ten")
STRIKEOUT_SCORES = ("zero", "fireworks")

DEFAULTS: dict[str, Any] = {
    "starter": "random",
    "multicolour": "none",
    "max_clues": 8,
    "max_errors": 3,
    "allow_empty_hints": False,
    "strikeout_score": "zero",
    "colours": 5,
    "ranks": 5,
}
EDITIONS = {"": "none", ":multicolour": "five"}
VARIANTS = {
    f"hanabi:{players}p{edition}": DEFAULTS | {"multicolour": multicolour, "hand_size": hand_size}
    for edition, multicolour in EDITIONS.items()
    for players, hand_size in HAND_SIZES.items()
}
FIXED = {
    f"hanabi:{players}p{edition}": {"players": players}
    for edition in EDITIONS
    for players in HAND_SIZES
}
OPTIONS = {
    "starter": '"random", or the seat that begins',
    "multicolour": '"none", "five" (one card of each rank) or "ten" (as many as of other suits)',
    "max_clues": "clue tokens, from 1 to 8",
    "max_errors": "errors that lose the game, from 1 to 3",
    "allow_empty_hints": "whether a clue may touch no card",
    "strikeout_score": '"zero" or "fireworks": the points of a game lost by errors',
    "colours": "suits besides the multicolour one, from 1 to 5",
    "ranks": "of each suit, from 1 to 5",
    "hand_size": "cards that each player holds, from 1 to 5",
}


# --- Cards


def copies_of(ranks: int) -> list[int]:
    """How many cards there are of each rank of a suit."""
    return [3, *[2] * (ranks - 2), 1][:ranks]


def all_copies(colours: int, ranks: int, multicolour: str) -> list[int]:
    """How many there are of each card, suit by suit, the multicolour one last."""
    last = {"none": [], "five": [1] * ranks, "ten": copies_of(ranks)}[multicolour]
    return copies_of(ranks) * colours + last


def deck_after_deal(copies: list[int], players: int, hand_size: int) -> int:
    left = sum(copies) - players * hand_size
    if left < 0:
        raise UserError(
            f"{players} hands of {hand_size} need {players * hand_size} cards but there are only "
            f"{sum(copies)}; lower hand_size or add cards"
        )
    return left


# --- Tables


def traits(suits: int, ranks: int) -> NDArray[np.int64]:
    """(C * R, C + R) 1 where a card has a trait."""
    of_suit = np.repeat(np.eye(suits, dtype=np.int64), ranks, axis=0)
    return np.hstack([of_suit, np.tile(np.eye(ranks, dtype=np.int64), (suits, 1))])


def as_bits(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each row of 0 and 1 as one number."""
    return rows @ (1 << np.arange(rows.shape[1]))


def build(*, players: int, **options: Any) -> tuple[dict[str, Any], np.record, Catalogue, Layout]:
    """Check the options and derive every table from them."""
    check(players, options)
    ranks, hand_size, multicolour = (options[o] for o in ("ranks", "hand_size", "multicolour"))
    clues, errors = options["max_clues"], options["max_errors"]
    copies = all_copies(options["colours"], ranks, multicolour)
    deck = deck_after_deal(copies, players, hand_size)
    suits = COLOURS[: options["colours"]] + (MULTICOLOUR,) * (multicolour != "none")
    catalogue = Catalogue(players, hand_size, suits, ranks)
    layout = observation.layout(
        players, hand_size, len(suits), ranks, deck, max(copies), clues, errors
    )
    has_trait = traits(len(suits), ranks)
    rule_set = filled(
        rules.RULE_SET,
        layout,
        seats=players,
        hand_size=hand_size,
        suits=len(suits),
        ranks=ranks,
        cards=len(copies),
        traits=len(suits) + ranks,
        copies=copies,
        traits_of=as_bits(has_trait),
        cards_with=as_bits(has_trait.T),
        max_clues=clues,
        max_errors=errors,
        starter=rules.NONE if options["starter"] == "random" else options["starter"],
        empty_clues=options["allow_empty_hints"],
        lost_is_zero=options["strikeout_score"] == "zero",
        max_outcomes=rules.CARDS,
        kind=catalogue.kind,
        slot=catalogue.slot,
        offset=catalogue.offset,
        trait=catalogue.trait,
        first=catalogue.first,
        clue=catalogue.clue,
    )
    return options, rule_set, catalogue, layout


def check(players: int, options: dict[str, Any]) -> None:
    one_of("starter", options["starter"], ("random", *range(players)))
    one_of("multicolour", options["multicolour"], MULTICOLOURS)
    number_in_range("max_clues", options["max_clues"], 1, DEFAULTS["max_clues"])
    number_in_range("max_errors", options["max_errors"], 1, DEFAULTS["max_errors"])
    one_of("allow_empty_hints", options["allow_empty_hints"], (True, False))
    one_of("strikeout_score", options["strikeout_score"], STRIKEOUT_SCORES)
    number_in_range("colours", options["colours"], 1, len(COLOURS))
    number_in_range("ranks", options["ranks"], 1, rules.RANKS)
    number_in_range("hand_size", options["hand_size"], 1, rules.HAND)


# --- The end


def best_score(rule_set: np.record) -> int:
    """A point for each card of the complete display."""
    return int(rule_set.cards)


def length(rule_set: np.record) -> Length:
    """A turn for each card of the deck, for each clue, and a last one for each player.

    Every one of those cards can bring a clue token back.
    """
    cards = int(rule_set.copies.sum())
    deck = cards - int(rule_set.seats * rule_set.hand_size)
    clues = int(rule_set.max_clues) + deck
    return Length(rounds=1, decisions=deck + clues + int(rule_set.seats), chances=cards + 1)


def lost(rule_set: np.record, games: NDArray[Any]) -> NDArray[np.bool_]:
    """Which games ended by errors, (B,)."""
    struck_out: NDArray[np.bool_] = games["errors"] == rule_set.max_errors
    return struck_out


GAME = Game(
    name="hanabi",
    title="Hanabi",
    cooperative=True,
    record=rules.RECORD,
    rule_set_dtype=rules.RULE_SET,
    functions=implemented_in(rules, observation, information, validity),
    variants=VARIANTS,
    fixed=FIXED,
    options=OPTIONS,
    build=build,
    length=length,
    best_score=best_score,
    lost=lost,
    symmetries=symmetry.symmetries,
    render="hanamachi.games.hanabi.render",
)
