"""Regret: how much less an action earns than the best one, by the judgement of a search.

The search knows what the seat knew. The actions that it would try, and the one taken, are played
out in the same worlds.
"""

import numpy as np

from hanamachi.policies.policy import Masks, Memory, Observations
from hanamachi.policies.search.hanabi_single_agent import SingleAgent
from hanamachi.policies.search.improve import Improve
from hanamachi.policies.search.playout import gap_to_best

CLEAR = 2.0  # a difference counts if it is larger than this many standard errors


def regret(
    search: Improve | SingleAgent,
    observation: Observations,
    mask: Masks,
    memory: Memory,
    action: int,
    worlds: int,
) -> tuple[float, Memory]:
    """The regret of an action of a batch of one, at least 0, and the memory after the decision.

    It is in what the seat earns: from 0 to 2 in competitive games, in points in cooperative ones.
    """
    decision, after = search.decision(observation, mask, memory)
    actions = np.union1d(search.tried(decision), [action])
    results = search.results(decision, actions, worlds if len(actions) > 1 else 1)
    gaps, errors = gap_to_best(results)
    (place,) = np.flatnonzero(actions == action)
    gap, error = float(gaps[place]), float(errors[place])
    return gap if gap > CLEAR * error else 0.0, after
