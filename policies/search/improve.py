"""Improve: one step of policy improvement on the blueprint, by playouts from sampled worlds.

Worlds are weighted as if the others play the blueprint (`posterior.py`). After each tried action
the blueprint plays all seats to the end of the round, or of the game if it has no values for the
next round, from empty memories if it has any. Every action gets the same worlds and the same random
numbers, and one that is clearly worse is dropped early. The search plays pi' ~ pi exp(eta Q), as in
Sokota et al. (arXiv 2304.13138) without a magnet; eta grows with the number of worlds. If the
blueprint is deterministic, the search plays the best action.

Notation: K worlds, J actions tried, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import best
from hanamachi.policies.search.budget import at_least_one, share
from hanamachi.policies.search.playout import not_clearly_worse, play_out
from hanamachi.policies.search.posterior import (
    NEEDED_TO_WEIGH,
    RANDOM_SHARE,
    posteriors,
    resampled,
    softmax,
)
from hanamachi.policies.search.search import MANY_GAMES, Decision, Search

# worlds after which clearly worse actions are first dropped, and in one batch at most
FIRST_PORTION, LARGEST_PORTION = 8, 128
CANDIDATES = 3  # worlds sampled for each world that is used, which is drawn by their weights
FEWEST_CANDIDATES = 16  # of a decision: from fewer, unlikely worlds are drawn too often
WORLDS_PER_ETA = 0.5  # eta is the number of worlds divided by this
# assumed of an action that the blueprint rules out, so that it can be tried
MIN_PROBABILITY = 1e-3

ROWS = 4096  # playouts in one batch, at most, of decisions that are searched together

Results = NDArray[np.float64]  # (K, J) what each action brings in each world
Tried = tuple[Decision, NDArray[np.int64]]  # a decision, and the actions tried there, (J,)
T = TypeVar("T")


@dataclass
class Comparison:
    """Actions of a decision that are compared, and what they brought so far."""

    decision: Decision
    scores: NDArray[np.float32]  # (A,) the blueprint's
    actions: NDArray[np.int64]  # (J,) that are not clearly worse
    results: Results

    def add(self, results: Results) -> None:
        """Take in the results in new worlds, and drop the actions that are clearly worse."""
        self.results = np.concatenate((self.results, results))
        kept = not_clearly_worse(self.results)
        self.actions, self.results = self.actions[kept], self.results[:, kept]

    def choice(self, is_stochastic: bool) -> NDArray[np.floating[Any]]:
        """The probabilities to play, (A,): all on the best action unless the blueprint mixes."""
        values = np.full_like(self.scores, -np.inf)
        values[self.actions] = self.results.mean(0)
        if not is_stochastic:
            return best(values[None])[0]
        return softmax(self.scores + len(self.results) / WORLDS_PER_ETA * values)


class Improve(Search):
    """Tries the `top` actions of its blueprint in each world of its budget.

    `random_share` of the others' decisions is assumed to be random: little where they are known to
    play the blueprint, more where they may not.
    """

    kind = "improve"
    needs = NEEDED_TO_WEIGH

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        top: int = 8,
        random_share: float = RANDOM_SHARE,
        **common: Any,
    ) -> None:
        super().__init__(variant, blueprint, **common)
        self.top = at_least_one(top, "top")
        self.random_share = share(random_share, "random_share")

    @property
    def games_at_once(self) -> int:
        """Many, if the budget is in worlds."""
        return MANY_GAMES if self.budget.worlds else super().games_at_once

    def search(self, decision: Decision) -> NDArray[np.floating[Any]]:
        return self._search_together([decision])[0]

    def search_all(self, decisions: Sequence[Decision]) -> list[NDArray[np.floating[Any]]]:
        """As in `Search`; with a budget in worlds, many decisions in each batch of playouts."""
        if self.budget.worlds is None:
            return super().search_all(decisions)
        parts = in_parts(decisions, self.top * min(self.budget.worlds, LARGEST_PORTION))
        return [found for part in parts for found in self._search_together(part)]

    def _search_together(self, decisions: Sequence[Decision]) -> list[NDArray[np.floating[Any]]]:
        compared = [self._begun(decision) for decision in decisions]
        for count in self.budget.growing_portions(FIRST_PORTION, LARGEST_PORTION):
            going = [each for each in compared if len(each.actions) > 1 or not len(each.results)]
            if not going:
                break
            pairs = [(each.decision, each.actions) for each in going]
            for each, results in zip(going, self.results_of_each(pairs, count), strict=True):
                each.add(results)
        return [each.choice(self._rollout_policy.is_stochastic) for each in compared]

    def _begun(self, decision: Decision) -> Comparison:
        scores = self._scores(decision)
        tried = likeliest(scores, decision.mask, self.top)
        return Comparison(decision, scores, tried, np.empty((0, len(tried))))

    def _scores(self, decision: Decision) -> NDArray[np.float32]:
        """The blueprint's score of each action, (A,); -inf where it is illegal."""
        scores = self._blueprint_scores(decision, decision.memory)
        ruled_out = np.isneginf(scores) & (decision.mask == 1)
        return np.where(ruled_out, np.float32(np.log(MIN_PROBABILITY)), scores)

    def tried(self, decision: Decision) -> NDArray[np.int64]:
        """The actions that the blueprint scores highest, (J,)."""
        return likeliest(self._scores(decision), decision.mask, self.top)

    def results(self, decision: Decision, tried: NDArray[np.int64], count: int) -> Results:
        """What each tried action earns the seat in each of `count` new worlds."""
        return self.results_of_each([(decision, tried)], count)[0]

    def results_of_many(self, pairs: Sequence[Tried], count: int) -> list[Results]:
        """As `results_of_each`, in several batches if there are many decisions."""
        parts = in_parts(pairs, self.top * count)
        return [results for part in parts for results in self.results_of_each(part, count)]

    def results_of_each(self, pairs: Sequence[Tried], count: int) -> list[Results]:
        """As `results`, for several decisions and the actions tried there, in one batch."""
        worlds = likely_worlds(
            self._rollout_policy, [decision for decision, _ in pairs], count, self.random_share
        )
        sizes = [len(tried) for _, tried in pairs]
        games = np.concatenate([np.repeat(w, j) for w, j in zip(worlds, sizes, strict=True)])
        actions = np.concatenate([np.tile(tried, count) for _, tried in pairs])
        luck = np.concatenate([np.repeat(decision.seeds(count), len(j)) for decision, j in pairs])
        earned = play_out(
            self._rollout_policy, games, actions, luck, value_policy=self._rollout_policy
        )
        parts = np.split(earned, np.cumsum(sizes)[:-1] * count)
        seats = [int(of_one["mover"][0]) for of_one in worlds]
        each = zip(parts, seats, sizes, strict=True)
        return [part[:, seat].reshape(count, size) for part, seat, size in each]


def in_parts(decisions: Sequence[T], playouts: int) -> list[Sequence[T]]:
    """The decisions in parts that are searched together; one decision takes this many playouts."""
    size = max(1, ROWS // playouts)
    return [decisions[i : i + size] for i in range(0, len(decisions), size)]


def likeliest(scores: NDArray[Any], mask: NDArray[np.int8], count: int) -> NDArray[np.int64]:
    """The legal actions with the highest scores, at most `count`, the highest first, (J,)."""
    order = np.argsort(-np.where(mask, scores, -np.inf), kind="stable")
    return order[: min(count, np.count_nonzero(mask))]


def likely_worlds(
    policy: Policy, decisions: Sequence[Decision], count: int, random_share: float
) -> list[NDArray[Any]]:
    """Worlds of each decision, (count,), resampled by the others' actions in this round.

    The others play `policy`, except for `random_share` of their decisions.
    """
    sampled = max(CANDIDATES * count, FEWEST_CANDIDATES)
    candidates = [decision.sample(sampled) for decision in decisions]
    seats = [int(worlds["mover"][0]) for worlds in candidates]
    shares = posteriors(policy, candidates, seats, random_share)
    found = []
    for decision, worlds, weights in zip(decisions, candidates, shares, strict=True):
        chosen = worlds[resampled(weights, count, decision.rng)]
        # a world that is drawn twice gets different random numbers
        chosen["rng"] = policy.variant.new(decision.seeds(count))["rng"]
        found.append(chosen)
    return found
