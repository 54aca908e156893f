"""Improve: the blueprint's best actions are tried out in worlds that the seat may be in.

After each action the blueprint plays all seats to the end of the game, in the same worlds and with
the same luck for every action; the one that brings most is played. (One step of policy
improvement, as in Sokota et al., arXiv 2304.13138, where the step is so long that it ends at the
best action.)

Notation: K worlds, J actions tried, A actions.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.game import Variant
from hanamachi.policies.policy import Policy, best
from hanamachi.policies.search.budget import Budget, at_least_one
from hanamachi.policies.search.playout import play_out
from hanamachi.policies.search.search import Decision, Search

PORTION = 16  # worlds played side by side


class Improve(Search):
    """Tries the `top` actions of its blueprint in each world of its budget."""

    kind = "improve"

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        worlds: int | None = None,
        seconds: float | None = None,
        top: int = 8,
        seed: int = 0,
    ) -> None:
        super().__init__(variant, blueprint, Budget(worlds, seconds), seed)
        self.top = at_least_one(top, "top")

    def search(self, decision: Decision) -> NDArray[np.float32]:
        tried = self._tried(decision)
        results = [self._results(decision, tried, count) for count in self.budget.portions(PORTION)]
        scores = np.full((1, len(decision.mask)), -np.inf, np.float32)
        scores[0, tried] = np.concatenate(results).mean(0)
        return best(scores)[0]

    def _tried(self, decision: Decision) -> NDArray[np.int64]:
        """The actions that the blueprint likes best, (J,)."""
        assert self.blueprint is not None
        liking = self.blueprint.preference(
            decision.observation[None], decision.mask[None], decision.memory[None]
        )[0]
        order = np.argsort(-liking[decision.actions], kind="stable")
        return decision.actions[order[: self.top]]

    def _results(
        self, decision: Decision, tried: NDArray[np.int64], count: int
    ) -> NDArray[np.float64]:
        """What each action brings the seat in each of so many new worlds, (K, J)."""
        assert self.blueprint is not None
        worlds = decision.sample(count)
        games, actions = np.repeat(worlds, len(tried)), np.tile(tried, count)
        earned = play_out(self.blueprint, games, actions, decision.rng)
        return earned[:, worlds["mover"][0]].reshape(count, len(tried))
