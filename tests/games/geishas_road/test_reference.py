"""The engine and a second implementation, led through the same games, agree at every step."""

import gc
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, compress, product
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from positions import legal, outcomes
from reference_geishas_road import Reference
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road.actions import Move
from hanamachi.games.geishas_road.rules import (
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
from hanamachi.games.registry import variant as make_variant

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
        varied += [{"counter_own": False}]
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


@pytest.fixture(autouse=True, scope="module")
def garbage_is_collected_less_often() -> Iterator[None]:
    """The lists of a whole batch, soon freed, would have it collected at every step."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000)
    yield
    gc.set_threshold(*thresholds)


@pytest.mark.parametrize("options", OPTION_SETS, ids=name_of)
def test_engine_and_reference_play_the_same_game(options: dict[str, Any]) -> None:
    id, share, *_ = options.values()
    chosen = {name: value for name, value in options.items() if name not in ("id", "share")}
    games = games_of(id, share)
    for first in range(0, games, BATCH):
        seeds = np.arange(first, min(first + BATCH, games), dtype=np.uint64)
        MET.update(compare(make_variant(id, **chosen), seeds))


def test_rare_events_were_met_in_these_games(capsys: pytest.CaptureFixture[str]) -> None:
    if sum(MET.values()) == 0:
        pytest.skip("the games are played by the tests above")
    with capsys.disabled():
        print("\nrare events met:", *(f"{MET[event]:10,}  {event}" for event in EVENTS), sep="\n")
    assert [event for event in EVENTS if MET[event] == 0] == []


DRAWN_MARKERS = ("geishas_road:2021", {"start_marker": "random"})


@pytest.mark.parametrize(("id", "options"), [*((id, {}) for id in EDITIONS), DRAWN_MARKERS])
def test_chance_is_as_likely_in_both(id: str, options: dict[str, Any]) -> None:
    variant = make_variant(id, **options)
    for seed in range(5):
        rng, reference = Random(seed), Reference(*EDITIONS[id], **options)
        deck = list(reference.pile)
        game = variant.new(np.array([seed], np.uint64))[0]
        kernels.start_one(variant.rule_set, game)
        while (expected := reference.expects()) != "over":
            if expected == "move":
                action = rng.choice(np.flatnonzero(legal(variant, game)).tolist())
                kernels.apply_one(variant.rule_set, game, action)
                reference.play(spelled(variant.actions.moves[action]))
            else:
                likely = dict(outcomes(variant, game))
                said = {n: deck[n] if expected == "card" else n for n in likely}
                ours = {said[n]: chance for n, chance in likely.items()}
                assert ours == pytest.approx(reference.outcomes())
                number = rng.choice(list(likely))
                kernels.resolve_one(variant.rule_set, game, number)
                reference.chance(said[number])


def compare(variant: Variant, seeds: NDArray[np.uint64]) -> Counter[str]:
    """Random games, one for each seed, in both engines; returns the rare events they met."""
    rng = Random(int(seeds[0]))
    games = variant.new(seeds)
    kernels.reset(variant.rule_set, games)
    options = {name: value for name, value in variant.options.items() if name != "starter"}
    references = [Led(*EDITIONS[variant.id], **options) for _ in games]
    moves = [spelled(move) for move in variant.actions.moves]
    events: Counter[str] = Counter()
    while references:
        lead(references, games)
        compare_states(variant, games, references)
        legal = legal_actions(variant, games)
        compare_moves([[moves[action] for action in actions] for actions in legal], references)
        for reference in references:
            if reference.expects() == "over":
                events += reference.events
        games = games[games["mover"] != OVER]
        references = [reference for reference in references if reference.expects() != "over"]
        actions = [rng.choice(choices) for choices in legal if choices]
        for reference, action in zip(references, actions, strict=True):
            reference.play(moves[action])
        kernels.step(variant.rule_set, games, np.array(actions, np.int64))
    return events


def legal_actions(variant: Variant, games: NDArray[Any]) -> list[list[int]]:
    masks = np.zeros((len(games), variant.actions.size), np.int8)
    kernels.masks(variant.rule_set, games, masks)
    return [np.flatnonzero(mask).tolist() for mask in masks]


def compare_states(variant: Variant, games: NDArray[Any], references: list["Led"]) -> None:
    for name, values in (told(variant, games) | cards_told(variant, games)).items():
        assert [getattr(reference, name) for reference in references] == values, name


def compare_moves(legal: list[list[tuple]], references: list["Led"]) -> None:
    for expected, reference in zip(legal, references, strict=True):
        moves = reference.moves()
        assert len(moves) == len(expected)
        assert set(moves) == set(expected)


# --- Chance


class Led(Reference):
    """A game of the reference, led by chance to where the engine stands."""

    def __init__(self, edition: int, mode: str | None, **options: Any) -> None:
        super().__init__(edition, mode, **options)
        self.deck = list(self.pile)
        self.drawn: Counter[tuple[int, int]] = Counter()  # cards, by round and seat

    def feed(self, state: dict[str, Any]) -> None:
        """What chance brought in the engine, in order."""
        while (expected := self.expects()) not in ("move", "over"):
            self.chance(getattr(self, f"next_{expected}")(state))

    def next_starter(self, state: dict[str, Any]) -> int:
        return state["starter"]

    def next_token(self, state: dict[str, Any]) -> int:
        first, second = state["row"]
        return (first[: len(self.colours)] + second)[sum(map(len, self.rows))]

    def next_marker(self, state: dict[str, Any]) -> int:
        return state["marker"].index(sum(marker is not None for marker in self.markers))

    def next_card(self, state: dict[str, Any]) -> tuple[int, int]:
        """For the hand of player 0, then of player 1, then for whichever of them has drawn."""
        received = [[card for card in cards if card != NONE] for cards in state["received"]]
        drawn = [self.drawn[self.round, seat] for seat in (0, 1)]
        wanting = [seat for seat in (0, 1) if drawn[seat] < self.hand_size]
        seat, *_ = wanting or [seat for seat in (0, 1) if drawn[seat] < len(received[seat])]
        self.drawn[self.round, seat] += 1
        return self.deck[received[seat][drawn[seat]]]


def lead(references: list[Led], games: NDArray[Any]) -> None:
    """Bring the references to the engine's positions by the same chance."""
    names = ("starter", "row", "marker", "received")
    columns = [games[name].tolist() for name in names]
    for reference, *state in zip(references, *columns, strict=True):
        reference.feed(dict(zip(names, state, strict=True)))


# --- One spelling for the two


def told(variant: Variant, games: NDArray[Any]) -> dict[str, list[Any]]:
    """The engine's records in the words of the reference, a field of all games at a time."""
    rule_set, n = variant.rule_set, variant.rule_set.colours
    counted = "wins" if "light" in variant.options else "points"  # what wins the game
    return {
        "round": games["round_number"].tolist(),
        "starter": seats(games["starter"]),
        "turn": np.minimum(games["turn"], 2 * rule_set.markers).tolist(),
        "mover": seats(games["mover"]),
        "markers": seats(games["marker"][:, :n]),
        "steps": games["steps"][:, :n].tolist(),
        "landings": games["returns"][:, :n].tolist(),
        "prestige": games["prestige"][:, :n].tolist(),
        "rows": rows(games, rule_set.row_length.tolist()),
        "guests": games["guests"][:, :n].tolist(),
        "collected": games["collected"][:, :, :n].tolist(),
        "used": [[used_in(turns) for turns in both] for both in games["used_in"].tolist()],
        "hidden_offer_used": (games["hidden_use"] != NONE).tolist(),
        "counteroffer_used": (games["counter_to"] != NONE).tolist(),
        counted: games[counted].tolist(),
        "winner": seats(games["winner"]),
    }


def cards_told(variant: Variant, games: NDArray[Any]) -> dict[str, list[Any]]:
    """Likewise where each card is."""
    rule_set, values = variant.rule_set, variant.options["item_values"]
    deck = [*product(range(rule_set.colours), values), None]  # the card NONE is the last
    piles = games["unseen"][:, None] >> np.arange(rule_set.cards) & 1
    tables = games["played_by"][:, None] == [[0], [1]]
    kept, discarded = np.moveaxis(games["laid"][:, :, INTRIGUE, :2], 2, 0)
    lies = np.take_along_axis(games["played_as"], kept, 1) == 0
    return {
        "pile": [list(compress(deck, pile)) for pile in piles.tolist()],
        "tables": [[list(compress(deck, side)) for side in both] for both in tables.tolist()],
        "hands": [[held(deck, hand) for hand in both] for both in games["hand"].tolist()],
        "kept": [[deck[card] for card in both] for both in np.where(lies, kept, NONE).tolist()],
        "discarded": [[deck[card] for card in both] for both in discarded.tolist()],
        "offer": offers(games, deck),
    }


def seats(numbers: NDArray[Any]) -> list[Any]:
    """A seat, or None for whatever is below 0."""
    return np.array([0, 1, None], object)[np.maximum(numbers, -1)].tolist()


def rows(games: NDArray[Any], lengths: list[int]) -> list[list[list[int]]]:
    return [
        [row[gone:length] for row, gone, length in zip(both, taken, lengths, strict=True)]
        for both, taken in zip(games["row"].tolist(), games["taken"].tolist(), strict=True)
    ]


def used_in(turns: list[int]) -> dict[str, int]:
    return {action: turn for action, turn in zip(ACTIONS, turns, strict=True) if turn}


def held(deck: list[Any], hand: list[int]) -> list[tuple[int, int]]:
    return [deck[card] for card in hand if card != NONE]


def offers(games: NDArray[Any], deck: list[Any]) -> list[list[Any] | None]:
    """Each card on offer, and the seat that laid it face down if one did."""
    offers: list[list[Any] | None] = [None for _ in games]
    hidden_by = seats(games["face_down"])
    for i in np.flatnonzero(games["phase"] == ANSWER):
        offer = games["offer"][i].tolist()
        offers[i] = [(deck[c], by) for c, by in zip(offer, hidden_by[i], strict=True) if c != NONE]
    return offers


def spelled(move: Move) -> tuple[Any, ...]:
    """How the reference writes a move."""
    if move.kind >= TAKE_CARD:
        return choice(move)
    if move.kind in (COUNTEROFFER, HIDDEN_COUNTEROFFER):
        return ("counteroffer", move.number, *move.slots, move.kind == HIDDEN_COUNTEROFFER)
    if move.kind >= HIDDEN_GIFT:
        return (ACTIONS[move.kind - 2], move.slots, True)
    if len(move.slots) > 2:
        return (ACTIONS[move.kind], move.slots, False)
    return (ACTIONS[move.kind], *move.slots)


def choice(move: Move) -> tuple[Any, ...]:
    words = {TAKE_CARD: "take", TAKE_PAIR: "take pair", ORDER: "order", TAKE_MARKER: "marker"}
    if move.kind == COLLECT:
        return ("collect", TOKENS[move.number])
    if move.kind == STARTER:
        return ("starter", ("me", "other")[move.number])
    return (words[move.kind], move.number)
