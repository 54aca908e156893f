"""The engine and a second implementation, led through the same games, agree at every step."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hanabi_positions import noise, seeing_actions
from numpy.typing import NDArray
from positions import masked
from reference_hanabi import Card, Kind, Move, Reference
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi.rules import CLUE, DISCARD, NONE
from hanamachi.games.registry import variant as make_variant

FIELDS = (
    "mover", "rewards", "clues", "errors", "fireworks", "discards", "deck", "score", "hand",
    "possible", "named", "unseen",
)  # fmt: skip
BATCH = 256
EVENTS = (
    "clue that touches no card",
    "all points",
    "strike-out",
    "strike-out in the final round",
    "no deck",
)
MET: Counter[str] = Counter()  # in the games of this module

Game = dict[str, Any]  # the engine's record as plain Python


def option_sets() -> list[dict[str, Any]]:
    """What OpenSpiel has not got, in all numbers of players, and some of what it has."""
    varied: tuple[dict[str, Any], ...] = (
        {},
        {"multicolour": "five"},
        {"multicolour": "ten"},
        {"allow_empty_hints": True},
        {"multicolour": "five", "allow_empty_hints": True, "max_errors": 2},
        {"multicolour": "ten", "strikeout_score": "fireworks", "max_clues": 4},
        {"strikeout_score": "fireworks"},
        {"strikeout_score": "fireworks", "max_errors": 1},
        {"multicolour": "five", "colours": 2, "ranks": 3, "hand_size": 2},
        {"multicolour": "five", "colours": 2, "ranks": 5, "hand_size": 5},
        {"multicolour": "ten", "colours": 1, "ranks": 4, "hand_size": 3, "max_clues": 3},
        {"multicolour": "five", "colours": 1, "ranks": 5, "hand_size": 3},
        {"colours": 5, "ranks": 3, "hand_size": 4, "allow_empty_hints": True},
        {"colours": 5, "ranks": 1, "hand_size": 3, "strikeout_score": "fireworks"},
        {"colours": 1, "ranks": 5, "hand_size": 2, "max_clues": 1, "max_errors": 2},
    )
    sets = []
    for players in (2, 3, 4, 5):
        sets += [{"players": players, "starter": seat} for seat in range(players)]
        sets += [{"players": players, **options} for options in varied]
    return sets


OPTION_SETS = option_sets()
GAMES = sample(200_000, 0.005) // len(OPTION_SETS) + 1


def name_of(options: dict[str, Any]) -> str:
    return "-".join(f"{name}={value}" for name, value in options.items())


@pytest.mark.parametrize("options", OPTION_SETS, ids=name_of)
def test_engine_and_reference_play_the_same_game(options: dict[str, Any]) -> None:
    players, *_ = options.values()
    chosen = {name: value for name, value in options.items() if name != "players"}
    variant = make_variant(f"hanabi:{players}p", **chosen)
    for first in range(0, GAMES, BATCH):
        compare(variant, np.arange(first, min(first + BATCH, GAMES), dtype=np.uint64))


def test_rare_events_were_met_in_these_games(capsys: pytest.CaptureFixture[str]) -> None:
    if sum(MET.values()) == 0:
        pytest.skip("the games are played by the tests above")
    with capsys.disabled():
        print("\nrare events met:", *(f"{MET[event]:10,}  {event}" for event in EVENTS), sep="\n")
    assert [event for event in EVENTS if MET[event] == 0] == []


def compare(variant: Variant, seeds: NDArray[np.uint64]) -> None:
    """One game for each seed in both engines."""
    rng = np.random.default_rng(seeds)
    dice = noise(seeds)
    games = variant.new(seeds)
    kernels.reset(variant.rule_set, games)
    spellings = [spelled(variant, mover) for mover in range(variant.seats)]
    pairs = [Pair(variant, starter, spellings) for starter in games["player"].tolist()]
    while len(games):
        masks = masked(variant, games)
        for pair, game, mask in zip(pairs, plain(games), masks, strict=True):
            pair.check(game, np.flatnonzero(mask).tolist())
        on = games["mover"] != OVER
        games, dice = games[on], dice[on]
        pairs = [pair for pair in pairs if not pair.reference.terminated]
        actions = seeing_actions(variant, games, masks[on], dice, rng)
        for pair, action in zip(pairs, actions.tolist(), strict=True):
            pair.play(action)
        kernels.step(variant.rule_set, games, actions)


def plain(games: NDArray[Any]) -> list[Game]:
    columns = [games[name].tolist() for name in FIELDS]
    return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]


class Pair:
    """One game, which the reference plays too."""

    def __init__(self, variant: Variant, starter: int, spellings: list[list[Move]]) -> None:
        options = {name: value for name, value in variant.options.items() if name != "starter"}
        self.seats, self.spellings = variant.seats, spellings
        self.shape = int(variant.rule_set.suits), int(variant.rule_set.ranks)
        self.kinds = kinds(*self.shape)
        self.reference = Reference(variant.seats, **options)
        self.reference.begin(starter)
        self.reward = 0  # of the last move

    def check(self, game: Game, legal: list[int]) -> None:
        """Let chance bring the reference what it brought the engine, then compare all there is."""
        reference = self.reference
        while reference.needs_card():
            seat = reference.draws[0]
            reference.card(*self.kinds[game["hand"][seat][len(reference.hands[seat])]])
        assert self.public(game) == {
            "mover": OVER if reference.terminated else reference.mover,
            "clues": reference.clues,
            "errors": reference.errors,
            "fireworks": reference.fireworks,
            "discards": Counter(reference.discards),
            "deck": reference.deck.total(),
            "score": reference.score(),
            "rewards": [self.reward] * self.seats,
        }
        assert game["unseen"][: len(self.kinds)] == list(reference.deck.values())
        assert self.hands(game) == reference.hands
        moves = self.spellings[reference.turn]
        assert [moves[action] for action in legal] == reference.moves()

    def public(self, game: Game) -> Game:
        """The engine's record in the words of the reference."""
        discards = zip(self.kinds, game["discards"], strict=False)
        return {name: game[name] for name in ("mover", "clues", "errors", "deck", "score")} | {
            "fireworks": game["fireworks"][: self.shape[0]],
            "discards": {kind: copies for kind, copies in discards if copies},
            "rewards": game["rewards"][: self.seats],
        }

    def hands(self, game: Game) -> list[list[Card]]:
        sides = zip(game["hand"], game["possible"], game["named"], strict=True)
        return [
            [known(*slot, *self.shape) for slot in zip(*side, strict=True) if slot[0] != NONE]
            for side in islice(sides, self.seats)
        ]

    def play(self, action: int) -> None:
        reference, before = self.reference, self.reference.score()
        move = self.spellings[reference.turn][action]
        MET.update(events(reference, move))
        reference.play(move)
        self.reward = reference.score() - before
        if reference.terminated:
            MET.update(endings(reference))


# --- One spelling for the two


def spelled(variant: Variant, mover: int) -> list[Move]:
    """What the reference calls each action of a mover."""
    moves = []
    for move in variant.actions.moves:
        seat, rank = (mover + move.offset) % variant.seats, move.trait - variant.rule_set.suits + 1
        if move.kind != CLUE:
            moves.append(("discard" if move.kind == DISCARD else "play", move.slot))
        else:
            moves.append(("rank", seat, rank) if rank > 0 else ("colour", seat, move.trait))
    return moves


@cache
def kinds(suits: int, ranks: int) -> list[Kind]:
    return [(suit, rank + 1) for suit in range(suits) for rank in range(ranks)]


@cache
def known(card: int, possible: int, named: int, suits: int, ranks: int) -> Card:
    """A card and what its owner knows; any suit that it may have goes with any rank."""
    cards = kinds(suits, ranks)
    may_be = {kind for i, kind in enumerate(cards) if possible >> i & 1}
    of_suits, of_ranks = {suit for suit, _ in may_be}, {rank for _, rank in may_be}
    assert len(may_be) == len(of_suits) * len(of_ranks)
    told = [i for i in range(suits + ranks) if named >> i & 1]
    suit = next((i for i in told if i < suits), None)
    rank = next((i - suits + 1 for i in told if i >= suits), None)
    return Card(cards[card], of_suits, of_ranks, suit, rank)


# --- What was met


def events(reference: Reference, move: Move) -> Iterator[str]:
    """In a move that is about to be made."""
    if move[0] in ("colour", "rank"):
        shown = [card.kind[move[0] == "rank"] for card in reference.hands[move[1]]]
        if move[2] not in shown:
            yield "clue that touches no card"


def endings(reference: Reference) -> Iterator[str]:
    if reference.lost():
        yield "strike-out" if reference.last_turns is None else "strike-out in the final round"
    if sum(reference.fireworks) == len(reference.suits) * len(reference.ranks):
        yield "all points"
    if reference.cards.total() == reference.players * reference.hand_size:
        yield "no deck"
