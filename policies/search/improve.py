"""Improve: one step of policy improvement on the blueprint, by playouts from sampled worlds.

Worlds are weighted as if the others play the blueprint (`reach.py`). After each tried action the
blueprint plays all seats to the end of the round, or of the game if it has no values for the next
round. Every action gets the same worlds and the same random numbers, and one that is clearly worse
is dropped early. The search plays pi' ~ pi exp(eta Q), as in Sokota et al. (arXiv 2304.13138)
without a magnet; eta grows with the number of worlds. If the blueprint is deterministic, the search
plays the best action.

Notation: K worlds, J actions tried, A actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.policy import Policy, best
from hanamachi.policies.search.budget import at_least_one
from hanamachi.policies.search.playout import gap_to_best, play_out
from hanamachi.policies.search.reach import resampled, weights
from hanamachi.policies.search.search import Decision, Search

# worlds after which clearly worse actions are first dropped, and in one batch at most
FIRST_PORTION, LARGEST_PORTION = 8, 128
CANDIDATES = 3  # worlds sampled for each world that is used, which is drawn by their weights
DROP_GAP = 2.0  # an action is dropped if it is worse by more standard errors than this
WORLDS_PER_ETA = 0.5  # eta is the number of worlds divided by this
MIN_PROBABILITY = 1e-3  # of an action that the blueprint rules out

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
        scores, is_stochastic = self._scores(decision), self._start.is_stochastic
        tried = self._best_scored(scores, decision)
        results = np.empty((0, len(tried)))
        for count in self.budget.growing_portions(FIRST_PORTION, LARGEST_PORTION):
            results = np.concatenate((results, self.results(decision, tried, count)))
            gap, error = gap_to_best(results)
            kept = gap <= DROP_GAP * error
            tried, results = tried[kept], results[:, kept]
            if len(tried) == 1:
                break
        values = np.full_like(scores, -np.inf)
        values[tried] = results.mean(0)
        if not is_stochastic:
            return best(values[None])[0]
        return softmax(scores + len(results) / WORLDS_PER_ETA * values)

    def _scores(self, decision: Decision) -> NDArray[np.float32]:
        """The blueprint's score of each action, (A,); -inf where it is illegal."""
        scores = self._blueprint_scores(decision, decision.memory)
        ruled_out = np.isneginf(scores) & (decision.mask == 1)
        return np.where(ruled_out, np.float32(np.log(MIN_PROBABILITY)), scores)

    def tried(self, decision: Decision) -> NDArray[np.int64]:
        """The actions that the blueprint scores highest, (J,)."""
        return self._best_scored(self._scores(decision), decision)

    def _best_scored(self, scores: NDArray[Any], decision: Decision) -> NDArray[np.int64]:
        return np.argsort(-scores, kind="stable")[: min(self.top, len(decision.actions))]

    def results(self, decision: Decision, tried: NDArray[np.int64], count: int) -> Results:
        """What each tried action earns the seat in each of `count` new worlds."""
        worlds = self._likely_worlds(decision, count)
        games, actions = np.repeat(worlds, len(tried)), np.tile(tried, count)
        judge = self._start
        earned = play_out(
            judge, games, actions, decision.rng, value_policy=judge, same_luck=len(tried)
        )
        return earned[:, worlds["mover"][0]].reshape(count, len(tried))

    def _likely_worlds(self, decision: Decision, count: int) -> NDArray[Any]:
        """Worlds, (count,), resampled by the others' actions in this round."""
        candidates = decision.sample(CANDIDATES * count)
        shares = weights(self._start, candidates, int(candidates["mover"][0]))
        worlds = candidates[resampled(shares, count, decision.rng)]
        # a world that is drawn twice gets different random numbers
        worlds["rng"] = self.variant.new(decision.seeds(count))["rng"]
        return worlds


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Probabilities proportional to exp(scores), (A,)."""
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()
