"""Slow copies of the network that learns: the magnet to stay near, the average to export.

In a competitive game, a policy that only improves against itself can go round in circles. Two
things prevent that. A magnet: the loss contains KL(policy || magnet), so that the policy moves only
where that clearly pays, and the equilibrium near each magnet is closer to the game's than the
magnet itself (Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games", 2023). An average: policies that circle around a point
are close to it on average.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from hanamachi.policies.networks.network import Network
from hanamachi.training.learner.rollout_buffer import SelfPlayBuffer
from hanamachi.training.learner.shards import halves, map_on_threads

WARM_UP = 10  # gradient steps in which a moving average forgets most of the first weights


class SlowCopy:
    """A copy of the learner's network that follows it slowly."""

    def __init__(self, learner: Network) -> None:
        self.network = deepcopy(learner).requires_grad_(False)

    def after_step(self, learner: Network) -> None:
        """Called after each gradient step of the learner."""

    def before_update(self, learner: Network, decisions: int) -> None:
        """Called before the learner is trained on a rollout, with its decisions so far."""

    def store_log_probs(self, buffer: SelfPlayBuffer, batch_size: int) -> None:
        """Store its log-probabilities of the actions at every decision of a rollout."""
        buffer.magnet_log_probs = buffer.room(0)  # frees the last one first
        buffer.magnet_log_probs = buffer.room(int(buffer.action_space.n))
        table = buffer.magnet_log_probs.flatten(0, 1)

        @torch.no_grad()
        def ask(decisions: Tensor) -> None:
            chances, _ = self.network(*buffer.fields(("observations", "masks"), decisions))
            rows = decisions.to(buffer.device)[chances.rows]
            table[rows, chances.actions] = chances.log_probabilities

        for some in torch.arange(len(table)).split(batch_size):
            map_on_threads(ask, halves(some, buffer.device))

    def get_state(self) -> dict[str, Any]:
        """Everything that its future depends on."""
        weights = {name: t.cpu().clone() for name, t in self.network.state_dict().items()}
        return {**vars(self), "network": weights}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `get_state` returned."""
        self.network.load_state_dict(state["network"])
        vars(self).update({name: value for name, value in state.items() if name != "network"})


class MovingAverage(SlowCopy):
    """The exponential moving average of the learner's weights; each step counts `1 - decay`.

    In the first steps the decay is smaller, so that the average soon forgets the first weights.
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
    """The learner as it was at the last refresh, every `every` decisions; with 0, at the start."""

    def __init__(self, learner: Network, every: int = 0) -> None:
        super().__init__(learner)
        self.every, self.taken = every, 0

    def before_update(self, learner: Network, decisions: int) -> None:
        if self.every and decisions - self.taken >= self.every:
            self.network.load_state_dict(learner.state_dict())
            self.taken = decisions
