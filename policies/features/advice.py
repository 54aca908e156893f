"""The feature set `advice`: what the game's `expert` thinks of each action.

A network that gets it need not learn the arithmetic of the cards before it can tell good actions
from bad ones, and is free to disagree: it decides by itself how far it follows.
"""

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout, Segment
from hanamachi.policies.features.base import FeatureSet
from hanamachi.policies.policy import Masks, Memory, Observations
from hanamachi.policies.rules.registry import rule_policy

UNIT = 0.1  # of worth; the second best action is often about half of it behind the best
MOST = 10  # units behind the best one; further makes no difference


class Advice(FeatureSet):
    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, advice_layout(variant.actions.size))
        self.expert = rule_policy("expert", variant)
        self.memory_size = self.expert.initial_memory(1).shape[1]

    def work_out(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Observations, Memory]:
        worths, memory = self.expert.scores(observation, mask, memory)
        best = worths.max(1, keepdims=True)
        behind = np.where(mask, (worths - best).clip(-MOST * UNIT, 0) / UNIT, 0)
        return np.hstack((behind, best.clip(-1, 1))).astype(np.float32), memory


def advice_layout(actions: int) -> Layout:
    behind = f"of each legal action: how far its worth is behind the best one's, 1 for {UNIT:g}"
    return Layout(
        (
            Segment("advice", actions, -MOST, 0, behind, fraction=True),
            Segment("best advice", 1, -1, 1, "the worth of the best action", fraction=True),
        ),
        blocks=(("action", "advice"),),
    )
