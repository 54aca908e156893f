"""What actions earn by the judgement of a search: the value of each, or how much one loses.

The search knows what the seat knew. All actions that are compared are played out in the same
worlds. Regret is how much less an action earns than the best one. The best one of each half of the
worlds is measured in the other half, as chance favours it where it is chosen. It need not be the
best one of all: regret is a little underestimated on average, less in more worlds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.policies.search.hanabi_single_agent import SingleAgent
from hanamachi.policies.search.improve import Improve
from hanamachi.policies.search.search import Decision
from hanamachi.sessions.players import SeatedPlayer, Turns

FEWEST = 2  # worlds in which actions are compared: one chooses the best, which the other measures
CLEAR = 2.0  # a regret is clear if it is larger than this many standard errors


class Regret(NamedTuple):
    """How much less an action earns than the best one, in what the seat earns."""

    mean: float  # on average at most the true one; by chance it may be below 0
    error: float  # standard error of the mean
    best: int  # the action that earns most in all worlds

    @property
    def clear(self) -> float:
        """The mean, or 0 if it may be chance."""
        return self.mean if self.mean > CLEAR * self.error else 0.0


def regret(player: SeatedPlayer[Any], turn: Turns, action: int, worlds: int) -> Regret:
    """The regret of an action of one turn; `player` searches, and remembers the decision.

    What the seat earns is from -1 to 1 in competitive games, and in points in cooperative ones.
    `worlds` must be at least FEWEST: in fewer, there is no other half.
    """
    with asked(player, turn) as (search, decision):
        actions = np.union1d(search.tried(decision), [action])
        if len(actions) == 1:
            search.results(decision, actions, 1)  # for the memory, which may need it
            return Regret(0.0, 0.0, action)
        return regret_in(search.results(decision, actions, worlds), actions, action)


def regret_in(results: NDArray[np.float64], actions: NDArray[np.int64], action: int) -> Regret:
    """The regret of one of `actions`, (J,), by their results in each world, (K, J)."""
    gaps = (best_of_other_half(results)[:, None] - results)[:, actions == action]
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return Regret(float(gaps.mean()), float(error), int(actions[results.mean(0).argmax()]))


def best_of_other_half(results: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the action that is best in the other half of the worlds brings in each, (K,).

    `results` (K, J) are of the same worlds for every action.
    """
    one, other = np.array_split(results, 2)
    return np.concatenate([one[:, other.mean(0).argmax()], other[:, one.mean(0).argmax()]])


def action_values(player: SeatedPlayer[Any], turn: Turns, worlds: int) -> NDArray[np.float32]:
    """What the seat earns from one turn on by each legal action, (A,).

    `player` searches, and remembers the decision. Where an action is illegal, or the only one, the
    value is NaN.
    """
    values = np.full(turn.masks.shape[1], np.nan, np.float32)
    with asked(player, turn) as (search, decision):
        if len(decision.actions) > 1:
            values[decision.actions] = search.results(decision, decision.actions, worlds).mean(0)
        else:  # for the memory, which may need it
            search.results(decision, decision.actions, 1)
    return values


@contextmanager
def asked(
    player: SeatedPlayer[Any], turn: Turns
) -> Iterator[tuple[Improve | SingleAgent, Decision]]:
    """The search of a player and its decision at one turn, which it remembers unless that fails."""
    place = turn.rows, turn.seats
    search = player.policy.with_worlds(turn.worlds())
    decision, after = search.decision(turn.observations, turn.masks, player.memory[place])
    yield search, decision
    player.memory[place] = after
