"""The network: an observation in, a chance for each legal action and the mover's value out.

The head knows what the actions are made of: logit(a) = h . (E f(a) + e(a)), with h the last
hidden layer, f(a) the catalogue's features of action a, and e(a) free and zero at the start. So
what is learned of one action (offer two of a geisha's cards) holds for all that are like it.
Where actions use things that the observation describes, such as slots of the hand, each thing that
an action uses in a role r adds h . R(r) c, with c what the observation says of it: what is learned
of a card then holds wherever in the hand it is. What features say of an action itself, the advice
d(a), adds t(h) . d(a): how far it is trusted depends on the position, and the trunk is spared it.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hanamachi.engine.game import Actions, Variant
from hanamachi.engine.layout import Layout
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.legal import Chances, legal_chances
from hanamachi.policies.networks.trained import Trained


class Things(NamedTuple):
    """Things of one kind that actions use, such as the slots of the hand."""

    uses: NDArray[np.float32]  # (A, R, H) 1 where an action uses one in a role
    entries: NDArray[np.int64]  # (H, D) those of an observation that describe each


class Head(NamedTuple):
    """What the network is told about the actions."""

    features: NDArray[np.float32]  # (A, F) what each is made of
    things: Mapping[str, Things]  # by their kind
    advice: NDArray[np.int64]  # (A, D) the entries of an observation that describe each action


def plain_head(actions: int) -> Head:
    """Actions that have nothing in common."""
    return Head(np.zeros((actions, 1), np.float32), {}, np.zeros((actions, 0), np.int64))


def orthogonal(layer: nn.Linear) -> nn.Linear:
    """Let a layer, which a ReLU follows, keep the size of what goes through it."""
    nn.init.orthogonal_(layer.weight, 2**0.5)
    nn.init.zeros_(layer.bias)
    return layer


class Worths(nn.Module):
    """What the things of one kind are worth in each of their roles."""

    uses: Tensor
    entries: Tensor

    def __init__(self, things: Things, width: int) -> None:
        super().__init__()
        (_, self.roles, _), depth = things.uses.shape, things.entries.shape[1]
        self.register_buffer("uses", torch.as_tensor(things.uses).flatten(1), persistent=False)
        self.register_buffer("entries", torch.as_tensor(things.entries), persistent=False)
        self.weights = nn.Linear(width, self.roles * depth, bias=False)  # R

    def forward(self, observation: Tensor, h: Tensor) -> Tensor:
        """(B, N), (B, W) -> what each is worth in each role, (B, R * H)."""
        described = observation.index_select(1, self.entries.flatten())
        described = described.unflatten(1, self.entries.shape).unsqueeze(1)  # (B, 1, H, D)
        roles = self.weights(h).unflatten(1, (self.roles, -1)).unsqueeze(2)  # (B, R, 1, D)
        # no batched matrix product: its rounding depends on the place of a row in the batch
        return (roles * described).sum(-1).flatten(1)


class Trust(nn.Module):
    """How far advice is followed; it begins close to nothing."""

    advice: Tensor

    def __init__(self, advice: NDArray[np.int64], width: int) -> None:
        super().__init__()
        self.register_buffer("advice", torch.as_tensor(advice), persistent=False)
        self.weights = nn.Linear(width, advice.shape[1])  # t
        nn.init.normal_(self.weights.weight, std=0.01)
        nn.init.zeros_(self.weights.bias)

    def forward(self, observation: Tensor, h: Tensor) -> Tensor:
        """(B, N), (B, W) -> what it adds to the logits, (B, A)."""
        given = observation.index_select(1, self.advice.flatten()).unflatten(1, self.advice.shape)
        return (self.weights(h).unsqueeze(1) * given).sum(-1)


class Seen(nn.Module):
    """What a trunk sees of an observation: all but the advice, in sizes that suit it.

    By the square root: small counts keep most of their size, large ones do not drown them.
    """

    entries: Tensor
    scale: Tensor

    def __init__(self, bound: NDArray[Any], advice: NDArray[np.int64]) -> None:
        """`bound` (N,) is the largest size of each entry, `advice` those that are left out."""
        super().__init__()
        entries = np.setdiff1d(np.arange(len(bound)), advice)
        scale = torch.as_tensor(bound[entries], dtype=torch.float32).clamp(min=1).rsqrt()
        self.register_buffer("entries", torch.as_tensor(entries), persistent=False)
        self.register_buffer("scale", scale, persistent=False)
        self.size, self.whole = len(entries), len(entries) == len(bound)

    def forward(self, observation: Tensor) -> Tensor:
        """(B, N) -> (B, size)."""
        seen = observation if self.whole else observation.index_select(1, self.entries)
        return seen * self.scale


class Network(nn.Module):
    """Policy and value on one trunk of fully connected layers."""

    features: Tensor

    def __init__(
        self,
        bound: NDArray[Any],
        head: Head,
        hidden: Sequence[int],
        feature_sets: Sequence[str] = (),
    ) -> None:
        """`bound` (N,) is the largest size of each entry; the last ones are the feature sets'."""
        super().__init__()
        features = head.features
        self.hidden, self.feature_sets = tuple(hidden), tuple(feature_sets)
        self.register_buffer("features", torch.as_tensor(features), persistent=False)
        self.seen = Seen(bound, head.advice)
        sizes = [self.seen.size, *self.hidden]
        self.trunk = nn.Sequential()
        for width, next_width in pairwise(sizes):
            self.trunk.extend([nn.Linear(width, next_width), nn.ReLU()])
        self.kinds = nn.Linear(features.shape[1], sizes[-1], bias=False)  # E
        self.free = nn.Parameter(torch.zeros(len(features), sizes[-1]))  # e
        self.worths = nn.ModuleDict({k: Worths(t, sizes[-1]) for k, t in head.things.items()})
        self.trust = Trust(head.advice, sizes[-1]) if head.advice.size else None
        self.value = nn.Linear(sizes[-1], 1)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Orthogonal layers, and a policy that begins almost uniform."""
        for layer in self.trunk:
            if isinstance(layer, nn.Linear):
                orthogonal(layer)
        nn.init.normal_(self.kinds.weight, std=0.01)
        for weights in self.worths.parameters():
            nn.init.normal_(weights, std=0.01)
        nn.init.orthogonal_(self.value.weight)
        nn.init.zeros_(self.value.bias)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Chances, Tensor]:
        """(B, N), (B, A) bool -> chances of the legal actions, values (B,)."""
        h = self.trunk(self.seen(observation))
        worths = [worth(observation, h) for worth in self.worths.values()]
        uses = [worth.get_buffer("uses") for worth in self.worths.values()]
        asked = torch.cat([h, *worths], -1)
        offered = torch.cat([self.kinds(self.features) + self.free, *uses], -1)
        followed = self.trust(observation, h) if self.trust else None
        return legal_chances(asked, offered, mask, followed), self.value(h).squeeze(-1)


def for_variant(
    variant: Variant, hidden: Sequence[int], feature_sets: Sequence[str] = ()
) -> Network:
    """A fresh network for this rule set."""
    seen = Features(variant, feature_sets).layout
    head = head_of(variant.actions, seen)
    return Network(largest(seen.low, seen.high), head, hidden, feature_sets)


def head_of(actions: Actions, seen: Layout) -> Head:
    """What a network that sees so much is told about the actions."""
    things = {
        kind: Things(uses, seen.describing(kind, uses.shape[2]))
        for kind, uses in actions.uses.items()
        if any(kind == described for described, _ in seen.blocks)
    }
    return Head(actions.features, things, seen.describing("action", actions.size))


def largest(low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """The largest size of each entry; 1 for those whose bounds are not declared."""
    size = np.maximum(np.abs(low), np.abs(high))
    return np.where(np.isfinite(size), size, 1)


class NetworkPolicy(Trained):
    """A network at play, computed by PyTorch where its weights are."""

    def __init__(self, variant: Variant, network: Network, name: str = "network") -> None:
        super().__init__(variant, network.feature_sets, name)
        self.network = network.eval()

    @torch.no_grad()
    def answer(
        self, observation: NDArray[np.float32], legal: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        device = self.network.features.device
        mask = torch.from_numpy(legal).to(device)
        chances, values = self.network(torch.from_numpy(observation).to(device), mask)
        return chances.table(mask).cpu().numpy(), values.cpu().numpy()
