"""Past selves: earlier networks of the learner, which play the other seats in some of its games.

A game is played to its end by the self that it began with. The number of that self is the first
entry of the game's memory, so it is saved, sent and replaced together with the rest of the memory.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities, Values
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.canonical import AS_SHOWN
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.tables import Checkpoint
from hanamachi.policies.policy import Policy
from hanamachi.training.learner.state import Weights

NUMBER = 0  # the entry of a memory that holds the number of a self


class PastSelves(Policy):
    """Plays each game as the self that the game began with."""

    name = "past selves"
    has_values = True

    def __init__(
        self,
        variant: Variant,
        hidden: Sequence[int],
        feature_sets: Sequence[str],
        symmetries: str = AS_SHOWN,
    ) -> None:
        """All selves have networks of this shape; before any game, one must be seated."""
        super().__init__(variant)
        self.shape = Checkpoint(variant, tuple(hidden), tuple(feature_sets), {}, symmetries)
        self.features = Features(variant, feature_sets)
        self.selves: Mapping[int, Weights] = {}
        self.networks: dict[int, CompiledPolicy] = {}
        self.current = 0

    def seat(self, selves: Mapping[int, Weights], current: int) -> None:
        """Let the games that begin from now on meet the self with the number `current`.

        `selves` holds the weights of all selves that play, by their numbers.
        """
        self.networks = {
            n: self.networks[n]
            if n in self.selves and are_equal(weights, self.selves[n])
            else CompiledPolicy(self.shape._replace(weights=weights))
            for n, weights in selves.items()
        }
        self.selves, self.current = dict(selves), current

    def initial_memory(self, batch: int) -> Memory:
        return np.insert(self.features.initial_memory(batch), NUMBER, self.current, axis=1)

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values, Memory]:
        probabilities, values = np.empty(mask.shape, np.float32), np.empty(len(mask), np.float32)
        after = memory.copy()
        for number in playing(memory):
            rows = memory[:, NUMBER] == number
            answer = self.networks[number].distribution(
                observation[rows], mask[rows], memory[rows, 1:]
            )
            probabilities[rows], values[rows], after[rows, 1:] = answer
        return probabilities, values, after


def are_equal(one: Weights, other: Weights) -> bool:
    """Whether two networks of one shape have the same weights; a cluster sends new copies."""
    return one is other or all(np.array_equal(one[name], other[name]) for name in one)


def playing(memory: Memory) -> list[int]:
    """The numbers of the selves that play, by the memories of their games, (..., M)."""
    numbers: list[int] = np.unique(memory[..., NUMBER]).tolist()
    return numbers
