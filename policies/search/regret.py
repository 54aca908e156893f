"""What actions earn by the judgement of a search: the value of each, or how much one loses.

The search knows what the seat knew. All actions that are compared are played out in the same
worlds. Regret is how much less an action earns than the best one.
"""

import numpy as np

from hanamachi.policies.policy import Masks, Memory, Observations, Values
from hanamachi.policies.search.hanabi_single_agent import SingleAgent
from hanamachi.policies.search.improve import Improve
from hanamachi.policies.search.playout import gap_to_best

FEWEST = 2  # worlds in which actions are compared: one alone says nothing about chance
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
    There are at least FEWEST worlds.
    """
    decision, after = search.decision(observation, mask, memory)
    actions = np.union1d(search.tried(decision), [action])
    if len(actions) == 1:
        search.results(decision, actions, 1)  # for the memory, which may need it
        return 0.0, after
    gaps, errors = gap_to_best(search.results(decision, actions, worlds), ddof=1)
    (place,) = np.flatnonzero(actions == action)
    gap, error = float(gaps[place]), float(errors[place])
    return gap if gap > CLEAR * error else 0.0, after


def action_values(
    search: Improve | SingleAgent,
    observation: Observations,
    mask: Masks,
    memory: Memory,
    worlds: int,
) -> tuple[Values, Memory]:
    """What the seat earns from here by each legal action, (A,), and the memory after the decision.

    The decision is a batch of one. Where an action is illegal, or the only one, the value is NaN.
    """
    decision, after = search.decision(observation, mask, memory)
    values = np.full(mask.shape[1], np.nan, np.float32)
    if len(decision.actions) > 1:
        values[decision.actions] = search.results(decision, decision.actions, worlds).mean(0)
    else:  # for the memory, which may need it
        search.results(decision, decision.actions, 1)
    return values, after
