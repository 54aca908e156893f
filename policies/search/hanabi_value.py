"""The points that a policy still makes in a game of Hanabi, estimated from a view of all hands.

The policy plays games with itself. For each minimum number of turns left, a linear regression
predicts the points still to come from a few counts of cards and tokens. So a search need not play
its worlds to the end: what it leaves out is mostly luck, which is the same for every action.

Notation: B games, F features.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.arrays import Float64s
from hanamachi.engine.bit_sets import count
from hanamachi.engine.compiled import inline, kernel
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.hanabi_from_observation import (
    critical,
    everything,
    next_cards,
    pace,
    trash,
)
from hanamachi.policies.sampling import sample
from hanamachi.sessions.players import SeatedPlayer, in_progress, step, turns_of

GAMES = 1000  # played to fit the regression
FEATURES = 12
RIDGE = 1.0  # keeps weights small in phases that few games reach

Games = NDArray[Any]  # (B,) of Hanabi's records


class RemainingPoints:
    """Estimates the points still to come; the regression is fitted once, at `fit` or later."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __call__(self, games: Games) -> Float64s:
        """The points still to come, (B,); 0 where a game is over."""
        points = (self._features(games) * self._weights[phases(games)]).sum(1)
        return np.where(games["mover"] >= 0, points, 0)

    def fit(self) -> None:
        """Fit the regression, unless it is."""
        _ = self._weights

    @cached_property
    def _weights(self) -> Float64s:
        """The weight of each feature in each phase."""
        then, ended = played(self.policy, np.arange(GAMES, dtype=np.uint64))
        features, phase = self._features(then), phases(then)
        weights = np.zeros((phase.max() + 1, FEATURES))
        for now in np.unique(phase):
            rows = features[phase == now]
            square = rows.T @ rows + RIDGE * np.eye(FEATURES)
            weights[now] = np.linalg.solve(square, rows.T @ (ended - then["score"])[phase == now])
        return weights

    def _features(self, games: Games) -> Float64s:
        features = np.empty((len(games), FEATURES))
        write_features(self.policy.variant.rule_set, games, features)
        return features


def played(policy: Policy, seeds: NDArray[np.uint64]) -> tuple[Games, Float64s]:
    """All positions, (B,), of games that a policy plays with itself, and their final scores."""
    variant, rng = policy.variant, np.random.default_rng(0)
    games, player = variant.new(seeds), SeatedPlayer(policy, variant, len(seeds))
    kernels.reset(variant.rule_set, games)
    positions, numbers = [], []
    while (going := in_progress(games)).size:
        turns = turns_of(variant, games, going)
        positions.append(turns.games)
        numbers.append(going)
        chances, _ = player.distribution(turns)
        step(variant, games, going, sample(chances, rng.random(len(going))))
    return np.concatenate(positions), games["score"][np.concatenate(numbers)].astype(np.float64)


def phases(games: Games) -> NDArray[np.int64]:
    """The minimum number of turns that each game still lasts, unless it ends early, (B,)."""
    return games["deck"].astype(np.int64) + games["turns_left"]


@kernel
def write_features(rule_set: np.record, games: Games, features: Float64s) -> None:
    for b in range(len(games)):
        game = games[b]
        playable = next_cards(rule_set, game.fireworks)
        last_copies = critical(rule_set, game)
        useful = everything(rule_set) & ~trash(rule_set, game)
        held, clued = cards_in_hands(rule_set, game)
        row = (
            1,
            np.int64(game.clues),
            np.int64(game.errors),
            np.int64(game.errors == rule_set.max_errors - 1),
            np.int64(pace(rule_set, game)),
            count(useful),
            count(last_copies),
            count(held & useful),
            count(held & last_copies),
            count(held & playable),
            count(clued & useful),
            count(clued & playable),
        )
        for i in range(FEATURES):
            features[b, i] = row[i]


@inline
def cards_in_hands(rule_set: np.record, game: np.record) -> tuple[int, int]:
    """The set of cards in all hands, and the set of those that a clue has touched."""
    held = clued = 0
    for seat in range(rule_set.seats):
        for slot in range(game.held[seat]):
            card = 1 << int(game.hand[seat, slot])
            held |= card
            clued |= card * (game.named[seat, slot] != 0)
    return held, clued
