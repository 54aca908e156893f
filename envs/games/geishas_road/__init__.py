"""Geisha's Road, in which five geisha walk from house to house; start with RULES.md."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from hanamachi.engine.contract import implemented_in
from hanamachi.engine.game import Game, Length
from hanamachi.engine.layout import Layout
from hanamachi.engine.records import filled
from hanamachi.errors import UserError
from hanamachi.games.four_actions import cards_used, checked_actions, sums_by_set
from hanamachi.games.geishas_road import information, observation, rules, symmetry, validity
from hanamachi.games.geishas_road.actions import Catalogue, Move, places
from hanamachi.games.options import STARTERS, number_in_range, numbers_in_range, one_of

COLOURS = ("pink", "red", "blue", "green", "yellow")  # clockwise
PRESTIGE_TOKENS = (2, 2, 2, 3, 3, 3, 4, 4, 4)
GUESTS = 3  # of each colour

COMMON: dict[str, Any] = {
    "starter": "random",
    "item_values": (1, 2, 3, 4),
    "actions": rules.ACTIONS,
    "loser_picks_starter": "after_deal",
    "tiebreaker_alone_wins": True,
    "colours": 5,
}
EDITION_2021 = COMMON | {
    "light": (3, 3, 4, 4, 4),
    "dark": (3, 2, 2, 2),
    "start_marker": "choose",
    "rounds_to_win": 2,
}
INTRODUCTORY = COMMON | {"prestige_tokens": None, "base": (1, 2), "rounds": 2, "instant_win": 4}
STANDARD = INTRODUCTORY | {"decline_collecting": False}
COUNTEROFFERS = {"counteroffer_shares": "swap", "can_counter_hidden": True, "counter_own": True}
ADVANCED = STANDARD | COUNTEROFFERS
VARIANTS = {
    "geishas_road:2021": EDITION_2021,
    "geishas_road:introductory": INTRODUCTORY,
    "geishas_road:standard": STANDARD,
    "geishas_road:advanced": ADVANCED,
}
OPTIONS = {
    "starter": '"random", 0 or 1: the seat that begins the first round',
    "item_values": "the values of each colour's item cards, ascending",
    "actions": 'each player\'s actions, among "reveal", "intrigue", "gift", "competition"',
    "loser_picks_starter": '"after_deal" or "before_deal": when the loser names the next starter',
    "tiebreaker_alone_wins": "whether the half point of a marker wins a geisha without cards",
    "colours": "geisha, from 2 to 5",
    "light": "lanterns for first returns, the top one first",
    "dark": "lanterns for second returns, the top one first",
    "start_marker": '"choose" or "random": how each player gets a first marker',
    "rounds_to_win": "rounds that win the game",
    "prestige_tokens": "their values, or None for the usual nine, fewer with fewer colours",
    "base": "what each geisha is worth without tokens in round 1, 2, ...",
    "rounds": "rounds that are played",
    "instant_win": "geisha won in one round that win the game at once",
    "decline_collecting": "whether tokens may be left at the house",
    "counteroffer_shares": '"swap" or "keep": whether a Counteroffer changes who gets two cards',
    "can_counter_hidden": "whether a Counteroffer may remove a card that lies face down",
    "counter_own": "whether a Counteroffer may remove a card that the same player has laid",
}


# --- Checks


def checked_values(values: Any, colours: int) -> tuple[int, ...]:
    numbers_in_range("item_values", values, 1, 9, 1, rules.CARDS // colours)
    if list(values) != sorted(set(values)):
        raise UserError(f"item_values must be different and ascend, not {values!r}")
    return tuple(values)


def checked_tokens(tokens: Any, colours: int) -> tuple[int, ...]:
    if tokens is None:
        return PRESTIGE_TOKENS[: 2 * colours - 1]
    numbers_in_range("prestige_tokens", tokens, 0, 9, colours, 2 * colours)
    return tuple(tokens)


def check_instant_win(geisha: Any, colours: int) -> None:
    number_in_range("instant_win", geisha, 1, rules.COLOURS)
    if 2 * geisha <= colours:
        raise UserError(
            f"instant_win must be more than half of the {colours} geisha, not {geisha}, "
            "or both players could win at once"
        )


# --- Tables


@cache
def best_sets(guests: tuple[int, ...]) -> int:
    """The most points for these guests of each colour, each guest in at most one set (2022)."""
    best = 0
    for size, points in ((2, 1), (3, 4)):  # of one colour
        for c, count in enumerate(guests):
            if count >= size:
                rest = (*guests[:c], count - size, *guests[c + 1 :])
                best = max(best, points + best_sets(tuple(sorted(rest, reverse=True))))
    colours = sum(count > 0 for count in guests)
    for size in range(2, colours + 1):  # of different colours, from where there are most
        rest = tuple(count - (c < size) for c, count in enumerate(guests))
        points = size * (size - 1) // 2
        best = max(best, points + best_sets(tuple(sorted(rest, reverse=True))))
    return best


def guest_points() -> Any:
    """(1024,) int8, by the guests of each colour as digits in base 4, the first the lowest."""
    counts = product(range(GUESTS + 1), repeat=rules.COLOURS)
    return np.array([best_sets(tuple(sorted(guests, reverse=True))) for guests in counts], np.int8)


def other_moves(tokens: int, markers: int, rounds: int) -> list[Move]:
    """The choices of tokens, of a first marker and of a starter, where there are any."""
    moves = [Move(rules.COLLECT, number=choice) for choice in range(tokens)]
    moves += [Move(rules.TAKE_MARKER, number=colour) for colour in range(markers)]
    return moves + [Move(rules.STARTER, number=other) for other in range(2) if rounds > 1]


def padded(values: Sequence[int], size: int) -> Any:
    return np.array([*values, *(0,) * (size - len(values))], np.int8)


def build(**options: Any) -> tuple[dict[str, Any], np.record, Catalogue, Layout]:
    """Check the options and derive every table from them."""
    options = checked(options)
    edition = edition_2021(options) if "light" in options else edition_2022(options)
    catalogue = catalogue_of(options, edition)
    layout = layout_of(options, edition)
    return options, tables_of(options, edition, catalogue, layout), catalogue, layout


def checked(options: dict[str, Any]) -> dict[str, Any]:
    """What all editions share, lists as they are used."""
    one_of("starter", options["starter"], STARTERS)
    one_of("loser_picks_starter", options["loser_picks_starter"], ("after_deal", "before_deal"))
    one_of("tiebreaker_alone_wins", options["tiebreaker_alone_wins"], (True, False))
    number_in_range("colours", options["colours"], 2, rules.COLOURS)
    lists = {
        "item_values": checked_values(options["item_values"], options["colours"]),
        "actions": checked_actions(options["actions"], rules.ACTIONS),
    }
    if "prestige_tokens" in options:
        tokens = checked_tokens(options["prestige_tokens"], options["colours"])
        lists["prestige_tokens"] = tokens
    return options | lists


class Edition(NamedTuple):
    """Where the rules of 2021 and of 2022 differ."""

    start_markers: int  # MIDDLE, CHOSEN, DRAWN
    shuffled: bool  # prestige tokens are shuffled, not stacked
    rows: tuple[Sequence[int], ...]  # the stacks, if not
    row_length: tuple[int, int]
    tokens: Sequence[int]  # all of them
    base: Sequence[int]  # points of a geisha in each round
    rounds: int  # that are played; 0 where rounds are won
    rounds_to_win: int
    instant_win: int  # geisha won in one round; 0 for never
    guests: bool
    offers: bool  # Hidden Offer and Counteroffer

    @property
    def most_rounds(self) -> int:
        return self.rounds or 2 * self.rounds_to_win - 1


def edition_2021(options: dict[str, Any]) -> Edition:
    """Stacks of lanterns in a fixed order, geisha at home in every round, rounds to be won."""
    light, dark = options["light"], options["dark"]
    for name in ("light", "dark"):
        numbers_in_range(name, options[name], 0, 9, 0, rules.ROW)
    one_of("start_marker", options["start_marker"], ("choose", "random"))
    number_in_range("rounds_to_win", options["rounds_to_win"], 1, 100)
    return Edition(
        start_markers=rules.CHOSEN if options["start_marker"] == "choose" else rules.DRAWN,
        shuffled=False,
        rows=(light, dark),
        row_length=(len(light), len(dark)),
        tokens=(*light, *dark),
        base=(0,),
        rounds=0,
        rounds_to_win=options["rounds_to_win"],
        instant_win=0,
        guests=False,
        offers=False,
    )


def edition_2022(options: dict[str, Any]) -> Edition:
    """Rows of shuffled tokens, geisha where they stand, points over all rounds."""
    colours, tokens = options["colours"], options["prestige_tokens"]
    numbers_in_range("base", options["base"], 0, 9, 1, rules.ROUNDS)
    number_in_range("rounds", options["rounds"], 1, rules.ROUNDS)
    check_instant_win(options["instant_win"], colours)
    for name in ("decline_collecting", "can_counter_hidden", "counter_own"):
        one_of(name, options.get(name, False), (True, False))
    one_of("counteroffer_shares", options.get("counteroffer_shares", "swap"), ("swap", "keep"))
    introductory = "decline_collecting" not in options
    return Edition(
        start_markers=rules.DRAWN if introductory else rules.MIDDLE,
        shuffled=True,
        rows=((), ()),
        row_length=(colours, len(tokens) - colours),
        tokens=tokens,
        base=options["base"],
        rounds=options["rounds"],
        rounds_to_win=0,
        instant_win=options["instant_win"],
        guests=not introductory,
        offers="counteroffer_shares" in options,
    )


def hand_size(options: dict[str, Any]) -> int:
    """Cards dealt to each: those that the actions use, less one that is drawn for each."""
    actions, deck = options["actions"], options["colours"] * len(options["item_values"])
    return cards_used(rules.ACTIONS, actions, deck) - len(actions)


def draws(options: dict[str, Any], edition: Edition) -> int:
    """Cards drawn in a round: one for each action, and one for a Counteroffer."""
    return len(options["actions"]) + (edition.offers and places(options["actions"]) > 0)


def catalogue_of(options: dict[str, Any], edition: Edition) -> Catalogue:
    colours, chosen = options["colours"], edition.start_markers == rules.CHOSEN
    others = other_moves(
        tokens=edition.guests * (3 if options.get("decline_collecting") else 2),
        markers=colours if chosen else 0,
        rounds=edition.most_rounds,
    )
    return Catalogue(
        hand_size(options) + 1,
        options["actions"],
        edition.offers,
        others,
        COLOURS[:colours],
        options["item_values"],
        options.get("counteroffer_shares") == "keep",
    )


def layout_of(options: dict[str, Any], edition: Edition) -> Layout:
    colours = options["colours"]
    base, tokens, rounds = max(edition.base), edition.tokens, edition.most_rounds
    a_round = colours * base + sum(tokens) + edition.guests * 30 + edition.offers * 2
    sizes = observation.Sizes(
        colours=colours,
        item_values=options["item_values"],
        hand=hand_size(options) + 1,
        draws=draws(options, edition),
        rounds=rounds,
        worth=base + sum(sorted(tokens)[-2:]),
        points=rounds * a_round,
        guests=edition.guests,
        offers=edition.offers,
    )
    return observation.layout(sizes)


def tables_of(
    options: dict[str, Any], edition: Edition, catalogue: Catalogue, layout: Layout
) -> np.record:
    actions = options["actions"]
    return filled(
        rules.RULE_SET,
        layout,
        **card_tables(options["colours"], options["item_values"], edition),
        **edition_tables(edition),
        seats=rules.SEATS,
        in_use=[action in actions for action in rules.ACTIONS],
        markers=len(actions),
        hand_size=hand_size(options),
        draws=draws(options, edition),
        starter=rules.NONE if options["starter"] == "random" else options["starter"],
        after_deal=options["loser_picks_starter"] == "after_deal",
        decline=options.get("decline_collecting", False),
        guest_points=guest_points(),
        keep_shares=catalogue.keep_shares,
        can_counter_hidden=options.get("can_counter_hidden", False),
        counter_own=options.get("counter_own", False),
        alone_wins=options["tiebreaker_alone_wins"],
        max_outcomes=rules.CARDS,
        kind=catalogue.kind,
        first=catalogue.first,
        slots=catalogue.slots,
        fitting=catalogue.fitting,
        places=places(actions),
    )


def card_tables(colours: int, values: Sequence[int], edition: Edition) -> dict[str, Any]:
    """What depends on the item cards: colour by colour, by value in each."""
    card_values = np.tile(np.array(values, np.int8), colours)
    colour = np.repeat(np.arange(colours), len(values))
    rank = np.tile(np.arange(len(values)), colours)
    traits = np.eye(16, dtype=np.uint8)[[colour, colours + rank]].sum(0, dtype=np.uint8)
    return {
        "colours": colours,
        "values": len(values),
        "cards": colours * len(values),
        "around": np.arange(3 * rules.COLOURS) % colours,
        "colour": colour,
        "rank": rank,
        "value": card_values,
        "pull": card_values.astype(np.uint64) << 8 * colour.astype(np.uint64),
        "traits": traits.view(np.uint64),
        "walk": card_values % colours,
        "influence": sums_by_set(values),
        "collects": edition.guests * ((card_values == 1) * 2 + (card_values == 2)),
    }


def edition_tables(edition: Edition) -> dict[str, Any]:
    """What depends on the edition alone."""
    last = rules.ROUNDS - len(edition.base)  # rounds that are like the last one given
    return {
        "start_markers": edition.start_markers,
        "shuffled": edition.shuffled,
        "going_home": not edition.shuffled,
        "tokens": np.bincount(edition.tokens, minlength=rules.WORTHS) * edition.shuffled,
        "rows": np.array([padded(row, rules.ROW) for row in edition.rows]),
        "row_length": edition.row_length,
        "guests": GUESTS * edition.guests,
        "offer_tokens": edition.offers,
        "base_points": [*edition.base, *(edition.base[-1],) * last],
        "rounds": edition.rounds,
        "rounds_to_win": edition.rounds_to_win,
        "instant_win": edition.instant_win,
    }


def length(rule_set: np.record) -> Length:
    """Each action, with its answer and the order of each two cards; counteroffers; collections.

    Before a round somebody may name the starter, and both may get first markers.
    """
    gift, competition = rule_set.in_use[[rules.GIFT, rules.COMPETITION]].tolist()
    actions = 2 * (int(rule_set.markers) + 2 * gift + 3 * competition)
    counters = 2 * int(rule_set.offer_tokens)
    tokens = int(rule_set.row_length.sum()) * bool(rule_set.shuffled)
    return Length(
        rounds=int(rule_set.rounds or 2 * rule_set.rounds_to_win - 1),
        decisions=actions + counters + int((rule_set.collects > 0).sum()) + 3,
        chances=tokens + 2 * int(rule_set.hand_size + rule_set.markers) + counters + 3,
    )


GAME = Game(
    name="geishas_road",
    title="Geisha's Road",
    cooperative=False,
    record=rules.RECORD,
    rule_set_dtype=rules.RULE_SET,
    functions=implemented_in(rules, observation, information, validity),
    variants=VARIANTS,
    options=OPTIONS,
    build=build,
    length=length,
    later={"counter_own": True},
    last_round="rounds",
    symmetries=symmetry.symmetries,
    render="hanamachi.games.geishas_road.render",
)
