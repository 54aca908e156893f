"""A critic that sees all hands, for training alone.

How a game ends depends on cards that the seat to move cannot see, and to its policy that is noise.
While it learns, advantages may come from values that know those cards: as baselines they add no
bias, for what they know was settled before the action, and the advantages vary less. The policy
that is exported never sees more than its own seat does (as in Lowe et al. 2017, and at cards in
Suphx, Li et al. 2020).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hanamachi.policies.networks.network import InputScaling, orthogonal

NOTHING = np.zeros(0, np.int64)


class Critic(nn.Module):
    """What hidden cards change about the value that the seat to move can tell.

    It begins as no change at all: learning begins with the network's own value.
    """

    def __init__(
        self, bound: NDArray[Any], hidden: Sequence[int], advice: NDArray[np.int64] = NOTHING
    ) -> None:
        """`bound` (N + K,) is the largest size of each entry; it does without those of `advice`."""
        super().__init__()
        self.input_scaling = InputScaling(bound, advice)
        self.trunk = nn.Sequential()
        for width, next_width in pairwise([self.input_scaling.size, *hidden]):
            self.trunk.extend([orthogonal(nn.Linear(width, next_width)), nn.ReLU()])
        self.change = nn.Linear(hidden[-1], 1)
        nn.init.zeros_(self.change.weight)
        nn.init.zeros_(self.change.bias)

    def forward(self, observation: Tensor, centralised: Tensor, values: Tensor) -> Tensor:
        """What all seats see, (B, N) and (B, K), and values (B,) by the first -> values (B,)."""
        seen = self.input_scaling(torch.cat([observation, centralised], -1))
        return values.detach() + self.change(self.trunk(seen)).squeeze(-1)
