"""Endgame search solves the end of a round exactly for its worlds, as a plain recursion does."""

from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray
from positions import copied, legal, outcomes
from samples import UNCOMPILED
from searching import answers, midgame

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.search import round_value as round_value_module
from hanamachi.policies.search.endgame import Endgame, RoundTree
from hanamachi.policies.search.playout import play_on
from hanamachi.policies.search.posterior import RANDOM_SHARE, posterior
from hanamachi.policies.search.round_value import RoundValue
from hanamachi.sessions.observations import observe
from hanamachi.sessions.worlds import Worlds

SMALL = {"cards": (2, 3, 4), "actions": ("secret", "gift"), "starter": 0}
ROUND = make_variant("hanamikoji", max_rounds=1, **SMALL)
TWO_ROUNDS = make_variant("hanamikoji", max_rounds=2, **SMALL)
LATE = range(2, 6)  # decisions before those that are solved
WORLDS, MOST = 6, 20_000

Likely = list[tuple[np.record, float]]  # positions, and how likely each is


def imagined(variant: Variant, game: NDArray[np.void]) -> NDArray[np.void]:
    return Worlds(variant, game, game["mover"]).sample(0, np.arange(WORLDS, dtype=np.uint64))


def late_worlds(variant: Variant) -> list[NDArray[np.void]]:
    """Worlds of the mover at some choices of the first round, when it is well under way."""
    games = np.concatenate([midgame(variant, n, games=4, seed=n) for n in LATE])
    masks = observe(variant, games, games["mover"].astype(np.int64))[1]
    games = games[(games["round_number"] == 1) & (masks.sum(1) > 1)]
    return [imagined(variant, games[b : b + 1]) for b in range(len(games))]


class Plain:
    """Expected results by recursion over information sets, position by position."""

    def __init__(self, policy: Policy, root: np.record) -> None:
        self.policy, self.rule_set = policy, policy.variant
        self.seat, self.round = int(root.mover), int(root.round_number)
        self.round_value = RoundValue(policy)

    def by_action(self, positions: Likely) -> dict[int, float]:
        """Of each action in positions that the seat cannot tell apart."""
        actions = np.flatnonzero(legal(self.rule_set, positions[0][0])).tolist()
        return {action: self.after(action, positions) for action in actions}

    def after(self, action: int, positions: Likely) -> float:
        total, sets = 0.0, defaultdict(list)
        for game, likely in positions:
            for then, share in self.on(self.played(game, action), likely):
                if then.mover == OVER or then.round_number != self.round:
                    total += share * self.value(then)
                else:
                    seen = observe(
                        self.rule_set, self.alone(then), self.alone(then)["mover"].astype(int)
                    )
                    sets[seen[0].tobytes()].append((then, share))
        return total + sum(max(self.by_action(nodes).values()) for nodes in sets.values())

    def on(self, game: np.record, likely: float) -> Likely:
        """Where chance and the other seat lead, up to the next decision of the seat."""
        if game.mover in (OVER, self.seat) or game.round_number != self.round:
            return [(game, likely)]
        if game.mover == CHANCE:
            steps = [(self.resolved(game, one), p) for one, p in outcomes(self.rule_set, game)]
        else:
            seen = observe(self.rule_set, self.alone(game), self.alone(game)["mover"].astype(int))
            replies = self.policy.distribution(*seen, self.policy.initial_memory(1))[0][0]
            steps = [(self.played(game, a), replies[a]) for a in np.flatnonzero(replies).tolist()]
        return [found for then, p in steps for found in self.on(then, likely * p)]

    def value(self, game: np.record) -> float:
        if game.mover == OVER:
            return float(game.rewards[self.seat])
        return float(self.round_value(self.alone(game), self.seat)[0])

    def played(self, game: np.record, action: int) -> np.record:
        game = copied(game)
        kernels.apply_one(self.rule_set.rule_set, game, action)
        return game

    def resolved(self, game: np.record, outcome: int) -> np.record:
        game = copied(game)
        kernels.resolve_one(self.rule_set.rule_set, game, outcome)
        return game

    def alone(self, game: np.record) -> NDArray[np.void]:
        return np.array([game], self.rule_set.game.record)


@pytest.mark.skipif(UNCOMPILED, reason="trees are large")
@pytest.mark.parametrize("variant", [ROUND, TWO_ROUNDS], ids=["one round", "two rounds"])
@pytest.mark.parametrize(
    ("name", "random_share"), [("random", RANDOM_SHARE), ("greedy", RANDOM_SHARE), ("greedy", 0.05)]
)
def test_the_value_of_every_action_is_that_of_a_plain_recursion(
    variant: Variant, name: str, random_share: float
) -> None:
    policy = load_policy(name, variant)
    search = Endgame(variant, policy, worlds=WORLDS, positions=MOST, random_share=random_share)
    assert len(late_worlds(variant)) >= 5
    for worlds in late_worlds(variant):
        values = search.tree.values(worlds)
        seat = int(worlds["mover"][0])
        shares = posterior(policy, worlds, seat, random_share)
        likely = list(zip(worlds, shares.tolist(), strict=True))
        expected = Plain(policy, worlds[0]).by_action(likely)
        assert values is not None
        assert np.flatnonzero(np.isfinite(values)).tolist() == list(expected)
        np.testing.assert_allclose(values[list(expected)], list(expected.values()), atol=1e-6)


@pytest.mark.skipif(UNCOMPILED, reason="trees are large")
def test_no_tree_has_more_positions_than_it_may() -> None:
    policy, sizes = load_policy("random", ROUND), []
    for worlds in late_worlds(ROUND):
        for most in (50, 100, 200, 400, 800):
            levels = RoundTree(policy, most, RANDOM_SHARE)._levels(worlds, most)
            if levels is not None:
                sizes.append((sum(len(level.games) for level in levels), most))
    assert len(sizes) > 5
    assert all(size <= most for size, most in sizes)


def test_where_the_tree_is_too_large_the_blueprint_plays() -> None:
    games = midgame(ROUND, 2)
    greedy = load_policy("greedy", ROUND)
    search = load_policy("search:endgame:greedy:worlds=4,positions=5", ROUND)
    np.testing.assert_array_equal(answers(search, games), answers(greedy, games))


def test_every_world_counts_the_same_in_a_large_tree_and_in_a_small_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    games = midgame(ROUND, 0, games=1)
    _, masks = observe(ROUND, games, games["mover"].astype(np.int64))
    one, other = np.flatnonzero(masks[0])[:2]

    def values(tree: RoundTree, worlds: NDArray[np.void]) -> NDArray[np.float64]:
        """64 worlds promise 1 for one action, 32 others promise 1.5 for the other."""
        found = np.zeros(ROUND.actions.size)
        found[one if len(worlds) == 64 else other] = 1 if len(worlds) == 64 else 1.5
        return found

    monkeypatch.setattr(RoundTree, "values", values)
    search = load_policy("search:endgame:greedy:worlds=96", ROUND)
    assert answers(search, games)[0].argmax() == one


def test_the_end_of_a_round_is_played_deterministically() -> None:
    games = midgame(ROUND, 4)
    search = load_policy("search:endgame:random:worlds=4", ROUND)
    chances = answers(search, games)
    assert chances.sum(1) == pytest.approx(1)
    masks = observe(ROUND, games, games["mover"].astype(np.int64))[1]
    assert ((chances > 0).sum(1) < masks.sum(1)).any()


def test_the_value_of_a_round_takes_its_luck_from_no_game_that_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lucks = []

    def played(policy: Policy, games: NDArray[np.void], *how: NDArray[np.uint64]) -> NDArray:
        lucks.append(how[-1].copy())
        earned = play_on(policy, games, *how)
        np.testing.assert_array_equal(how[-1], lucks[-1])
        return earned

    monkeypatch.setattr(round_value_module, "play_on", played)
    starts = TWO_ROUNDS.new(np.arange(2, dtype=np.uint64))
    for start in starts:
        kernels.start_one(TWO_ROUNDS.rule_set, start)
    starts["marker"][1, 0] = 1
    RoundValue(load_policy("greedy", TWO_ROUNDS))(starts, 0)
    np.testing.assert_array_equal(*lucks)


@pytest.mark.parametrize("starter", [0, 1])
@pytest.mark.parametrize("name", ["greedy", "expert"])
def test_the_values_of_a_round_for_the_two_players_sum_to_zero(
    name: str, starter: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_value_module, "DEALS", 500)  # so that chance decides nothing
    variant = make_variant("hanamikoji")
    game = variant.new(np.zeros(1, np.uint64))
    kernels.start_one(variant.rule_set, game[0])
    kernels.resolve_one(variant.rule_set, game[0], starter)
    ahead = game.copy()
    ahead["marker"][0, 5:7] = 1  # nine of the eleven charm that win
    round_value = RoundValue(load_policy(name, game="hanamikoji"))
    for start in (game, ahead):
        assert round_value(start, 0)[0] == pytest.approx(-round_value(start, 1)[0])
    # measured in 20,000 deals, the smallest of these differences is 0.12
    assert round_value(ahead, 1)[0] > round_value(game, 1)[0] + 0.04
