"""The base class of all trained policies, whatever runs their networks."""

from abc import abstractmethod
from collections.abc import Sequence

from hanamachi.engine.game import Variant
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities, Values
from hanamachi.policies.compiled_inputs import readable, readable_memory
from hanamachi.policies.features.base import Features
from hanamachi.policies.policy import Policy


class NetworkPolicy(Policy):
    """A policy that plays with a network; its memory is that of its feature sets."""

    has_values = True

    def __init__(self, variant: Variant, feature_sets: Sequence[str], name: str) -> None:
        super().__init__(variant)
        self.name = name
        self.features = Features(variant, feature_sets)

    @abstractmethod
    def evaluate(self, observation: Observations, mask: Masks) -> tuple[Probabilities, Values]:
        """Probabilities (B, A) and values (B,) of observations with their features."""

    def initial_memory(self, batch: int) -> Memory:
        return self.features.initial_memory(batch)

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values, Memory]:
        observation, mask = readable(self.variant, observation, mask)
        memory = readable_memory(memory, len(mask), self.features.memory_edges[-1])
        observation, memory = self.features.extend(observation, mask, memory)
        return *self.evaluate(observation, mask), memory
