"""Games in progress, and what a policy answers in them when it may imagine worlds."""

import numpy as np

from hanamachi.engine import kernels
from hanamachi.sessions.observations import observe
from hanamachi.sessions.worlds import Worlds


def midgame(variant, decisions, games=4, seed=0):
    """Games after so many decisions of random play, those that are over left out."""
    states = variant.new(np.arange(games, dtype=np.uint64) + np.uint64(seed))
    kernels.reset(variant.rule_set, states)
    rng = np.random.default_rng(seed)
    for _ in range(decisions):
        states = states[states["mover"] >= 0]
        _, masks = observe(variant, states, states["mover"].astype(np.int64))
        actions = np.empty(len(states), np.int64)
        kernels.pick(variant.rule_set, masks, rng.random(len(states)), actions)
        kernels.step(variant.rule_set, states, actions)
    return states[states["mover"] >= 0]


def answers(policy, games):
    """The distribution of a policy in these games, (B, A)."""
    seats = games["mover"].astype(np.int64)
    seen = observe(policy.variant, games, seats)
    at_table = policy.with_worlds(Worlds(policy.variant, games, seats))
    return at_table.distribution(*seen, policy.initial_memory(len(games)))[0]
