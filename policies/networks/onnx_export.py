"""Write networks as ONNX files, for programs without PyTorch.

The graph computes the network only; the caller computes the features of its feature sets.

PyTorch's own exporters cannot trace the compiled loops over legal actions, and their output changes
from version to version, so a reader could not tell a network from something else.
"""

from importlib.metadata import version
from pathlib import Path
from typing import cast

from torch import Tensor, nn

from hanamachi.policies.networks.description import description
from hanamachi.policies.networks.network import EntityScores, Network, NetworkPolicy
from hanamachi.policies.networks.onnx_graph import (
    EntityTables,
    Floats,
    GateTables,
    Linear,
    Tables,
    graph_of,
    model,
)
from hanamachi.policies.networks.protobuf import encoded
from hanamachi.storage.files import replacing


def write_onnx(policy: NetworkPolicy, path: Path) -> None:
    """Write a network and its description; a failed write leaves no partial file."""
    network = policy.network
    graph = encoded(graph_of(tables_of(network), policy.features.layout.size))
    text = description(policy.variant, network.hidden, network.feature_sets, graph)
    with replacing(path) as file:
        file.write(encoded(model(graph, version("hanamachi"), text.encode())))


def tables_of(network: Network) -> Tables:
    """All arrays of a network."""
    scaling, gate = network.input_scaling, network.trust
    return Tables(
        scaling.entries.numpy(force=True),
        floats(scaling.scale),
        [linear(layer) for layer in network.trunk if isinstance(layer, nn.Linear)],
        floats((network.kinds(network.features) + network.free).T),
        [entity_tables(cast(EntityScores, scores)) for scores in network.worths.values()],
        GateTables(gate.advice.numpy(force=True), linear(gate.weights)) if gate else None,
        linear(network.value),
    )


def entity_tables(scores: EntityScores) -> EntityTables:
    entries = scores.entries.numpy(force=True)
    return EntityTables(entries, floats(scores.uses.T), linear(scores.weights))


def linear(layer: nn.Linear) -> Linear:
    return Linear(floats(layer.weight.T), None if layer.bias is None else floats(layer.bias))


def floats(weights: Tensor) -> Floats:
    array: Floats = weights.numpy(force=True)
    return array
