"""The network: observation and mask in, a distribution over the legal actions and a value out.

The action scores use what actions have in common: logit(a) = h . (E f(a) + e(a)). Here h is the
last hidden layer, f(a) the catalogue's features of action a, and e(a) a free embedding that starts
at zero. So what is learned about one action (offer two of a geisha's cards) transfers to similar
ones. Where actions use entities that the observation describes, such as slots of the hand, each
entity that an action uses in a role r adds h . R(r) c, where c is the part of the observation that
describes it: what is learned about a card holds in every slot. Advice on an action, d(a), adds
t(h) . d(a): the weight of the advice depends on the position, and the trunk does not read it.

Checkpoints name their tensors after the attributes of `Network` and its modules, so those names
never change: trunk, kinds, free, worths, trust, value, and `weights` within.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hanamachi.engine.game import Variant
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.canonical import (
    AS_SHOWN,
    CANONICAL,
    Canonical,
    Forms,
    canonical,
    forms_of,
)
from hanamachi.policies.networks.head import (
    Entities,
    Head,
    entry_bounds,
    head_of,
    input_scale,
    trunk_entries,
)
from hanamachi.policies.networks.legal_softmax import LegalDistribution, legal_softmax
from hanamachi.policies.networks.tables import Checkpoint, check_size, weight_shapes


def orthogonal(layer: nn.Linear) -> nn.Linear:
    """Initialise a layer that a ReLU follows, so that it preserves the size of its input."""
    nn.init.orthogonal_(layer.weight, 2**0.5)
    nn.init.zeros_(layer.bias)
    return layer


class EntityScores(nn.Module):
    """Scores the entities of one kind in each of their roles."""

    uses: Tensor
    entries: Tensor

    def __init__(self, entities: Entities, width: int) -> None:
        super().__init__()
        (_, self.roles, _), depth = entities.uses.shape, entities.entries.shape[1]
        self.register_buffer("uses", torch.as_tensor(entities.uses).flatten(1), persistent=False)
        self.register_buffer("entries", torch.as_tensor(entities.entries), persistent=False)
        outputs = self.roles * depth
        self.weights = nn.Linear(width, outputs, bias=False)  # R; names a tensor

    def forward(self, observation: Tensor, h: Tensor) -> Tensor:
        """(B, N), (B, W) -> the score of each entity in each role, (B, R * H)."""
        described = observation.index_select(1, self.entries.flatten())
        described = described.unflatten(1, self.entries.shape).unsqueeze(1)  # (B, 1, H, D)
        roles = self.weights(h).unflatten(1, (self.roles, -1)).unsqueeze(2)  # (B, R, 1, D)
        # no batched matrix product: its rounding depends on the place of a row in the batch
        return (roles * described).sum(-1).flatten(1)


class ActionScoreGate(nn.Module):
    """Gate on the advice logits, initialised near zero."""

    advice: Tensor

    def __init__(self, advice: NDArray[np.int64], width: int) -> None:
        super().__init__()
        self.register_buffer("advice", torch.as_tensor(advice), persistent=False)
        self.weights = nn.Linear(width, advice.shape[1])  # t; names a tensor
        nn.init.normal_(self.weights.weight, std=0.01)
        nn.init.zeros_(self.weights.bias)

    def forward(self, observation: Tensor, h: Tensor) -> Tensor:
        """(B, N), (B, W) -> the gated advice, which is added to the logits, (B, A)."""
        advice = observation.index_select(1, self.advice.flatten()).unflatten(1, self.advice.shape)
        return (self.weights(h).unsqueeze(1) * advice).sum(-1)


class InputScaling(nn.Module):
    """Scales the observation for a trunk, by `input_scale`, and leaves out the advice."""

    entries: Tensor
    scale: Tensor

    def __init__(self, bound: NDArray[Any], advice: NDArray[np.int64]) -> None:
        """`bound` (N,) is the largest magnitude of each entry; `advice` are the ones left out."""
        super().__init__()
        entries = trunk_entries(len(bound), advice)
        scale = torch.from_numpy(input_scale(bound[entries]))
        self.register_buffer("entries", torch.as_tensor(entries), persistent=False)
        self.register_buffer("scale", scale, persistent=False)
        self.size, self.whole = len(entries), len(entries) == len(bound)

    def forward(self, observation: Tensor) -> Tensor:
        """(B, N) -> (B, size)."""
        selected = observation if self.whole else observation.index_select(1, self.entries)
        return selected * self.scale


class CanonicalForms(nn.Module):
    """Shows decisions in their canonical forms."""

    keys: Tensor
    entries: Tensor
    actions: Tensor

    def __init__(self, forms: Forms) -> None:
        super().__init__()
        self.tables = forms
        for name, table in forms._asdict().items():
            self.register_buffer(name, torch.tensor(table), persistent=False)

    def forward(self, observation: Tensor, mask: Tensor) -> Canonical:
        """(B, N), (B, A) -> what a canonical network sees, as tensors."""
        by_loops = mask.device.type == "cpu" and not observation.requires_grad
        return (self.by_loops if by_loops else self.by_matrices)(observation, mask)

    def by_loops(self, observation: Tensor, mask: Tensor) -> Canonical:
        found = canonical(self.tables, observation.numpy(), mask.numpy())
        return Canonical(*map(torch.from_numpy, found))

    def by_matrices(self, observation: Tensor, mask: Tensor) -> Canonical:
        forms = (observation[:, : len(self.keys)] @ self.keys).argmax(1)
        observation = observation.gather(1, self.entries[forms])
        return Canonical(forms, observation, mask.gather(1, self.actions[forms]))

    def translated(self, seen: Canonical, chances: LegalDistribution) -> LegalDistribution:
        """The same distribution over the game's actions."""
        return chances._replace(actions=self.actions[seen.forms[chances.rows], chances.actions])


class Network(nn.Module):
    """Policy and value on one trunk of fully connected layers."""

    features: Tensor

    def __init__(
        self,
        bound: NDArray[Any],
        head: Head,
        hidden: Sequence[int],
        feature_sets: Sequence[str] = (),
        forms: Forms | None = None,
    ) -> None:
        """`bound` (N,) is the largest magnitude of each entry, those of feature sets last.

        With `forms`, the network sees symmetric positions in one form.

        UserError if the layers have more weights than a checkpoint can hold.
        """
        super().__init__()
        features = head.features
        self.hidden, self.feature_sets = tuple(hidden), tuple(feature_sets)
        self.register_buffer("features", torch.as_tensor(features), persistent=False)
        self.input_scaling = InputScaling(bound, head.advice)
        self.forms = CanonicalForms(forms) if forms else None
        check_size(weight_shapes(head, len(bound), self.hidden))
        sizes = [self.input_scaling.size, *self.hidden]
        width = sizes[-1]
        # checkpoints name their tensors after these attributes
        self.trunk = nn.Sequential()
        for size, next_size in pairwise(sizes):
            self.trunk.extend([nn.Linear(size, next_size), nn.ReLU()])
        self.kinds = nn.Linear(features.shape[1], width, bias=False)  # E
        self.free = nn.Parameter(torch.zeros(len(features), width))  # e
        entities = {k: EntityScores(t, width) for k, t in head.entities.items()}
        self.worths = nn.ModuleDict(entities)
        self.trust = ActionScoreGate(head.advice, width) if head.advice.size else None
        self.value = nn.Linear(width, 1)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise orthogonal layers and an almost uniform policy."""
        for layer in self.trunk:
            if isinstance(layer, nn.Linear):
                orthogonal(layer)
        nn.init.normal_(self.kinds.weight, std=0.01)
        for weights in self.worths.parameters():
            nn.init.normal_(weights, std=0.01)
        nn.init.orthogonal_(self.value.weight)
        nn.init.zeros_(self.value.bias)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[LegalDistribution, Tensor]:
        """(B, N), (B, A) bool -> the distribution over the legal actions, values (B,)."""
        if not self.forms:
            return self.evaluate_forms(observation, mask)
        seen = self.forms(observation, mask)
        chances, values = self.evaluate_forms(seen.observations, seen.masks)
        return self.forms.translated(seen, chances), values

    def evaluate_forms(self, observation: Tensor, mask: Tensor) -> tuple[LegalDistribution, Tensor]:
        """The same, for decisions that are in their canonical forms already."""
        h = self.trunk(self.input_scaling(observation))
        entity_scores = [scores(observation, h) for scores in self.worths.values()]
        uses = [scores.get_buffer("uses") for scores in self.worths.values()]
        queries = torch.cat([h, *entity_scores], -1)
        keys = torch.cat([self.kinds(self.features) + self.free, *uses], -1)
        bias = self.trust(observation, h) if self.trust else None
        return legal_softmax(queries, keys, mask, bias), self.value(h).squeeze(-1)


def for_variant(
    variant: Variant,
    hidden: Sequence[int],
    feature_sets: Sequence[str] = (),
    symmetries: str = AS_SHOWN,
) -> Network:
    """A network for this variant with random weights."""
    layout = Features(variant, feature_sets).layout
    head = head_of(variant.actions, layout)
    forms = forms_of(variant, layout, symmetries)
    return Network(entry_bounds(layout.low, layout.high), head, hidden, feature_sets, forms)


def checkpoint_of(network: Network, variant: Variant) -> Checkpoint:
    """What a checkpoint of the network holds: copies of its weights."""
    weights = {name: np.array(t.numpy(force=True)) for name, t in network.state_dict().items()}
    symmetries = CANONICAL if network.forms else AS_SHOWN
    return Checkpoint(variant, network.hidden, network.feature_sets, weights, symmetries)
