"""The memory of Hanabi's rule policies: a set of cards for each slot of every hand."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.games.hanabi import rules
from hanamachi.policies.arrays import Masks, Memory, Observations, Scores
from hanamachi.policies.compiled_inputs import readable, readable_memory
from hanamachi.policies.rules.rule_policy import RulePolicy, unscored

Sets = NDArray[np.int32]  # (P, H) one set of cards for each slot, all empty at first


class RememberingPolicy(RulePolicy):
    """A rule policy whose kernel is `score(tables, observations, masks, memory, scores)`.

    The kernel updates the memory, (B, P * H).
    """

    def initial_memory(self, batch: int) -> Memory:
        return np.zeros((batch, self.slots), np.int32)

    @cached_property
    def slots(self) -> int:
        return memory_size(self.variant.rule_set)

    def scores(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Scores, Memory]:
        """The scores, and the new memory."""
        rows, scores = readable(self.variant, observation, mask), unscored(mask)
        memory = readable_memory(memory, len(scores), self.slots)
        self.write(*rows, memory, scores)
        return scores, memory


def memory_size(rule_set: np.record) -> int:
    """The number of slots of all hands together."""
    return int(rule_set.seats * rule_set.hand_size)


@inline
def remove_slot(sets: Any, slot: int) -> None:
    """Remove a slot of a hand, (H,): newer cards move down, and the last slot is empty."""
    for i in range(slot, len(sets) - 1):
        sets[i] = sets[i + 1]
    sets[len(sets) - 1] = 0


@inline
def chop_of(game: np.record, meant: Sets, seat: int) -> int:
    """The slot of the oldest card that no clue has touched; NONE if there is none."""
    for slot in range(game.held[seat]):
        if meant[seat, slot] == 0:
            return slot
    return rules.NONE
