"""What actions earn by the judgement of a search: the value of each, or how much one loses.

The search knows what the seat knew. All actions that are compared are played out in the same
worlds. Regret is how much less an action earns than the best one. The best one of each half of the
worlds is measured in the other half, as chance favours it where it is chosen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.policies.policy import Masks, Memory, Observations
from hanamachi.policies.search.hanabi_single_agent import SingleAgent
from hanamachi.policies.search.improve import Improve

FEWEST = 2  # worlds in which actions are compared: one chooses the best, which the other measures
CLEAR = 2.0  # a regret is clear if it is larger than this many standard errors


class Regret(NamedTuple):
    """How much less an action earns than the best one, in what the seat earns."""

    mean: float  # by chance it may be below 0, so that the sum of many has no bias
    error: float  # standard error of the mean

    @property
    def clear(self) -> float:
        """The mean, or 0 if it may be chance."""
        return self.mean if self.mean > CLEAR * self.error else 0.0


def regret(
    search: Improve | SingleAgent,
    observation: Observations,
    mask: Masks,
    memory: Memory,
    action: int,
    worlds: int,
) -> tuple[Regret, Memory]:
    """The regret of an action of a batch of one, and the memory after the decision.

    What the seat earns is from -1 to 1 in competitive games, and in points in cooperative ones.
    `worlds` must be at least FEWEST: in fewer, there is no other half.
    """
    decision, after = search.decision(observation, mask, memory)
    actions = np.union1d(search.tried(decision), [action])
    if len(actions) == 1:
        search.results(decision, actions, 1)  # for the memory, which may need it
        return Regret(0.0, 0.0), after
    results = search.results(decision, actions, worlds)
    gaps = (best_of_other_half(results)[:, None] - results)[:, actions == action]
    return Regret(float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps)))), after


def best_of_other_half(results: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the action that is best in the other half of the worlds brings in each, (K,).

    `results` (K, J) are of the same worlds for every action.
    """
    one, other = np.array_split(results, 2)
    return np.concatenate([one[:, other.mean(0).argmax()], other[:, one.mean(0).argmax()]])


def action_values(
    search: Improve | SingleAgent,
    observation: Observations,
    mask: Masks,
    memory: Memory,
    worlds: int,
) -> tuple[NDArray[np.float32], Memory]:
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
