"""Features: what is worked out for a network beside what a player sees at once.

A feature set belongs to a game. It follows from the observation and from a memory of its own,
which each seat carries from one decision of a game to the next; so it knows no more than the
player does. `Features` puts any number of sets behind the observation; with none of them, the
observation stays as it is.

Notation: B observations, N entries of an observation, F entries of the features, M of a memory.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from hanamachi.errors import UserError, unknown
from hanamachi.game import Variant
from hanamachi.kernels import spread
from hanamachi.layout import Layout
from hanamachi.policies.load import imported
from hanamachi.policies.policy import Memory, Observations

FEATURE_SETS: Mapping[str, Mapping[str, str]] = {  # game -> name -> where its class is
    "hanabi": {
        "belief": "hanamachi.policies.hanabi_features:Belief",
        "convention": "hanamachi.policies.hanabi_features:Convention",
    },
}


class FeatureSet:
    """What a kernel `write(rules, observations, memory, features)` works out for each row.

    The kernel brings the memory, (B, M), up to date and fills the features, (B, F), which are 0
    before. A memory begins as zeros.
    """

    def __init__(
        self, variant: Variant, layout: Layout, write: Callable[..., None], memory_size: int = 0
    ) -> None:
        """`layout` names the features, and those of them that describe slots or clues."""
        self.variant, self.layout = variant, layout
        self.write = write
        self.memory_size = memory_size

    def work_out(self, observation: Observations, memory: Memory) -> tuple[Observations, Memory]:
        """The features (B, F) of observations (B, N), and the new memory."""
        rows = np.ascontiguousarray(observation, np.float32)
        features = np.zeros((len(rows), self.layout.size), np.float32)
        memory = np.array(memory, np.int32, order="C")
        spread(self.write, self.variant.rules, rows, memory, features)
        return features, memory


class Features:
    """Several feature sets as one: features behind each other, memories side by side."""

    def __init__(self, variant: Variant, names: Sequence[str]) -> None:
        """UserError for a name that the game does not have, or that comes twice."""
        if len(set(names)) < len(names):
            raise UserError("network.features must name each feature set only once")
        self.sets = [feature_set(variant, name) for name in names]
        layouts = [variant.observation, *(one.layout for one in self.sets)]
        self.layout = Layout(  # of all that a network sees
            tuple(segment for layout in layouts for segment in layout.segments),
            blocks=tuple(block for layout in layouts for block in layout.blocks),
        )
        self.ends = np.cumsum([0, *(one.memory_size for one in self.sets)])  # of the memories

    def initial_memory(self, batch: int) -> Memory:
        return np.zeros((batch, self.ends[-1]), np.int32)

    def extend(self, observation: Observations, memory: Memory) -> tuple[Observations, Memory]:
        """Observations with their features, (B, N + F), and the new memory (B, M)."""
        if not self.sets:
            return observation, memory
        parts = [memory[:, a:b] for a, b in pairwise(self.ends)]
        worked_out = [
            one.work_out(observation, part) for one, part in zip(self.sets, parts, strict=True)
        ]
        features, memories = zip(*worked_out, strict=True)
        return np.hstack((observation, *features)), np.hstack(memories)


def feature_set(variant: Variant, name: str) -> FeatureSet:
    game = variant.game.name
    if game not in FEATURE_SETS:
        raise UserError(f"{game} has no feature sets: leave out {name!r}")
    if name not in FEATURE_SETS[game]:
        raise unknown(f"feature set of {game} called", name, FEATURE_SETS[game])
    made: FeatureSet = imported(FEATURE_SETS[game][name])(variant)
    return made
