"""The feature set `advice`: the scores that the game's `expert` gives to each action.

With advice, a network can rank actions before it has learned to count cards. It learns how much
weight to give to the advice, so it is free to disagree.
"""

import numpy as np

from hanamachi.engine.compiled import kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout, Segment
from hanamachi.policies.arrays import Masks, Memory, Observations, Scores
from hanamachi.policies.features.base import FeatureSet
from hanamachi.policies.rules.registry import rule_policy

UNIT = 0.1  # of the score; the second best action is often about half a unit worse than the best
MAX_GAP = 10  # in units; larger gaps are clipped


class Advice(FeatureSet):
    """The gap of each action's score to the best one, and the best score."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, advice_layout(variant.actions.size))
        self.expert = rule_policy("expert", variant)
        self.memory_size = self.expert.initial_memory(1).shape[1]

    def compute(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Observations, Memory]:
        scores, memory = self.expert.scores(observation, mask, memory)
        features = np.zeros((len(mask), self.layout.size), np.float32)
        write_gaps(scores, np.ascontiguousarray(mask, np.int8), features)
        return features, memory


@kernel
def write_gaps(scores: Scores, masks: Masks, features: Observations) -> None:
    """Write the gap of each legal action, then the best score; the features are 0 before."""
    for b in range(len(masks)):
        best = scores[b, 0]
        for action in range(1, masks.shape[1]):
            best = max(best, scores[b, action])
        for action in range(masks.shape[1]):
            if masks[b, action]:
                gap = max(scores[b, action] - best, np.float32(-MAX_GAP * UNIT))
                features[b, action] = gap / np.float32(UNIT)
        features[b, masks.shape[1]] = min(max(best, np.float32(-1)), np.float32(1))


def advice_layout(actions: int) -> Layout:
    """The layout of the features; digests cover its words, so they never change."""
    gap = f"of each legal action: how far its worth is behind the best one's, 1 for {UNIT:g}"
    return Layout(
        (
            Segment("advice", actions, -MAX_GAP, 0, gap, fraction=True),
            Segment("best advice", 1, -1, 1, "the worth of the best action", fraction=True),
        ),
        blocks=(("action", "advice"),),
    )
