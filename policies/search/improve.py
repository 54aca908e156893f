"""Improve: the blueprint's best actions are tried out in worlds that the seat may be in.

The worlds come as often as they should if the others play the blueprint (`reach.py`). After each
action the blueprint plays all seats to the end of the round, or of the game where it cannot say
what the next round is worth, in the same worlds and with the same luck for every action; one that
is clearly worse is dropped early. What is played is one step of policy improvement, pi' ~ pi
exp(eta Q), as in Sokota et al. (arXiv 2304.13138) without a magnet; eta grows with the worlds that
Q is known from. If the blueprint does not mix, the step is so long that the best action is played.

Notation: K worlds, J actions tried, A actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.policy import Policy, best
from hanamachi.policies.search.budget import at_least_one
from hanamachi.policies.search.playout import behind, play_out
from hanamachi.policies.search.reach import resampled, weights
from hanamachi.policies.search.search import Decision, Search

# worlds played side by side, MANY where a batch is cheap, as in networks, and still takes less than
# a tenth of a second
FEW, MANY = 8, 16
OFFERED = 3  # worlds that each of them is drawn from, by how likely they are
CLEARLY = 2.0  # standard errors by which an action is worse that is dropped
TRUST = 0.5  # eta is the number of worlds over this
LEAST = 1e-3  # probability that an action is given which the blueprint rules out

Results = NDArray[np.float64]  # (K, J) what each action brings in each world


class Improve(Search):
    """Tries the `top` actions of its blueprint in each world of its budget."""

    kind = "improve"

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        top: int = 8,
        **common: Any,
    ) -> None:
        super().__init__(variant, blueprint, **common)
        self.top = at_least_one(top, "top")

    def search(self, decision: Decision) -> NDArray[np.floating[Any]]:
        liking, is_stochastic = self._liking(decision), self._start.is_stochastic
        tried = np.argsort(-liking, kind="stable")[: min(self.top, len(decision.actions))]
        results = np.empty((0, len(tried)))
        for count in self.budget.portions(MANY if is_stochastic else FEW):
            results = np.concatenate((results, self._results(decision, tried, count)))
            lag, error = behind(results)
            left = lag <= CLEARLY * error
            tried, results = tried[left], results[:, left]
            if len(tried) == 1:
                break
        values = np.full_like(liking, -np.inf)
        values[tried] = results.mean(0)
        if not is_stochastic:
            return best(values[None])[0]
        return softmax(liking + len(results) / TRUST * values)

    def _liking(self, decision: Decision) -> NDArray[np.float32]:
        """What the blueprint thinks of each action, (A,); -inf where it is illegal."""
        liking = self._preference(decision, decision.memory)
        unlikely = np.isneginf(liking) & (decision.mask == 1)
        return np.where(unlikely, np.float32(np.log(LEAST)), liking)

    def _results(self, decision: Decision, tried: NDArray[np.int64], count: int) -> Results:
        """What each action brings the seat in each of so many new worlds."""
        worlds = self._likely_worlds(decision, count)
        games, actions = np.repeat(worlds, len(tried)), np.tile(tried, count)
        judge = self._start
        earned = play_out(
            judge, games, actions, decision.rng, value_policy=judge, same_luck=len(tried)
        )
        return earned[:, worlds["mover"][0]].reshape(count, len(tried))

    def _likely_worlds(self, decision: Decision, count: int) -> NDArray[Any]:
        """Worlds, (count,), drawn by what the others have done in this round."""
        offered = decision.sample(OFFERED * count)
        likely = weights(self._start, offered, int(offered["mover"][0]))
        worlds = offered[resampled(likely, count, decision.rng)]
        # one that comes twice goes on in two ways
        worlds["rng"] = self.variant.new(decision.seeds(count))["rng"]
        return worlds


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()
