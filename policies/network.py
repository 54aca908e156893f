"""The network: an observation in, a logit for each action and the mover's value out.

The head knows what the actions are made of: logit(a) = h . (E f(a) + e(a)), with h the last
hidden layer, f(a) the catalogue's features of action a, and e(a) free and zero at the start. So
what is learned of one action (offer two of a geisha's cards) holds for all that are like it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from hanamachi.game import Variant
from hanamachi.policies.policy import Policy

CHUNK = 256  # rows computed together, so that a row's result never depends on the batch
ILLEGAL = -1e9  # the logit of an action that is not allowed: its probability is exactly 0


class Network(nn.Module):
    """Policy and value on one trunk of fully connected layers."""

    scale: Tensor
    features: Tensor

    def __init__(
        self, bound: NDArray[Any], features: NDArray[np.float32], hidden: Sequence[int]
    ) -> None:
        """`bound` (N,) is the largest size of each entry; `features` (A, F) describe actions."""
        super().__init__()
        self.hidden = tuple(hidden)
        # by the square root: small counts keep most of their size, large ones do not drown them
        scale = torch.as_tensor(bound, dtype=torch.float32).clamp(min=1).rsqrt()
        self.register_buffer("scale", scale, persistent=False)
        self.register_buffer("features", torch.as_tensor(features), persistent=False)
        sizes = [len(bound), *self.hidden]
        self.trunk = nn.Sequential()
        for width, next_width in pairwise(sizes):
            self.trunk.extend([nn.Linear(width, next_width), nn.ReLU()])
        self.kinds = nn.Linear(features.shape[1], sizes[-1], bias=False)  # E
        self.free = nn.Parameter(torch.zeros(len(features), sizes[-1]))  # e
        self.value = nn.Linear(sizes[-1], 1)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Orthogonal layers, and a policy that begins almost uniform."""
        for layer in self.trunk:
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                nn.init.zeros_(layer.bias)
        nn.init.normal_(self.kinds.weight, std=0.01)
        nn.init.orthogonal_(self.value.weight)
        nn.init.zeros_(self.value.bias)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """(B, N) -> logits (B, A), values (B,)."""
        h = self.trunk(observation * self.scale)
        actions = self.kinds(self.features) + self.free  # (A, H)
        return h @ actions.T, self.value(h).squeeze(-1)


def for_variant(variant: Variant, hidden: Sequence[int]) -> Network:
    """A fresh network for this rule set."""
    layout = variant.observation
    return Network(largest(layout.low, layout.high), variant.actions.features, hidden)


def largest(low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    return np.maximum(np.abs(low), np.abs(high))


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities over the legal actions, (B, A); far below any, but finite, elsewhere."""
    return F.log_softmax(logits.masked_fill(~mask, ILLEGAL), -1)


class NetworkPolicy(Policy):
    """A network at play."""

    def __init__(self, variant: Variant, network: Network, name: str = "network") -> None:
        super().__init__(variant)
        self.name = name
        self.network = network.eval()

    @torch.no_grad()
    def distribution(
        self, observation: NDArray[np.float32], mask: NDArray[np.int8], memory: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        batch = len(observation)
        probabilities = np.empty(mask.shape, np.float32)
        values = np.empty(batch, np.float32)
        device = self.network.scale.device
        rows = torch.zeros(CHUNK, observation.shape[1], device=device)
        for start in range(0, batch, CHUNK):
            part = slice(start, min(start + CHUNK, batch))
            size = part.stop - start
            rows[:size] = torch.from_numpy(np.ascontiguousarray(observation[part], np.float32))
            logits, value = self.network(rows)
            legal = torch.from_numpy(mask[part] != 0).to(device)
            probabilities[part] = masked_log_softmax(logits[:size], legal).exp().cpu().numpy()
            values[part] = value[:size].cpu().numpy()
        return probabilities, values, memory
