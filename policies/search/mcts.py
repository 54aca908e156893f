"""MCTS: information-set Monte Carlo tree search, for two rivals (`tree.py` tells how it works).

Without a blueprint new leaves are played on at random, to the end of the game: 0.1 second is some
ten thousand games. With one, its favourites are tried first, and it plays on from the leaves.
The action that was visited most is played.

Notation: W worlds, S seats, A actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.policy import Policy, best, sample
from hanamachi.policies.search import tree as trees
from hanamachi.policies.search.budget import above_zero
from hanamachi.policies.search.playout import play_out, play_randomly
from hanamachi.policies.search.search import Decision, Search
from hanamachi.sessions.players import observe

PORTION = 64  # worlds that go down together, before their results are known
DEEPEST = 64  # steps into the tree


class Mcts(Search):
    """`explore` is the weight of what is little known; `widen` of how fast nodes get children."""

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
        self.explore = above_zero(explore, "explore")
        self.widen = above_zero(widen, "widen")

    def search(self, decision: Decision) -> NDArray[np.float32]:
        rule_set, liking = self.variant.rule_set, self._liking(decision)
        tree, used = trees.new_tree(PORTION), 1
        for count in self.budget.portions(PORTION):
            if used + count > len(tree):
                tree = np.concatenate((tree, np.zeros_like(tree)))
            worlds = decision.sample(count)
            path = np.empty((count, DEEPEST), np.int32)
            movers = np.empty((count, DEEPEST), np.int8)
            earned = np.empty((count, self.variant.seats))
            used = trees.descend(
                rule_set, worlds, tree, used, self.explore, self.widen, liking, path, movers, earned
            )
            self._play_on(worlds, earned, decision.rng)
            trees.back_up(tree, path, movers, earned)
        return best(trees.visits_below_root(tree, len(decision.mask))[None])[0]

    def _liking(self, decision: Decision) -> NDArray[np.float32]:
        """In which order the actions are tried at the root, (A,); in any without a blueprint."""
        if self.blueprint is None:
            return decision.rng.random(len(decision.mask), np.float32)
        return self._preference(decision, decision.memory)

    def _play_on(
        self, worlds: NDArray[np.void], earned: NDArray[np.float64], rng: np.random.Generator
    ) -> None:
        """To the end of every world, (W,); adds to `earned` (W, S)."""
        if self.blueprint is None:
            earned += play_randomly(self._start, worlds)
            return
        going = np.flatnonzero(worlds["mover"] >= 0)
        games = worlds[going]
        seen = observe(self.variant, games, games["mover"].astype(np.int64))
        chances, *_ = self.blueprint.distribution(*seen, self.initial_memory(len(going)))
        actions = sample(chances, rng.random(len(going)))
        earned[going] += play_out(self.blueprint, games, actions, rng)
