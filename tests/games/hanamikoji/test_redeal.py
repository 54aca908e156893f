"""`redeal` draws from the exact posterior, which small versions allow to be written down."""

from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from hanamikoji_positions import HanamikojiHistories, spelled
from numpy.typing import NDArray
from positions import Node, View, batch
from posteriors import DRAWS, p_value, redealt, rejected, worlds
from samples import UNCOMPILED, WHOLE

from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji.rules import NONE, RECORD
from hanamachi.games.registry import variant

pytestmark = pytest.mark.uncompiled

SMALL = [
    variant("hanamikoji", cards=cards, actions=actions, max_rounds=1, starter=0)
    for cards, actions in (
        ((2, 3, 4), ("secret", "gift")),
        ((2, 2, 2, 1), ("secret", "trade_off")),
        ((5, 5), ("secret", "competition")),
        ((6, 6), ("trade_off", "competition")),
        ((5, 5), ("trade_off", "gift")),
    )
]
WALKED = SMALL[2::2] if UNCOMPILED else SMALL if WHOLE else SMALL[2:]  # each with all actions
OF_EACH_STAGE = 8  # information sets
EVERY = 20 if UNCOMPILED else 1  # one information set of so many is drawn from

ALL_FIELDS = [name for name in RECORD.names if name != "rng"]
PLACES = ["hand", "secret", "trade_off", "unseen"]  # where cards lie now, not how they came there

InformationSet = tuple[Variant, list[Node]]  # the nodes that a seat cannot tell apart


@cache
def information_sets() -> list[InformationSet]:
    """Some of every stage of every small version, each with several worlds."""
    rng = np.random.default_rng(0)
    chosen = []
    for small in WALKED:
        stages: dict[tuple, list[InformationSet]] = defaultdict(list)
        for nodes in all_information_sets(small):
            if len(posterior(nodes, PLACES)) > 1:
                stages[stage(nodes[0].game)].append((small, nodes))
        for found in stages.values():
            picked = rng.permutation(len(found))[:OF_EACH_STAGE]
            chosen += [found[i] for i in picked]
    return chosen


def all_information_sets(small: Variant) -> list[list[Node]]:
    sets: dict[tuple[int, View], list[Node]] = defaultdict(list)
    for node in HanamikojiHistories(small).walk():
        if node.game.mover >= 0:
            sets[int(node.game.mover), node.views[node.game.mover]].append(node)
    return list(sets.values())


def stage(game: np.record) -> tuple:
    """What is to be decided, and what the other player has done so far."""
    return int(game.phase), tuple(game.used_in[1 - game.mover].tolist())


def posterior(nodes: list[Node], fields: list[str]) -> dict[bytes, float]:
    """How likely each world is under chance alone."""
    total = sum(node.chance for node in nodes)
    likely: dict[bytes, float] = defaultdict(float)
    for node, world in zip(nodes, worlds(batch(SMALL[0], nodes), fields), strict=True):
        likely[world] += node.chance / total
    return likely


# --- A sampler that is wrong


def naive(small: Variant, node: Node, seed: int) -> NDArray[np.void]:
    """Unseen cards at random in the other's hidden places, as if no choice had been made there."""
    rng = np.random.default_rng(seed)
    games, foe = batch(small, [node] * DRAWS), 1 - int(node.game.mover)
    hidden = [games["hand"][:, foe], games["trade_off"][:, foe], games["unseen"]]
    kept = [node.game.secret[foe]] if node.game.secret[foe] != NONE else []
    pool = [g for counts in hidden for g in spelled(counts[0])] + kept
    shuffled = rng.permuted(np.tile(np.array(pool), (DRAWS, 1)), axis=1)
    for counts in hidden:
        share, shuffled = np.split(shuffled, [counts[0].sum()], axis=1)
        counts[:] = (share[:, :, None] == np.arange(7)).sum(1)
    if kept:
        games["secret"][:, foe] = shuffled[:, 0]
    return games


# --- The test


@pytest.mark.parametrize("fields", [ALL_FIELDS, PLACES], ids=["histories", "places"])
def test_worlds_come_as_often_as_the_posterior_says(fields: list[str]) -> None:
    p_values = [
        p_value(worlds(redealt(small, nodes[0], seed), fields), posterior(nodes, fields))
        for seed, (small, nodes) in enumerate(information_sets()[::EVERY])
    ]
    assert len(p_values) >= 50 / EVERY
    assert rejected(p_values) == 0


def test_a_sampler_that_ignores_how_cards_were_chosen_fails_the_same_test() -> None:
    p_values = [
        p_value(worlds(naive(small, nodes[0], seed), PLACES), posterior(nodes, PLACES))
        for seed, (small, nodes) in enumerate(information_sets())
    ]
    assert rejected(p_values) > 5


@pytest.mark.skipif(UNCOMPILED, reason="few versions are walked")
@pytest.mark.parametrize("answer", ["gift_taken", "pair_taken"])
def test_the_sample_holds_positions_after_an_answer(answer: str) -> None:
    answered = [
        nodes
        for _, nodes in information_sets()
        if nodes[0].game[answer][1 - nodes[0].game.mover] != NONE
    ]
    assert len(answered) >= 5


def test_worlds_do_not_depend_on_what_is_hidden() -> None:
    """Whichever node of an information set is the true one, the same seeds deal the same worlds."""
    for small, nodes in information_sets()[::EVERY]:
        first, last = (
            worlds(redealt(small, node, 0), ALL_FIELDS) for node in (nodes[0], nodes[-1])
        )
        assert first == last
