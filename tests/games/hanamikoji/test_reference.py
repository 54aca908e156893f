"""The engine and a second implementation, led through the same games, agree at every step."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hanamikoji_positions import HanamikojiHistories, spelled
from numpy.typing import NDArray
from positions import legal, outcomes
from reference_hanamikoji import CARDS, Reference
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji.rules import (
    ACTIONS,
    ANSWER_COMPETITION,
    ANSWER_GIFT,
    COMPETITION,
    NONE,
    TAKE_CARD,
    TAKE_PAIR,
)
from hanamachi.games.registry import variant as make_variant

SMALLER_DECKS = ((2, 3, 4), (1, 1, 2, 2, 4), (5, 5, 2, 2), (1, 2, 2, 3, 3, 4, 5), (10, 11), (21,))
SUBSETS = [used for n in (1, 2, 3, 4) for used in combinations(ACTIONS, n)]
BATCH = 256


def option_sets() -> list[dict[str, Any]]:
    """The standard rules in all their forms, then each set of actions with decks that allow it."""
    standard = [
        {"starter": starter, "max_rounds": rounds, "limit_rule": rule}
        for starter in ("random", 0, 1)
        for rounds in (None, 1, 3)
        for rule in ("geisha_then_charm", "charm")
    ]
    small = []
    for i, actions in enumerate(SUBSETS):
        used = 2 * sum(1 + ACTIONS.index(action) for action in actions)
        decks = [cards for cards in (*SMALLER_DECKS, CARDS) if sum(cards) >= used]
        for cards in (decks[0], decks[i % len(decks)], decks[-1]):
            small.append({"cards": cards, "actions": actions, "max_rounds": 1 + i % 3})
    return standard + small


OPTION_SETS = option_sets()
GAMES = sample(1_000_000, 0.004) // len(OPTION_SETS) + 1


@pytest.mark.parametrize("options", OPTION_SETS, ids=lambda o: "-".join(map(str, o.values())))
def test_engine_and_reference_play_the_same_game(options: dict[str, Any]) -> None:
    variant = make_variant("hanamikoji", **options)
    for first in range(0, GAMES, BATCH):
        compare(variant, np.arange(first, min(first + BATCH, GAMES), dtype=np.uint64))


def compare(variant: Variant, seeds: NDArray[np.uint64]) -> None:
    """Random games, one for each seed, in both engines."""
    rng = np.random.default_rng(seeds)
    games = variant.new(seeds)
    kernels.reset(variant.rule_set, games)
    references = begun(variant, games)
    names = move_names(variant)
    while len(games):
        masks = np.zeros((len(games), variant.actions.size), np.int8)
        kernels.masks(variant.rule_set, games, masks)
        for reference, state, mask in zip(references, engine_states(games), masks, strict=True):
            feed(reference, state)
            assert reference_state(reference) == shared(state, variant.rule_set.geisha)
            legal = np.flatnonzero(mask).tolist()
            assert reference.moves() == [named(names[a], reference) for a in legal]
        on = games["mover"] != OVER
        games, references = games[on], [r for r in references if not r.terminated]
        actions = HanamikojiHistories(variant).random_actions(masks[on], rng)
        for reference, action in zip(references, actions.tolist(), strict=True):
            reference.play(named(names[action], reference))
        kernels.step(variant.rule_set, games, actions)


def begun(variant: Variant, games: NDArray[Any]) -> list[Reference]:
    options = {k: v for k, v in variant.options.items() if k not in ("starter", "fifth_suit")}
    references = [Reference(**options) for _ in games]
    for reference, starter in zip(references, games["starter"].tolist(), strict=True):
        reference.begin(starter)
    return references


def feed(reference: Reference, state: dict[str, Any]) -> None:
    """Give the reference the cards that came off the engine's pile: a round's deal, a draw."""
    if len(reference.draws) > 1:
        for seat in (reference.starter, 1 - reference.starter):
            for card in spelled(state["dealt"][seat]):
                reference.card(card)
    if reference.needs_card():
        reference.card(state["drawn"][reference.turn][len(reference.used[reference.turn])])


# --- One spelling for the two


def move_names(variant: Variant) -> list[tuple]:
    """What the reference calls each action."""
    names = []
    for move in variant.actions.moves:
        if move.kind == TAKE_PAIR:
            names.append(("take pair", move.pair))
        elif move.kind == COMPETITION:
            names.append(("competition", (move.cards, move.second)))
        else:
            name = "take" if move.kind == TAKE_CARD else ACTIONS[move.kind]
            names.append((name, move.cards if len(move.cards) > 1 else move.cards[0]))
    return names


def named(name: tuple, reference: Reference) -> tuple:
    """The reference takes the cards of a pair, the engine the first or the second."""
    return ("take", reference.offer[1][name[1]]) if name[0] == "take pair" else name


def engine_states(games: NDArray[Any]) -> list[dict[str, Any]]:
    """Every field of every game, as plain Python."""
    columns = [games[name].tolist() for name in games.dtype.names]
    return [dict(zip(games.dtype.names, row, strict=True)) for row in zip(*columns, strict=True)]


SAME = ("mover", "winner", "round_number", "starter", "used_in", "secret", "rewards")
PER_GEISHA = ("marker", "unseen")
PER_SEAT_AND_GEISHA = ("hand", "table", "trade_off")


def shared(state: dict[str, Any], geisha: int) -> dict[str, Any]:
    """What the reference tells too."""
    told = {name: state[name] for name in SAME}
    told |= {name: state[name][:geisha] for name in PER_GEISHA}
    told |= {name: [side[:geisha] for side in state[name]] for name in PER_SEAT_AND_GEISHA}
    return told | {"offer": open_offer(state)}


def open_offer(state: dict[str, Any]) -> tuple | None:
    if state["phase"] == ANSWER_GIFT:
        return ("gift", tuple(spelled(state["gift"][1 - state["mover"]])))
    if state["phase"] == ANSWER_COMPETITION:
        pairs = state["pairs"][1 - state["mover"]]
        return ("competition", tuple(tuple(spelled(pair)) for pair in pairs))
    return None


def reference_state(reference: Reference) -> dict[str, Any]:
    won = reference.terminated and reference.winner is not None
    return {
        "mover": OVER if reference.terminated else reference.mover,
        "winner": number(reference.winner),
        "round_number": reference.round,
        "starter": reference.starter,
        "used_in": [used_in(reference, seat) for seat in (0, 1)],
        "secret": [number(card) for card in reference.secret],
        "rewards": [1 if seat == reference.winner else -1 if won else 0 for seat in (0, 1)],
        "marker": [number(seat) for seat in reference.markers],
        "unseen": reference.pile,
        "hand": reference.hands,
        "table": reference.table,
        "trade_off": [
            [(cards or ()).count(g) for g in range(len(reference.cards))]
            for cards in reference.trade_off
        ],
        "offer": reference.offer,
    }


def number(it: int | None) -> int:
    return NONE if it is None else it


def used_in(reference: Reference, seat: int) -> list[int]:
    """The own turn of each action; the one that is still to be answered is counted."""
    used = list(reference.used[seat])
    if reference.offer is not None and seat == reference.turn:
        used.append(reference.offer[0])
    return [used.index(action) + 1 if action in used else 0 for action in ACTIONS]


# --- Chance


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_a_card_of_the_pile_and_before_that_either_starter(seed: int) -> None:
    variant = make_variant("hanamikoji:three_rounds")
    rng = np.random.default_rng(seed)
    histories = HanamikojiHistories(variant)
    node = histories.root()
    assert outcomes(variant, node.game) == [(0, 0.5), (1, 0.5)]
    node = histories.resolved(node, *outcomes(variant, node.game)[seed % 2])
    while node.game.mover != OVER:
        if node.game.mover == CHANCE:
            pile = node.game.unseen.tolist()
            expected = [(g, n / sum(pile)) for g, n in enumerate(pile) if n]
            assert dict(outcomes(variant, node.game)) == pytest.approx(dict(expected))
            node = histories.resolved(node, *expected[rng.integers(len(expected))])
        else:
            mask = legal(variant, node.game)[None]
            node = histories.played(node, int(histories.random_actions(mask, rng)[0]))
