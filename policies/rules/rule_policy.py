"""The base of policies written by hand, and the random one.

Notation: B observations, A actions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.engine.threads import DECISIONS_PER_THREAD, parallel_for
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities, Scores, Values
from hanamachi.policies.compiled_inputs import never_shown, readable
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import best, uniform


class RandomPolicy(Policy):
    """Every legal action is equally likely."""

    name = "random"

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        return uniform(mask), None, memory


class RulePolicy(Policy):
    """Plays the action that a kernel `score(tables, observations, masks, scores)` scores highest.

    The kernel writes the score of every legal action; tied actions are equally likely. If the
    policy has values, scores are expected results. Rule sets in the tables are arrays (1,), which a
    call hands over ten times as fast as a record.
    """

    is_stochastic = False

    def __init__(self, variant: Variant, score: Callable[..., None], tables: Any) -> None:
        super().__init__(variant)
        self.score = score
        self.tables = tables

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values | None, Memory]:
        scores, memory = self.scores(observation, mask, memory)
        return best(scores), scores.max(1).clip(-1, 1) if self.has_values else None, memory

    def scores(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Scores, Memory]:
        """The scores, and the new memory."""
        rows, scores = readable(self.variant, observation, mask), unscored(mask)
        self.write(*rows, scores)
        return scores, memory

    def write(self, *arrays: NDArray[Any]) -> None:
        """Let the kernel read these, the scores last, which it writes.

        UserError if no game shows the observations.
        """
        try:
            parallel_for(self.score, self.tables, *arrays, at_least=DECISIONS_PER_THREAD)
        except ZeroDivisionError:  # by a number of cards that can never be 0 in a game
            raise never_shown(self.variant) from None
        if np.isnan(arrays[-1]).any():  # as when more cards are seen than there are
            raise never_shown(self.variant)


def unscored(mask: Masks) -> Scores:
    """The scores, (B, A), before any legal action has one."""
    scores = np.empty(np.shape(mask), np.float32)
    scores.fill(-np.inf)
    return scores
