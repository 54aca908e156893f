"""The base class of feature sets, and `Features`, which appends them to the observation.

A feature set belongs to a game. It is computed from the observation, the legal actions and a memory
of its own, which each seat carries from one decision of a game to the next. So it never uses
hidden information. Without feature sets, the observation stays as it is.

Notation: B observations, N entries of an observation, A actions, F entries of the features, M of a
memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout
from hanamachi.engine.threads import DECISIONS_PER_THREAD, parallel_for
from hanamachi.errors import UserError, unknown
from hanamachi.policies.arrays import Masks, Memory, Observations
from hanamachi.policies.entry_point import load_entry_point

FEATURE_SETS: Mapping[str, Mapping[str, str]] = {  # game -> name -> the entry point of its class
    "hanamikoji": {"advice": "hanamachi.policies.features.advice:Advice"},
    "geishas_road": {"advice": "hanamachi.policies.features.advice:Advice"},
    "hanabi": {
        "advice": "hanamachi.policies.features.advice:Advice",
        "belief": "hanamachi.policies.features.hanabi:CardBeliefs",
        "convention": "hanamachi.policies.features.hanabi:Convention",
        "hat": "hanamachi.policies.features.hanabi_hat:HatReading",
    },
}


class FeatureSet(ABC):
    """Computes the F features that `layout` describes; all of them are bounded."""

    memory_size = 0

    def __init__(self, variant: Variant, layout: Layout) -> None:
        """The blocks of the layout say which features describe slots, clues or actions."""
        self.variant, self.layout = variant, layout

    @abstractmethod
    def compute(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Observations, Memory]:
        """The features (B, F) of observations (B, N) and masks (B, A), and the new memory (B, M).

        The memory is zero at the start of a game.
        """


class CompiledFeatures(FeatureSet):
    """Features that a kernel `write(tables, observations, memory, features)` computes.

    `tables` (1,) holds the rule set. The kernel updates the memory and fills the features, which
    are 0 at first.
    """

    def __init__(
        self, variant: Variant, layout: Layout, write: Callable[..., None], memory_size: int = 0
    ) -> None:
        super().__init__(variant, layout)
        self.write, self.memory_size = write, memory_size

    def compute(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Observations, Memory]:
        rows = np.ascontiguousarray(observation, np.float32)
        features = np.zeros((len(rows), self.layout.size), np.float32)
        memory = np.array(memory, np.int32, order="C")
        every = rows, memory, features
        parallel_for(self.write, self.variant.rule_set_array, *every, at_least=DECISIONS_PER_THREAD)
        return features, memory


class Features:
    """Several feature sets as one; their features and their memories are concatenated."""

    def __init__(self, variant: Variant, names: Sequence[str]) -> None:
        """UserError if the game does not have a name, or a name is repeated."""
        if len(set(names)) < len(names):
            raise UserError("network.features must name each feature set only once")
        self.sets = [feature_set(variant, name) for name in names]
        layouts = [variant.observation, *(one.layout for one in self.sets)]
        self.layout = Layout(  # of the whole input of the network
            tuple(segment for layout in layouts for segment in layout.segments),
            blocks=tuple(block for layout in layouts for block in layout.blocks),
        )
        sizes = [layout.size for layout in layouts]
        self.edges = np.cumsum([0, *sizes]).tolist()  # of the observation and each set's features
        self.memory_edges = np.cumsum([0, *(one.memory_size for one in self.sets)]).tolist()

    def initial_memory(self, batch: int) -> Memory:
        """The memory at the start of a game, (B, M)."""
        return np.zeros((batch, self.memory_edges[-1]), np.int32)

    def extend(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Observations, Memory]:
        """Observations with their features, (B, N + F), and the new memory (B, M)."""
        if not self.sets:
            return observation, memory
        extended = np.empty((len(mask), self.edges[-1]), np.float32)
        extended[:, : self.edges[1]] = observation
        after = np.empty_like(memory)
        places = zip(pairwise(self.edges[1:]), pairwise(self.memory_edges), strict=True)
        for one, ((begin, end), (first, last)) in zip(self.sets, places, strict=True):
            features, after[:, first:last] = one.compute(observation, mask, memory[:, first:last])
            extended[:, begin:end] = features
        return extended, after


def feature_set(variant: Variant, name: str) -> FeatureSet:
    """The feature set of this name; UserError if the game has none."""
    known = FEATURE_SETS.get(variant.game.name, {})
    if name not in known:
        raise unknown(f"feature set of {variant.game.name} called", name, known)
    made: FeatureSet = load_entry_point(known[name])(variant)
    return made
