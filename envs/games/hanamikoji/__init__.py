"""Hanamikoji, in which two players court seven geisha; start with RULES.md, then rules.py."""

from collections import Counter
from typing import Any

import numpy as np

from hanamachi.engine.contract import implemented_in
from hanamachi.engine.game import Game, Length
from hanamachi.engine.layout import Layout
from hanamachi.engine.records import filled
from hanamachi.errors import UserError, shown
from hanamachi.games.four_actions import cards_used, checked_actions
from hanamachi.games.hanamikoji import information, observation, rules, symmetry, validity
from hanamachi.games.hanamikoji.actions import Catalogue
from hanamachi.games.hanamikoji.eight_suits import suits
from hanamachi.games.hanamikoji.never_won import never_won
from hanamachi.games.options import STARTERS, one_of

CARDS = (2, 2, 2, 3, 3, 4, 5)
LIMIT_RULES = ("geisha_then_charm", "charm")
FIFTH_SUITS = ("moon", "star")

DEFAULTS: dict[str, Any] = {
    "starter": "random",
    "max_rounds": None,
    "limit_rule": "geisha_then_charm",
    "cards": CARDS,
    "actions": rules.ACTIONS,
}
VARIANTS = {
    "hanamikoji": DEFAULTS,
    "hanamikoji:three_rounds": {**DEFAULTS, "max_rounds": 3},
    "hanamikoji:eight_suits": {**DEFAULTS, "fifth_suit": "moon"},
}
OPTIONS = {
    "starter": '"random", 0 or 1: the seat that begins the first round',
    "max_rounds": "rounds after which the leader wins, or None for no limit",
    "limit_rule": '"geisha_then_charm" or "charm": who leads at the limit',
    "cards": "item cards of each geisha, from the left, which is also her charm",
    "actions": 'the tiles of each player, among "secret", "trade_off", "gift", "competition"',
    "fifth_suit": '"moon" or "star": the suit of the geisha of charm 5',
}


def checked_cards(cards: Any) -> tuple[int, ...]:
    ints = isinstance(cards, list | tuple) and all(type(n) is int and n > 0 for n in cards)
    if not ints or not 1 <= len(cards) <= rules.GEISHA or sum(cards) > sum(CARDS):
        raise UserError(
            f"cards must list the items of 1 to {rules.GEISHA} geisha, each at least 1 and "
            f"together at most {sum(CARDS)}, not {shown(cards)}"
        )
    return tuple(cards)


def checked_rounds(max_rounds: Any, cards: tuple[int, ...], actions: tuple[str, ...]) -> int:
    if max_rounds is None:
        if never_won(cards, actions):
            raise UserError(f"nobody can win with {cards=} and {actions=}; set max_rounds")
        return 0
    if type(max_rounds) is not int or not 1 <= max_rounds <= 1000:
        raise UserError(f"max_rounds must be None or from 1 to 1000, not {shown(max_rounds)}")
    return max_rounds


def names(cards: tuple[int, ...], fifth_suit: str | None) -> tuple[str, ...]:
    """What players call each geisha: her suit, or her charm, with a letter if it is shared."""
    if fifth_suit:
        return suits(fifth_suit)[: len(cards)]
    shared = Counter(cards)
    letters = ["abcdefg"[cards[:g].count(charm)] for g, charm in enumerate(cards)]
    return tuple(
        f"{charm}{letter if shared[charm] > 1 else ''}"
        for charm, letter in zip(cards, letters, strict=True)
    )


def build(
    *, fifth_suit: Any = None, **options: Any
) -> tuple[dict[str, Any], np.record, Catalogue, Layout]:
    """Check the options and derive every table from them."""
    starter, limit_rule = options["starter"], options["limit_rule"]
    one_of("starter", starter, STARTERS)
    one_of("limit_rule", limit_rule, LIMIT_RULES)
    if fifth_suit is not None:
        one_of("fifth_suit", fifth_suit, FIFTH_SUITS)
    cards = checked_cards(options["cards"])
    actions = checked_actions(options["actions"], rules.ACTIONS)
    limit = checked_rounds(options["max_rounds"], cards, actions)
    hand_size = cards_used(rules.ACTIONS, actions, sum(cards)) - len(actions)
    catalogue = Catalogue(cards, actions, names(cards, fifth_suit))
    layout = observation.layout(len(cards), max(cards), limit)
    rule_set = filled(
        rules.RULE_SET,
        layout,
        **catalogue_tables(catalogue),
        seats=rules.SEATS,
        geisha=len(cards),
        cards=np.array(cards + (0,) * (rules.GEISHA - len(cards)), np.int8),
        in_use=np.array([action in actions for action in rules.ACTIONS], np.int8),
        tiles=len(actions),
        hand_size=hand_size,
        starter=rules.NONE if starter == "random" else starter,
        max_rounds=limit,
        by_geisha=limit_rule == "geisha_then_charm",
        max_outcomes=rules.GEISHA,
    )
    options |= {"cards": cards, "actions": actions}
    if fifth_suit:
        options["fifth_suit"] = fifth_suit
    return options, rule_set, catalogue, layout


def catalogue_tables(catalogue: Catalogue) -> dict[str, Any]:
    """What compiled code knows of each action."""
    return {
        "kind": catalogue.kind,
        "first": catalogue.first,
        "piles": catalogue.piles,
        "of_tiles": of_tiles(catalogue),
        "fits": fits(catalogue),
    }


def of_tiles(catalogue: Catalogue) -> Any:
    """(16, A) int8: by a set of tiles, a bit each, 1 for the actions of these tiles."""
    sets = np.arange(2 ** len(rules.ACTIONS))[:, None]
    return (sets >> catalogue.kind & 1) * (catalogue.kind <= rules.COMPETITION)


def fits(catalogue: Catalogue) -> Any:
    """(7, 8, A) int8: 1 where this many items of a geisha are enough for the action."""
    held = np.arange(rules.HAND + 1)[:, None]
    return catalogue.piles.sum(1).T[:, None] <= held


def length(rule_set: np.record) -> Length:
    """A draw for every tile, an answer to every offer; the first round may draw its starter."""
    tiles = int(rule_set.tiles)
    offers = int(rule_set.in_use[[rules.GIFT, rules.COMPETITION]].sum())
    return Length(
        rounds=int(rule_set.max_rounds),
        decisions=2 * (tiles + offers),
        chances=2 * (int(rule_set.hand_size) + tiles) + 1,
    )


GAME = Game(
    name="hanamikoji",
    title="Hanamikoji",
    cooperative=False,
    record=rules.RECORD,
    rule_set_dtype=rules.RULE_SET,
    functions=implemented_in(rules, observation, information, validity),
    variants=VARIANTS,
    options=OPTIONS,
    build=build,
    length=length,
    last_round="max_rounds",
    symmetries=symmetry.symmetries,
    render="hanamachi.games.hanamikoji.render",
)
