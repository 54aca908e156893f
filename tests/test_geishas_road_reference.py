"""The engine and a second implementation, led through the same games, agree at every step."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference_geishas_road import Reference
from samples import sample

from hanamachi import kernels
from hanamachi.game import OVER, Variant
from hanamachi.games import variant
from hanamachi.geishas_road.actions import Move
from hanamachi.geishas_road.rules import (
    ACTIONS,
    ANSWER,
    COLLECT,
    COUNTEROFFER,
    HIDDEN_COUNTEROFFER,
    HIDDEN_GIFT,
    INTRIGUE,
    NONE,
    ORDER,
    SIZES,
    STARTER,
    TAKE_CARD,
    TAKE_MARKER,
    TAKE_PAIR,
)

EDITIONS = {
    "geishas_road:2021": (2021, None),
    "geishas_road:introductory": (2022, "introductory"),
    "geishas_road:standard": (2022, "standard"),
    "geishas_road:advanced": (2022, "advanced"),
}
SUBSETS = [used for n in (1, 2, 3, 4) for used in combinations(ACTIONS, n)]
SMALLER = ((2, (1, 2)), (2, (1, 2, 3, 4)), (3, (1, 2, 3)), (4, (1, 2, 5)), (5, (2, 3)), (5, (1,)))
TOKENS = ("guests", "tiebreaker", "nothing")
BATCH = 256
EVENTS = (
    "second return",
    "fifth second return meets an empty row",
    "third landing",
    "house short of tokens",
    "tiebreaker taken mid-round",
    "tiebreaker won from the teahouse",
    "marker alone wins",
    "instant win in round 1",
    "instant win in round 2",
    "round tie broken by markers",
    "round tie broken by starter",
    "game tie broken by markers",
    "game tie broken by starter",
    "counteroffer redraws the same card",
    "counteroffer on a hidden card",
    "counteroffer in tandem with a hidden offer",
    "counter to a counter",
    "counteroffer with one card in the pile on turn 7",
    "two hidden cards in one offer",
)
MET: Counter[str] = Counter()  # in the games of this module
Spelling = Callable[[list[Any]], tuple[Any, ...]]  # of a move, with the cards of a hand


def option_sets() -> list[dict[str, Any]]:
    """Each rule set as it is, three quarters of all games; then its options and small versions."""
    sets = []
    for id, (edition, _) in EDITIONS.items():
        sets.append({"id": id, "share": 0.7})
        sets += [{"id": id, "share": 0.3, **options} for options in variations(id, edition)]
    return sets


def variations(id: str, edition: int) -> list[dict[str, Any]]:
    varied: list[dict[str, Any]] = [
        {"starter": 0, "loser_picks_starter": "before_deal"},
        {"starter": 1, "tiebreaker_alone_wins": False, "item_values": (1, 2, 5, 6)},
        {"item_values": (1, 2, 3, 4, 5, 6)},
        {"item_values": (1, 2, 3, 4, 5)},
    ]
    if edition == 2021:
        varied += [{"start_marker": "random"}, {"rounds_to_win": 3, "light": (2,), "dark": ()}]
    else:
        varied += [{"rounds": 1}, {"rounds": 3, "base": (0, 2)}, {"instant_win": 3}]
        varied += [{"prestige_tokens": (0, 1, 2, 5, 9)}, {"prestige_tokens": tuple(range(10))}]
    if "standard" in id or "advanced" in id:
        varied += [{"decline_collecting": True}]
    if "advanced" in id:
        varied += [{"counteroffer_shares": "keep"}, {"can_counter_hidden": False}]
        varied += [{"counteroffer_shares": "keep", "item_values": (1, 2, 3, 4, 5, 6)}]
    for i, actions in enumerate(SUBSETS):
        used = 2 * sum(SIZES[ACTIONS.index(action)] for action in actions)
        fitting = [(n, values) for n, values in SMALLER if n * len(values) >= used]
        for colours, values in fitting[:1] + fitting[1 + i % 4 : 2 + i % 4]:
            limit = {"rounds_to_win": 1 + i % 2} if edition == 2021 else {"rounds": 1 + i % 2}
            small = {"colours": colours, "item_values": values, "actions": actions, **limit}
            varied.append(small | ({} if edition == 2021 else {"instant_win": 4}))
    return varied


OPTION_SETS = option_sets()
OF_SHARE = Counter((options["id"], options["share"]) for options in OPTION_SETS)


def games_of(id: str, share: float) -> int:
    return int(sample(1_000_000) / len(EDITIONS) * share / OF_SHARE[id, share]) + 1


def name_of(options: dict[str, Any]) -> str:
    return "-".join(str(value) for name, value in options.items() if name != "share")


@pytest.mark.parametrize("options", OPTION_SETS, ids=name_of)
def test_engine_and_reference_play_the_same_game(options: dict[str, Any]) -> None:
    id, share, *_ = options.values()
    chosen = {name: value for name, value in options.items() if name not in ("id", "share")}
    games = games_of(id, share)
    for first in range(0, games, BATCH):
        seeds = np.arange(first, min(first + BATCH, games), dtype=np.uint64)
        MET.update(compare(variant(id, **chosen), seeds))


def test_rare_events_were_met_in_these_games(capsys: pytest.CaptureFixture[str]) -> None:
    if sum(MET.values()) == 0:
        pytest.skip("the games are played by the tests above")
    with capsys.disabled():
        print("\nrare events met:", *(f"{MET[event]:10,}  {event}" for event in EVENTS), sep="\n")
    assert [event for event in EVENTS if MET[event] == 0] == []


def compare(variant: Variant, seeds: NDArray[np.uint64]) -> Counter[str]:
    """Random games, one for each seed, in both engines; returns the rare events they met."""
    rng = np.random.default_rng(seeds)
    games = variant.new(seeds)
    kernels.reset(variant.rules, games)
    options = {name: value for name, value in variant.options.items() if name != "starter"}
    spellings = [spelling(move) for move in variant.actions.moves]
    pairs = [Pair(variant, Reference(*EDITIONS[variant.id], **options), spellings) for _ in games]
    events: Counter[str] = Counter()
    while pairs:
        masks = np.zeros((len(games), variant.actions.size), np.int8)
        kernels.masks(variant.rules, games, masks)
        for pair, state, mask in zip(pairs, states(games), masks, strict=True):
            pair.check(state, np.flatnonzero(mask).tolist())
        for pair in pairs:
            if pair.reference.expects() == "over":
                events += pair.reference.events
        on = games["mover"] != OVER
        games, pairs = games[on], [p for p in pairs if p.reference.expects() != "over"]
        actions = random_actions(masks[on], rng)
        for pair, action in zip(pairs, actions.tolist(), strict=True):
            pair.play(action)
        kernels.step(variant.rules, games, actions)
    return events


def random_actions(masks: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(1)


def states(games: NDArray[Any]) -> list[dict[str, Any]]:
    """The records as plain dicts."""
    names = games.dtype.names
    return [
        dict(zip(names, row, strict=True))
        for row in zip(*(games[name].tolist() for name in names), strict=True)
    ]


class Pair:
    """One game of the reference, and how to compare it with the engine's."""

    def __init__(self, variant: Variant, reference: Reference, spellings: list[Spelling]) -> None:
        self.variant, self.reference, self.spellings = variant, reference, spellings
        values = variant.options["item_values"]
        self.deck = [(colour, value) for colour in reference.colours for value in values]
        self.counts = "wins" if reference.edition == 2021 else "points"  # what wins the game
        self.round_number, self.dealt, self.turned_up = 0, [0, 0], 0
        self.state: dict[str, Any] = {}

    def check(self, state: dict[str, Any], legal: list[int]) -> None:
        """Bring the reference to the engine's position by the same chance; then they agree."""
        self.state = state
        self.feed()
        assert self.shown() == self.expected()
        moves = self.reference.moves()
        assert len(moves) == len(legal)
        assert set(moves) == set(self.spelled(legal))

    def play(self, action: int) -> None:
        (move,) = self.spelled([action])
        self.reference.play(move)

    # --- Chance

    def feed(self) -> None:
        """What chance brought in the engine, in order."""
        if self.state["round_number"] != self.round_number:
            self.round_number, self.dealt, self.turned_up = self.state["round_number"], [0, 0], 0
        while (expected := self.reference.expects()) not in ("move", "over"):
            self.reference.chance(getattr(self, f"next_{expected}")())

    def next_starter(self) -> int:
        return self.state["starter"]

    def next_token(self) -> int:
        first, second = self.state["row"]
        n = self.variant.options["colours"]
        self.turned_up += 1
        return (first[:n] + second)[self.turned_up - 1]

    def next_marker(self) -> int:
        drawn = sum(marker is not None for marker in self.reference.markers)
        return self.state["marker"].index(drawn)

    def next_card(self) -> tuple[int, int]:
        """The hand of player 0, then of player 1, then whatever one of them has drawn."""
        got = [sum(card != NONE for card in cards) for cards in self.state["received"]]
        hand = self.variant.rules.hand_size
        seat = (
            next(s for s in (0, 1) if self.dealt[s] < min(hand, got[s]))
            if (min(self.dealt) < hand)
            else next(s for s in (0, 1) if self.dealt[s] < got[s])
        )
        self.dealt[seat] += 1
        return self.deck[self.state["received"][seat][self.dealt[seat] - 1]]

    # --- One spelling for the two

    def cards(self, numbers: list[int]) -> list[tuple[int, int]]:
        return sorted(self.deck[number] for number in numbers if number != NONE)

    def shown(self) -> dict[str, Any]:
        """All that the reference holds, as far as it means the same in the engine."""
        reference = self.reference
        shown = reference.public() | {"mover": reference.mover, "pile": sorted(reference.pile)}
        del shown["wins" if self.counts == "points" else "points"]
        return shown | {"private": [reference.private(seat) for seat in (0, 1)]}

    def expected(self) -> dict[str, Any]:
        """The engine's record in the words of the reference."""
        state, rules = self.state, self.variant.rules
        n, deck = rules.colours, state["unseen"]
        unchosen = state["starter"] == NONE
        return {
            "round": state["round_number"],
            "starter": self.reference.starter if unchosen else state["starter"],
            "turn": min(state["turn"], 2 * rules.markers),
            "mover": seat_or_none(state["mover"]),
            "markers": [seat_or_none(seat) for seat in state["marker"][:n]],
            "steps": state["steps"][:n],
            "landings": state["returns"][:n],
            "prestige": state["prestige"][:n],
            "guests": state["guests"][:n],
            "collected": [guests[:n] for guests in state["collected"]],
            "used": [used_in(turns) for turns in state["used_in"]],
            "offer": self.offer() if state["phase"] == ANSWER else None,
            "hidden_offer_used": [use != NONE for use in state["hidden_use"]],
            "counteroffer_used": [turn != NONE for turn in state["counter_to"]],
            "winner": seat_or_none(state["winner"]),
            "rows": [
                row[taken:length]
                for row, taken, length in zip(
                    state["row"], state["taken"], rules.row_length.tolist(), strict=True
                )
            ],
            "tables": [self.cards(indices(state["played_by"], seat)) for seat in (0, 1)],
            "pile": self.cards([card for card in range(rules.cards) if deck >> card & 1]),
            "private": [self.private(seat) for seat in (0, 1)],
        } | (
            {"wins": state["wins"]}
            if "light" in self.variant.options
            else {"points": state["points"]}
        )

    def offer(self) -> list[tuple[Any, Any]]:
        laid = zip(self.state["offer"], self.state["face_down"], strict=True)
        return [(self.deck[card], seat_or_none(by)) for card, by in laid if card != NONE]

    def private(self, seat: int) -> dict[str, Any]:
        kept, discarded = self.state["laid"][seat][INTRIGUE][:2]
        lies = kept != NONE and self.state["played_as"][kept] == 0
        return {
            "hand": self.cards(self.state["hand"][seat]),
            "kept": self.deck[kept] if lies else None,
            "discarded": self.deck[discarded] if discarded != NONE else None,
        }

    def spelled(self, legal: list[int]) -> list[tuple[Any, ...]]:
        """Actions of the catalogue as the reference spells them."""
        held = [card for card in self.state["hand"][self.state["mover"]] if card != NONE]
        hand = [self.deck[card] for card in held]
        return [self.spellings[action](hand) for action in legal]


def spelling(move: Move) -> Spelling:
    """How the reference spells a move with the cards of a hand."""
    if move.kind >= TAKE_CARD:
        words = choice(move)
        return lambda hand: words
    if len(move.slots) == 1:
        (slot,) = move.slots
        if move.kind in (COUNTEROFFER, HIDDEN_COUNTEROFFER):
            hides = move.kind == HIDDEN_COUNTEROFFER
            return lambda hand: ("counteroffer", move.number, hand[slot], hides)
        return lambda hand: (ACTIONS[move.kind], hand[slot])
    cards = itemgetter(*move.slots)
    if move.kind == INTRIGUE:
        return lambda hand: (ACTIONS[INTRIGUE], *cards(hand))
    hides = move.kind >= HIDDEN_GIFT
    action = ACTIONS[move.kind - 2 if hides else move.kind]
    return lambda hand: (action, cards(hand), hides)


def choice(move: Move) -> tuple[Any, ...]:
    words = {TAKE_CARD: "take", TAKE_PAIR: "take pair", ORDER: "order", TAKE_MARKER: "marker"}
    if move.kind == COLLECT:
        return ("collect", TOKENS[move.number])
    if move.kind == STARTER:
        return ("starter", ("me", "other")[move.number])
    return (words[move.kind], move.number)


def seat_or_none(seat: int) -> int | None:
    return seat if seat >= 0 else None


def used_in(turns: list[int]) -> dict[str, int]:
    return {action: turn for action, turn in zip(ACTIONS, turns, strict=True) if turn}


def indices(values: list[int], wanted: int) -> list[int]:
    return [i for i, value in enumerate(values) if value == wanted]
