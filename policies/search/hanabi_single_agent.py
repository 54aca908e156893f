"""Single-agent search for Hanabi: one player looks ahead, and all others play the blueprint.

The player keeps a belief over its own hand (`hanabi_belief.py`), from the clues and the others'
actions. After each tried action the blueprint plays all seats, from hands of the belief and with
the same random numbers for every action; after some turns `hanabi_value.py` estimates the points
still to come. An action that is clearly worse, or brings the same in every world, is dropped early.
The blueprint's own action stays until there are many worlds, and is played unless another one is
clearly better (after SPARTA: Lerer, Hu, Foerster and Brown 2020).

Notation: K worlds, J actions.
"""

from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.engine.kernels import is_valid
from hanamachi.engine.random_numbers import scatter
from hanamachi.games.hanabi.rules import HAND
from hanamachi.limits import SEARCH_HANDS
from hanamachi.policies.arrays import Masks, Memory, Observations
from hanamachi.policies.compiled_inputs import readable_memory
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.budget import Budget, above_zero, at_least_one
from hanamachi.policies.search.hanabi_belief import (
    Belief,
    can_be_held,
    first_belief,
    follows,
    next_belief,
    own_hands,
    worlds_with,
)
from hanamachi.policies.search.hanabi_value import RemainingPoints
from hanamachi.policies.search.playout import gap_to_best, not_clearly_worse, play_out
from hanamachi.policies.search.search import Decision, Search
from hanamachi.sessions.arguments import SEEDS
from hanamachi.sessions.policy_checks import distribution_of, memory_of

FIRST_PORTION, LARGEST_PORTION = 16, 64  # worlds in one batch of playouts
ROUNDED = 0.1  # above 0, which is the most that a log-likelihood can be without rounding
MANY = 64  # worlds, which are enough to drop the blueprint's own action too
# the usual size of a belief, for each world or each second of the budget, and its bounds
HANDS_A_WORLD, HANDS_A_SECOND = 8, 4000
FEWEST_HANDS, MOST_HANDS = 250, 2000


class SingleAgent(Search):
    """Tries the `top` best actions of its blueprint, and those that tie with the last of them.

    `hands` is the size of the belief, by default in proportion to the budget. To be played, an
    action must be better than the blueprint's by `sure` standard errors. Playouts last `turns`
    turns.
    """

    kind = "single_agent"
    cooperative = True
    searches_all = True

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        hands: int | None = None,
        top: int = 5,
        sure: float = 1.0,
        turns: int = 12,
        **common: Any,
    ) -> None:
        super().__init__(variant, blueprint, **common)
        wanted = usual_hands(self.budget) if hands is None else hands
        self.hands = at_least_one(wanted, "hands", SEARCH_HANDS)
        self.top = at_least_one(top, "top")
        self.sure = above_zero(sure, "sure")
        self.turns = at_least_one(turns, "turns")
        self.remaining_points = RemainingPoints(self._rollout_policy)
        self.memory_record = memory_record(self._rollout_policy, self.hands)

    # --- Memory

    def initial_memory(self, batch: int) -> Memory:
        """The bytes of `memory_record`, (B, size)."""
        fresh = np.zeros(batch, self.memory_record)
        fresh["own"] = memory_of(self._rollout_policy, batch)
        return fresh.view(np.uint8).reshape(batch, self.memory_record.itemsize)

    def _decisions(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[list[Decision], Memory]:
        """As in `Search`; the memory is complete once they are searched, or have results."""
        worlds, observation, mask = self._known(observation, mask)
        memory = readable_memory(memory, len(mask), self.memory_record.itemsize, np.uint8)
        records = memory.view(self.memory_record)[:, 0]
        prior, _, own = distribution_of(self._rollout_policy, observation, mask, records["own"])
        return self._of_each(worlds, observation, mask, prior, records, own), memory

    # --- A decision

    def results(
        self, decision: Decision, actions: NDArray[np.int64], count: int
    ) -> NDArray[np.float64]:
        """The points of each action in `count` worlds of the belief, (K, J), which is updated."""
        belief = self._belief(decision)
        belief.memory[:, belief.games["mover"][0]] = decision.memory_after
        results = self._results(decision, belief, actions, count)
        decision.memory["own"] = decision.memory_after
        return results

    def search(self, decision: Decision) -> NDArray[np.float32]:
        """As in `Search`; also updates `decision.memory`, a `memory_record`."""
        self.remaining_points.fit()  # once, before the first decision's time begins
        start = perf_counter()
        belief = self._belief(decision)
        belief.memory[:, belief.games["mover"][0]] = decision.memory_after
        chosen = decision.prior
        if len(decision.actions) > 1:
            chosen = self._choice(decision, belief, spent=perf_counter() - start)
        decision.memory["own"] = decision.memory_after
        return chosen

    def _belief(self, decision: Decision) -> Belief:
        """The belief at this decision; the memory of the decision is updated."""
        memory, worlds = decision.memory, decision.sample(self.hands)
        if not goes_on(decision.worlds.variant, memory, worlds[:1]):
            memory["decisions"] = 0
        memory["history"][memory["decisions"]] = worlds[0]
        memory["decisions"] += 1
        history, belief = memory["history"][: memory["decisions"]], None
        if len(history) > 1:
            hands = memory["hands"]
            before = worlds_with(self.variant.rule_set, history[-2:-1], hands, decision.rng)
            last = Belief(hands, memory["likelihood"], before, memory["others"])
            belief = next_belief(self._rollout_policy, history, last, decision.rng)
        if belief is None:
            belief = first_belief(self._rollout_policy, history, own_hands(worlds), decision.rng)
        memory["hands"], memory["likelihood"] = belief.hands, belief.likelihood
        memory["others"] = belief.memory
        return belief

    def _choice(self, decision: Decision, belief: Belief, spent: float) -> NDArray[np.float32]:
        """All probability on the best action, or the prior if no action is clearly better.

        `spent` seconds of the budget are gone.
        """
        actions = self.tried(decision)
        own, results = actions[0], np.empty((0, len(actions)))
        for count in self.budget.growing_portions(FIRST_PORTION, LARGEST_PORTION, spent):
            new_results = self._results(decision, belief, actions, count)
            results = np.concatenate((results, new_results))
            kept = worth_more_worlds(results, keep_first=actions[0] == own)
            actions, results = actions[kept], results[:, kept]
            if len(actions) == 1:
                break
        gap, error = gap_to_best(results)
        if actions[0] == own and gap[0] <= self.sure * error[0]:
            return decision.prior
        return np.eye(len(decision.prior), dtype=np.float32)[actions[gap.argmin()]]

    def tried(self, decision: Decision) -> NDArray[np.int64]:
        """The actions that the blueprint scores highest, its own choice first, (J,)."""
        scores = self._blueprint_scores(decision, decision.memory["own"])[decision.actions]
        order = np.argsort(-scores, kind="stable")
        least = scores[order[: self.top][-1]]
        return decision.actions[order[scores[order] >= least]]

    def _results(
        self,
        decision: Decision,
        belief: Belief,
        actions: NDArray[np.int64],
        count: int,
    ) -> NDArray[np.float64]:
        """The points of each action in `count` worlds of the belief, (K, J)."""
        rows = decision.rng.integers(self.hands, size=count)
        worlds, group_size = belief.games[rows], len(actions)
        worlds["rng"] = scatter(decision.rng.integers(SEEDS, size=count, dtype=np.uint64))
        games = np.repeat(worlds, group_size)
        earned = play_out(
            self._rollout_policy,
            games,
            np.tile(actions, count),
            np.repeat(decision.seeds(count), group_size),
            memory=np.repeat(belief.memory[rows], group_size, axis=0),
            turns=self.turns,
        )
        return (earned[:, 0] + self.remaining_points(games)).reshape(count, group_size)


def usual_hands(budget: Budget) -> int:
    """The size of a belief that costs about as much as the playouts."""
    wanted = HANDS_A_WORLD * (budget.worlds or 0) + HANDS_A_SECOND * (budget.seconds or 0)
    return int(min(max(wanted, FEWEST_HANDS), MOST_HANDS))


def worth_more_worlds(results: NDArray[np.float64], keep_first: bool) -> NDArray[np.bool_]:
    """Which actions, (J,), may still be the best by their results, (K, J).

    With `keep_first`, the first stays until there are many worlds, and those that brought the same
    as the first in all of these do not.
    """
    kept = not_clearly_worse(results)
    if keep_first and len(results) < MANY:
        kept[0] = True
    elif keep_first:
        kept[1:] &= (results[:, 1:] != results[:, :1]).any(0)
    return kept


def memory_record(policy: Policy, hands: int) -> np.dtype[Any]:
    """What a player remembers: the blueprint's memory, its own past positions, and its belief.

    The belief is that of the last position, and `others` what the other seats remember in each of
    its worlds; hidden cards in the positions are not used.
    """
    variant, own = policy.variant, memory_of(policy, 1)
    return np.dtype(
        [
            ("own", own.dtype, own.shape[1:]),
            ("decisions", np.int32),
            ("history", variant.game.record, most_decisions(variant.rule_set)),
            ("hands", np.int8, (hands, HAND)),
            ("likelihood", np.float64, hands),
            ("others", own.dtype, (hands, variant.seats, *own.shape[1:])),
        ]
    )


def most_decisions(rule_set: np.record) -> int:
    """The most decisions of one seat: each card that leaves a hand may bring back a clue."""
    cards = int(rule_set.copies.sum()) - rule_set.seats * (rule_set.hand_size - 1)
    return 1 + (2 * cards + int(rule_set.max_clues)) // int(rule_set.seats)


def goes_on(variant: Variant, memory: Any, now: NDArray[Any]) -> bool:
    """Whether a `memory_record` is what a player remembers at its position `now`, (1,).

    Memories come back from outside, so they are checked before compiled code uses them.
    """
    decisions = int(memory["decisions"])
    if not 0 < decisions < len(memory["history"]):
        return False
    history = np.concatenate((memory["history"][:decisions], now))
    positions = [history[i : i + 1] for i in range(len(history))]
    return (
        all(is_valid(variant.rule_set_array, each) for each in positions)
        and all(follows(variant.rule_set, *each) for each in pairwise(positions))
        and can_be_held(variant.rule_set, positions[-2], memory["hands"])
        and bool((np.isfinite(memory["likelihood"]) & (memory["likelihood"] <= ROUNDED)).all())
    )
