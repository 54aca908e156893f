"""Single-agent search for Hanabi: one player looks ahead, all others play the blueprint.

The player keeps a belief of the own hand (`belief.py`), as the clues and what the others have done
tell it. For each action the blueprint plays on, in all seats, from hands of the belief and with
the same luck for every action; after some turns a forecast says what is still to come. What does
worse than another action is soon left out, except for the blueprint's own action, which is played
unless another one is clearly better (after SPARTA: Lerer, Hu, Foerster and Brown 2020).

Notation: K worlds, J actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant, scatter
from hanamachi.games.hanabi.rules import HAND
from hanamachi.policies.policy import Masks, Memory, Observations, Policy, Probabilities
from hanamachi.policies.search.budget import above_zero, at_least_one
from hanamachi.policies.search.hanabi_belief import Belief, first_belief, next_belief, own_hands
from hanamachi.policies.search.hanabi_value import Forecast
from hanamachi.policies.search.playout import behind, play_out
from hanamachi.policies.search.search import SEEDS, Decision, Search

PORTION = 16  # worlds played side by side, each with all actions that are left
BEHIND = 2.0  # standard errors by which an action is worse when it is left out


class SingleAgent(Search):
    """Tries the `top` actions of its blueprint.

    `hands` is the size of the belief. `sure`, in standard errors, says how clearly better an action
    must be than the blueprint's to be played; `turns`, how far worlds are played on.
    """

    kind = "single_agent"
    cooperative = True

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        hands: int = 2000,
        top: int = 20,
        sure: float = 1.0,
        turns: int = 12,
        **common: Any,
    ) -> None:
        super().__init__(variant, blueprint, **common)
        self.hands = at_least_one(hands, "hands")
        self.top = at_least_one(top, "top")
        self.sure = above_zero(sure, "sure")
        self.turns = at_least_one(turns, "turns")
        self.forecast = Forecast(self._start)
        self.notes = notes(self._start, self.hands)

    # --- Memory

    def initial_memory(self, batch: int) -> Memory:
        """The bytes of `notes`, (B, size)."""
        fresh = np.zeros(batch, self.notes)
        fresh["own"] = self._start.initial_memory(batch)
        return fresh.view(np.uint8).reshape(batch, self.notes.itemsize)

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        worlds = self._checked_worlds(len(observation))
        memory = np.array(memory, np.uint8)
        kept = memory.view(self.notes)[:, 0]
        prior, _, own = self._start.distribution(observation, mask, kept["own"])
        out = prior.copy()
        for row in range(len(out)):
            rng = self._generator(observation[row], mask[row], memory[row])
            seen = observation[row], mask[row], prior[row], kept[row], own[row]
            out[row] = self.search(Decision(*seen, rng, worlds, row))
        kept["own"] = own
        return out, None, memory

    # --- A decision

    def search(self, decision: Decision) -> NDArray[np.float32]:
        """Brings `decision.memory`, a record of notes, up to date."""
        believed = self._belief(decision)
        believed.memory[:, believed.games["mover"][0]] = decision.memory_after
        return self._choice(decision, believed) if len(decision.actions) > 1 else decision.prior

    def _belief(self, decision: Decision) -> Belief:
        held, worlds = decision.memory, decision.sample(self.hands)
        held["history"][held["decisions"]] = worlds[0]
        held["decisions"] += 1
        history, believed = held["history"][: held["decisions"]], None
        if len(history) > 1:
            last = held["hands"], held["likelihood"]
            believed = next_belief(self._start, history, *last, decision.rng)
        if believed is None:
            believed = first_belief(self._start, history, own_hands(worlds), decision.rng)
        held["hands"], held["likelihood"] = believed.hands, believed.likelihood
        return believed

    def _choice(self, decision: Decision, believed: Belief) -> NDArray[np.float32]:
        """All on the action that does best, or the blueprint's choice if that may be luck."""
        actions = self._tried(decision)
        results = np.empty((0, len(actions)))
        for count in self.budget.portions(PORTION):
            more = self._results(decision, believed, actions, count)
            results = np.concatenate((results, more))
            ahead, error = behind(results)
            left = ahead <= BEHIND * error
            left[0] = True  # the blueprint's stays: few worlds alone never speak against it
            actions, results = actions[left], results[:, left]
            if len(actions) == 1:
                return decision.prior
        ahead, error = behind(results)
        if ahead[0] <= self.sure * error[0]:
            return decision.prior
        return np.eye(len(decision.prior), dtype=np.float32)[actions[ahead.argmin()]]

    def _tried(self, decision: Decision) -> NDArray[np.int64]:
        """The actions that the blueprint likes best, its own choice first, (J,)."""
        liking = self._preference(decision, decision.memory["own"])[decision.actions]
        return decision.actions[np.argsort(-liking, kind="stable")[: self.top]]

    def _results(
        self,
        decision: Decision,
        believed: Belief,
        actions: NDArray[np.int64],
        count: int,
    ) -> NDArray[np.float64]:
        """The points that each action brings in so many worlds, (K, J)."""
        rows = decision.rng.integers(self.hands, size=count)
        worlds, alike = believed.games[rows], len(actions)
        worlds["rng"] = scatter(decision.rng.integers(SEEDS, size=count, dtype=np.uint64))
        games = np.repeat(worlds, alike)
        earned = play_out(
            self._start,
            games,
            np.tile(actions, count),
            decision.rng,
            memory=np.repeat(believed.memory[rows], alike, axis=0),
            same_luck=alike,
            turns=self.turns,
        )
        return (earned[:, 0] + self.forecast(games)).reshape(count, alike)


def notes(policy: Policy, hands: int) -> np.dtype[Any]:
    """What a player remembers: the policy's own memory, the positions in which he decided, as he
    saw them, and the belief at the last of them."""
    variant, own = policy.variant, policy.initial_memory(1)
    return np.dtype(
        [
            ("own", own.dtype, own.shape[1:]),
            ("decisions", np.int32),
            ("history", variant.game.record, most_decisions(variant.rule_set)),
            ("hands", np.int8, (hands, HAND)),
            ("likelihood", np.float64, hands),
        ]
    )


def most_decisions(rule_set: np.record) -> int:
    """How many decisions one seat can come to: each card that leaves a hand may bring a clue."""
    cards = int(rule_set.copies.sum()) - rule_set.seats * (rule_set.hand_size - 1)
    return 1 + (2 * cards + int(rule_set.max_clues)) // int(rule_set.seats)
