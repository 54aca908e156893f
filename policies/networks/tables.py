"""The weights of a checkpoint, and the arrays that ONNX files and compiled play make of them.

Notation: A actions, N entries of an observation with its features, I of them for the trunk, W units
of the last hidden layer, H entities with D entries each in R roles, F features of an action.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.arrays import Float32s
from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout
from hanamachi.errors import UserError
from hanamachi.limits import WEIGHTS_BYTES
from hanamachi.policies.networks.canonical import AS_SHOWN, Forms, forms_of
from hanamachi.policies.networks.head import Head, entry_bounds, head_of, input_scale, trunk_entries

Shapes = dict[str, tuple[int, ...]]


class Checkpoint(NamedTuple):
    """What a checkpoint holds."""

    variant: Variant
    hidden: tuple[int, ...]  # units of each hidden layer
    feature_sets: tuple[str, ...]
    weights: Mapping[str, Float32s]  # by name
    symmetries: str = AS_SHOWN  # or CANONICAL: the network sees symmetric positions in one form


class Linear(NamedTuple):
    """A linear layer."""

    weight: Float32s  # (inputs, outputs)
    bias: Float32s | None  # (outputs,)


class EntityTables(NamedTuple):
    """What scores the entities of one kind."""

    entries: NDArray[np.int64]  # (H, D)
    uses: Float32s  # (R * H, A)
    linear: Linear  # (W, R * D)


class GateTables(NamedTuple):
    """What weighs the advice."""

    entries: NDArray[np.int64]  # (A, D)
    linear: Linear  # (W, D)


class Tables(NamedTuple):
    """All arrays of a network."""

    entries: NDArray[np.int64]  # (I,)
    scale: Float32s  # (I,)
    trunk: Sequence[Linear]
    keys: Float32s  # (W, A)
    entities: Sequence[EntityTables]
    gate: GateTables | None  # None without advice
    value: Linear  # (W, 1)
    forms: Forms | None  # None if the network sees each position as it is


def weight_shapes(head: Head, size: int, hidden: Sequence[int]) -> Shapes:
    """The shapes of all weights of a network, by the names that checkpoints give them.

    `size` is that of an observation with its features.
    """
    (actions, features), width = head.features.shape, hidden[-1]
    shapes: Shapes = {"free": (actions, width), "kinds.weight": (width, features)}
    for n, (inputs, outputs) in enumerate(pairwise([size - head.advice.size, *hidden])):
        shapes |= {f"trunk.{2 * n}.weight": (outputs, inputs), f"trunk.{2 * n}.bias": (outputs,)}
    for kind, entities in head.entities.items():
        outputs = entities.uses.shape[1] * entities.entries.shape[1]
        shapes[f"worths.{kind}.weights.weight"] = (outputs, width)
    if head.advice.size:
        depth = head.advice.shape[1]
        shapes |= {"trust.weights.weight": (depth, width), "trust.weights.bias": (depth,)}
    return shapes | {"value.weight": (1, width), "value.bias": (1,)}


def zeros(shapes: Shapes) -> dict[str, Float32s]:
    """Weights of these shapes that take no memory."""
    return {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes.items()}


def size_of(shapes: Shapes) -> int:
    """The bytes of float32 weights of these shapes."""
    return 4 * sum(map(prod, shapes.values()))


def check_size(shapes: Shapes) -> None:
    """UserError if weights of these shapes are more than a checkpoint can hold."""
    size = size_of(shapes)
    if size > WEIGHTS_BYTES:
        raise UserError(
            f"a network may have {WEIGHTS_BYTES >> 20} MiB of weights, and network.hidden makes "
            f"{size / 2**20:.1f} MiB: give fewer or smaller layers"
        )


def tables_of(checkpoint: Checkpoint, layout: Layout) -> Tables:
    """The arrays of a network whose observations, with their features, have this layout."""
    variant, weights = checkpoint.variant, checkpoint.weights
    head, bounds = head_of(variant.actions, layout), entry_bounds(layout.low, layout.high)
    entries = trunk_entries(len(bounds), head.advice)
    gate = GateTables(head.advice, linear("trust.weights", weights)) if head.advice.size else None
    return Tables(
        entries,
        input_scale(bounds[entries]),
        [linear(f"trunk.{2 * n}", weights) for n in range(len(checkpoint.hidden))],
        weights["kinds.weight"] @ head.features.T + weights["free"].T,
        [entity_tables(head, kind, weights) for kind in head.entities],
        gate,
        linear("value", weights),
        forms_of(variant, layout, checkpoint.symmetries),
    )


def entity_tables(head: Head, kind: str, weights: Mapping[str, Float32s]) -> EntityTables:
    uses, entries = head.entities[kind]
    columns = np.ascontiguousarray(uses.reshape(len(uses), -1).T, np.float32)
    return EntityTables(entries, columns, linear(f"worths.{kind}.weights", weights))


def linear(name: str, weights: Mapping[str, Float32s]) -> Linear:
    return Linear(weights[f"{name}.weight"].T, weights.get(f"{name}.bias"))
