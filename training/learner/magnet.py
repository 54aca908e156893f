"""Slow copies of the network that learns: one to stay near, one to export.

Where play and counterplay chase each other, a policy that only improves goes round in circles.
Two things keep it from that. A magnet: the loss holds KL(policy || magnet), so that a policy moves
only where it pays clearly, and each magnet's equilibrium lies nearer to that of the game than the
magnet itself (Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games", 2023). An average: what goes round something is on
average near it.
"""

from copy import deepcopy
from typing import Any

import torch

from hanamachi.policies.networks.network import Network

WARM_UP = 10  # steps after which a moving average has forgotten nine tenths of its start


class SlowCopy:
    """A network that follows the one that learns, at its own pace."""

    def __init__(self, learner: Network) -> None:
        self.network = deepcopy(learner).requires_grad_(False)

    def after_step(self, learner: Network) -> None:
        """The learner has made a gradient step."""

    def before_update(self, learner: Network, decisions: int) -> None:
        """The learner is about to learn from its latest games; so many decisions lie behind it."""

    def get_state(self) -> dict[str, Any]:
        """All that its future depends on."""
        weights = {name: t.cpu().clone() for name, t in self.network.state_dict().items()}
        return {**vars(self), "network": weights}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from `get_state`."""
        self.network.load_state_dict(state["network"])
        vars(self).update({name: value for name, value in state.items() if name != "network"})


class MovingAverage(SlowCopy):
    """The exponential moving average of the learner's weights, a share `1 - decay` of each step.

    At first it forgets faster, or the random weights of the beginning would stay long.
    """

    def __init__(self, learner: Network, decay: float) -> None:
        super().__init__(learner)
        self.decay, self.steps = decay, 0

    @torch.no_grad()
    def after_step(self, learner: Network) -> None:
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (WARM_UP + self.steps))
        for mine, its in zip(self.network.parameters(), learner.parameters(), strict=True):
            mine.lerp_(its, 1 - decay)


class Snapshot(SlowCopy):
    """The learner as it was: taken anew every so many decisions, or with 0 never."""

    def __init__(self, learner: Network, every: int = 0) -> None:
        super().__init__(learner)
        self.every, self.taken = every, 0

    def before_update(self, learner: Network, decisions: int) -> None:
        if self.every and decisions - self.taken >= self.every:
            self.network.load_state_dict(learner.state_dict())
            self.taken = decisions
