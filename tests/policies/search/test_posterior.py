"""Weighted worlds are what a seat should believe of players whose policy it knows."""

from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from hanamikoji_positions import HanamikojiHistories
from numpy.typing import NDArray
from positions import Node, batch, masked, observed
from posteriors import redealt, rejected, worlds
from samples import UNCOMPILED, sample
from scipy.stats import norm
from small_games import GIFTS

from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji.rules import RECORD
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.posterior import RANDOM_SHARE, posterior, resampled

SMALL = make_variant("hanamikoji", **GIFTS, starter=0)
SETS = max(4, sample(1000, share=0.01))
FIELDS = [name for name in RECORD.names if name != "rng"]


class Moody(Policy):
    """Some actions are far more likely than others, which ones depends on all that is seen."""

    name = "moody"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        shape = variant.observation.size, variant.actions.size
        self.mood = np.random.default_rng(0).normal(size=shape)

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        likes = mask * np.exp(2 * np.sin(observation @ self.mood))
        return (likes / likes.sum(1, keepdims=True)).astype(np.float32), None, memory


class PlayedHistories(HanamikojiHistories):
    """A node is as likely as chance and the policy of both players make it."""

    policy = Moody(SMALL)

    def children(self, node: Node) -> list[Node]:
        after = super().children(node)
        if node.game.mover < 0:
            return after
        game = batch(self.variant, [node])
        seen = observed(self.variant, game, game["mover"].astype(np.int64))
        likely = self.policy.distribution(seen, masked(self.variant, game), np.zeros((1, 0)))[0]
        chances = likely[0, np.flatnonzero(masked(self.variant, game)[0])].tolist()
        return [
            child._replace(chance=child.chance * p) for child, p in zip(after, chances, strict=True)
        ]


@cache
def information_sets() -> list[list[Node]]:
    """Nodes that the mover cannot tell apart, several each, after the other has decided."""
    found: dict[tuple, list[Node]] = defaultdict(list)
    for node in PlayedHistories(SMALL).walk():
        if node.game.mover >= 0 and node.game.used_in[1 - node.game.mover].any():
            found[int(node.game.mover), node.views[node.game.mover]].append(node)
    several = [nodes for nodes in found.values() if len(nodes) > 2]
    chosen = np.random.default_rng(0).permutation(len(several))[:SETS]
    return [several[i] for i in chosen]


def p_values(weighted: bool) -> list[float]:
    """Whether the worlds of each set have the shares that the posterior gives them."""
    found = []
    for seed, nodes in enumerate(information_sets()):
        games = redealt(SMALL, nodes[0], seed)
        seat = int(nodes[0].game.mover)
        equal = np.full(len(games), 1 / len(games))
        policy = PlayedHistories.policy
        shares = posterior(policy, games, seat, random_share=0) if weighted else equal
        found += share_by_share(nodes, games, shares)
    return found


def share_by_share(
    nodes: list[Node], games: NDArray[np.void], shares: NDArray[np.float64]
) -> list[float]:
    """A normal test of every share that is not too rare (of a weighted mean, by its variance)."""
    total = sum(node.chance for node in nodes)
    every = worlds(games, FIELDS)
    code = {world: i for i, world in enumerate(every)}  # of a world: the last that is it
    drawn = np.array([code[world] for world in every])
    found = []
    for node, world in zip(nodes, worlds(batch(SMALL, nodes), FIELDS), strict=True):
        likely = node.chance / total
        if likely > 0.02:
            is_it = drawn == code.get(world, -1)
            deviation = np.sqrt((np.square(shares) * np.square(is_it - likely)).sum())
            found.append(2 * norm.sf(abs(shares @ is_it - likely) / max(deviation, 1e-12)))
    return found


@pytest.mark.skipif(UNCOMPILED, reason="every history of a round is walked")
def test_weighted_worlds_come_as_often_as_the_opponents_policy_says() -> None:
    found = p_values(weighted=True)
    assert len(found) > 2 * SETS
    assert rejected(found) == 0


@pytest.mark.skipif(UNCOMPILED, reason="every history of a round is walked")
def test_worlds_without_weights_fail_the_same_test() -> None:
    assert rejected(p_values(weighted=False)) > SETS


def later_worlds(id: str) -> tuple[NDArray[np.void], int]:
    """Worlds of a game some decisions after its beginning."""
    variant = make_variant(id)
    node = HanamikojiHistories(variant).random_positions(8, seed=3)[7]
    return redealt(variant, node, 0)[:40], int(node.game.mover)


def test_a_policy_that_is_certain_rules_nothing_out() -> None:
    games, seat = later_worlds("hanamikoji")
    shares = posterior(load_policy("greedy", game="hanamikoji"), games, seat, RANDOM_SHARE)
    assert (shares > 0).all()
    assert shares.sum() == pytest.approx(1)
    assert shares.max() > shares.min()


def test_before_anybody_else_has_decided_all_worlds_count_the_same() -> None:
    node = HanamikojiHistories(SMALL).random_positions(1, seed=0)[0]
    games, seat = redealt(SMALL, node, 0), int(node.game.mover)
    shares = posterior(PlayedHistories.policy, games, seat, RANDOM_SHARE)
    assert shares == pytest.approx(1 / len(shares))


def test_worlds_are_drawn_again_as_often_as_is_due() -> None:
    shares = np.array([0.05, 0.5, 0.0, 0.45])
    drawn = np.bincount(resampled(shares, 1000, np.random.default_rng(0)), minlength=4)
    assert abs(drawn - 1000 * shares).max() <= 1


def test_a_world_that_is_due_less_than_once_comes_by_chance() -> None:
    rng, shares = np.random.default_rng(0), np.array([0.25, 0.75])
    drawn = [resampled(shares, 1, rng).item() for _ in range(2_000)]
    assert np.mean(drawn) == pytest.approx(0.75, abs=0.04)  # four standard errors


def test_a_world_of_weight_0_is_never_drawn() -> None:
    class Least(np.random.Generator):
        def random(self) -> float:  # type: ignore[override]
            return 0.0

    rng = Least(np.random.PCG64(0))
    assert resampled(np.array([0.0, 1.0, 0.0]), 4, rng).tolist() == [1, 1, 1, 1]
