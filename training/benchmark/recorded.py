"""Recorded decisions of policies with some skill, and a kernel that replays them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.action_masks import nth_legal
from hanamachi.engine.compiled import kernel
from hanamachi.engine.contract import OVER, apply, legal, observe, start
from hanamachi.engine.kernels import settle
from hanamachi.policies import load_policy
from hanamachi.sessions.opponent_protocol import RandomPlay
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

NOISE = 0.1  # share of random decisions in the greedy policy's games


def recorded(games: SelfPlayVecEnv, length: int) -> NDArray[np.int64]:
    """Decisions of every row, (length, B): random games and noisy greedy games in turn."""
    variant, batch, random = games.variant, games.num_envs, RandomPlay()
    greedy = load_policy("greedy", variant)
    memory, rng = greedy.initial_memory(batch), np.random.default_rng(0)
    at_random = np.arange(batch) % 2 == 0
    actions = np.zeros((length, batch), np.int64)
    games.restart()
    for t in range(length):
        view = games.observations, games.masks, memory, rng
        by_chance = at_random | (rng.random(batch) < NOISE)
        actions[t] = np.where(by_chance, random.act(*view)[0], greedy.act(*view)[0])
        games.advance(actions[t])
        at_random ^= games.terminated
    return actions


@kernel
def replay(
    rule_set: Any,
    games: NDArray[Any],
    actions: NDArray[np.int64],
    observations: NDArray[Any],
    masks: NDArray[np.int8],
) -> None:
    """Make the given decisions, (B, T), and write the observation and mask of each.

    Forced moves are made in between; a row starts a new game when one ends.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        game, t = games[b], 0
        while t < actions.shape[1]:
            if game.mover == OVER:
                start(rule_set, game)
                settle(rule_set, game, weights)
            if legal(rule_set, game, masks[b]) > 1:
                observe(rule_set, game, game.mover, observations[b])
                apply(rule_set, game, actions[b, t])
                t += 1
            else:
                apply(rule_set, game, nth_legal(masks[b], 0))
            settle(rule_set, game, weights)
