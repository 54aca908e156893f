"""The base class of all trained policies, whichever library runs their networks."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.features.base import Features
from hanamachi.policies.policy import Masks, Memory, Observations, Policy, Probabilities, Values

CHUNK = 128  # rows in every call of a network, so that a result never depends on the batch


class Trained(Policy):
    """A policy that plays with a network; its memory is that of its feature sets."""

    has_values = True

    def __init__(self, variant: Variant, feature_sets: Sequence[str], name: str) -> None:
        super().__init__(variant)
        self.name = name
        self.features = Features(variant, feature_sets)

    @abstractmethod
    def infer(
        self, observation: Observations, legal: NDArray[np.bool_]
    ) -> tuple[Probabilities, Values]:
        """Probabilities (CHUNK, A) and values (CHUNK,) of observations with their features.

        Rows without a legal action only fill the chunk; their results are not used.
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
            chunk_probabilities, chunk_values = self.infer(rows, legal)
            probabilities[part], values[part] = chunk_probabilities[:size], chunk_values[:size]
        return probabilities, values, memory
