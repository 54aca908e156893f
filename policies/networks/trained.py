"""What all trained policies have in common, whatever computes their networks."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.features.base import Features
from hanamachi.policies.policy import Masks, Memory, Observations, Policy, Probabilities, Values

CHUNK = 128  # rows computed together, so that a row's result never depends on the batch


class Trained(Policy):
    """A network at play; it remembers what its features do."""

    has_values = True

    def __init__(self, variant: Variant, feature_sets: Sequence[str], name: str) -> None:
        super().__init__(variant)
        self.name = name
        self.features = Features(variant, feature_sets)

    @abstractmethod
    def answer(
        self, observation: Observations, legal: NDArray[np.bool_]
    ) -> tuple[Probabilities, Values]:
        """Probabilities (CHUNK, A) and values (CHUNK,) of observations with their features.

        Rows in which nothing is legal only fill the chunk, and what becomes of them is not read.
        """

    def initial_memory(self, batch: int) -> Memory:
        return self.features.initial_memory(batch)

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values, Memory]:
        observation, memory = self.features.extend(observation, mask, memory)
        batch = len(observation)
        probabilities = np.empty(mask.shape, np.float32)
        values = np.empty(batch, np.float32)
        rows = np.zeros((CHUNK, observation.shape[1]), np.float32)
        legal = np.zeros((CHUNK, mask.shape[1]), np.bool_)
        for start in range(0, batch, CHUNK):
            part = slice(start, min(start + CHUNK, batch))
            size = part.stop - start
            rows[:size] = observation[part]
            legal[:size], legal[size:] = mask[part] != 0, False
            chances, value = self.answer(rows, legal)
            probabilities[part], values[part] = chances[:size], value[:size]
        return probabilities, values, memory
