"""MCTS: information-set Monte Carlo tree search for competitive games (`tree.py` explains it).

Without a blueprint, games are played from new leaves to their end at random: some ten thousand
games in 0.1 second. With one, its best actions are tried first, and it plays from the leaves.
The search plays the most visited action.

Notation: W worlds, S seats, A actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import best
from hanamachi.policies.search import tree as trees
from hanamachi.policies.search.budget import above_zero
from hanamachi.policies.search.playout import play_on, random_play_out
from hanamachi.policies.search.search import Decision, Search
from hanamachi.sessions.players import in_progress

PORTION = 64  # worlds that descend before the results of any of them are known
MAX_DEPTH = 64  # of a descent


class Mcts(Search):
    """`explore` weighs little-visited actions; `widen` sets how fast nodes get children."""

    kind = "mcts"
    needs_blueprint = False

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        explore: float = 0.7,
        widen: float = 2.0,
        **common: Any,
    ) -> None:
        super().__init__(variant, blueprint, **common)
        self.growth = trees.Growth(above_zero(explore, "explore"), above_zero(widen, "widen"))

    def search(self, decision: Decision) -> NDArray[np.float32]:
        rule_set, scores = self.variant.rule_set, self._root_scores(decision)
        tree, used = trees.new_tree(PORTION), 1
        for count in self.budget.portions(PORTION):
            if used + count > len(tree):
                tree = np.concatenate((tree, np.zeros_like(tree)))
            worlds = decision.sample(count)
            descents = trees.new_descents(count, MAX_DEPTH, self.variant.seats)
            used = trees.descend(rule_set, worlds, tree, used, self.growth, scores, descents)
            self._finish(worlds, descents.earned, decision.rng)
            trees.back_up(tree, descents)
        return best(trees.visits_below_root(tree, len(decision.mask))[None])[0]

    def _root_scores(self, decision: Decision) -> NDArray[np.float32]:
        """The scores by which actions are tried at the root, (A,); random without a blueprint."""
        if self.blueprint is None:
            return decision.rng.random(len(decision.mask), np.float32)
        return self._blueprint_scores(decision, decision.memory)

    def _finish(
        self, worlds: NDArray[np.void], earned: NDArray[np.float64], rng: np.random.Generator
    ) -> None:
        """Play every world, (W,), to its end; adds the rewards to `earned` (W, S)."""
        if self.blueprint is None:
            earned += random_play_out(self._rollout_policy, worlds)
            return
        going = in_progress(worlds)
        if len(going):  # a policy may not know what to do about none
            earned[going] += play_on(self.blueprint, worlds[going], rng)
