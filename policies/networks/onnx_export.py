"""Write networks as ONNX files, for programs without PyTorch.

The graph computes the network only; the caller computes the features of its feature sets.

The graph is written by hand, one node for each operation of `Network.forward`. PyTorch's own
exporters cannot trace the compiled loops over legal actions, and their output changes from version
to version, so a reader could not tell a network from something else.
"""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from hanamachi.errors import missing_extra
from hanamachi.policies.networks.description import description
from hanamachi.policies.networks.legal_softmax import ILLEGAL
from hanamachi.policies.networks.network import (
    ActionScoreGate,
    EntityScores,
    Network,
    NetworkPolicy,
)
from hanamachi.policies.networks.onnx_check import DESCRIPTION
from hanamachi.policies.networks.onnx_policy import MASK, OBSERVATION, PROBABILITIES, VALUE
from hanamachi.storage.files import replacing

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    raise missing_extra("onnx", "onnx") from error

IR, OPSET = 8, 17  # versions old enough for every current reader of ONNX
BATCH = "batch"  # of any size


def write_onnx(policy: NetworkPolicy, path: Path) -> None:
    """Write a network and its description; a failed write leaves no partial file."""
    graph = graph_of(policy.network, policy.features.layout.size)
    described = policy.variant, policy.network.hidden, policy.network.feature_sets
    model = helper.make_model(
        graph,
        ir_version=IR,
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="hanamachi",
        producer_version=version("hanamachi"),
    )
    text = description(*described, graph.SerializeToString())
    helper.set_model_props(model, {DESCRIPTION: text})
    with replacing(path) as file:
        file.write(model.SerializeToString())


class Writer:
    """Collects the nodes and weights of a graph in the order of computation."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []

    def __call__(self, operation: str, *inputs: Any, out: str = "", **attributes: Any) -> str:
        """Add a node whose inputs are names or weights; returns the name of its output."""
        names = [each if isinstance(each, str) else self.keep(each) for each in inputs]
        name = out or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, names, [name], **attributes))
        return name

    def keep(self, weights: Tensor | NDArray[Any] | Sequence[int]) -> str:
        """Add weights, or a constant of ints; returns its name."""
        values = weights.numpy(force=True) if isinstance(weights, Tensor) else np.asarray(weights)
        name = f"weights_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def linear(self, layer: nn.Linear, source: str) -> str:
        """Add a linear layer; returns the name of its output."""
        product = self("MatMul", source, layer.weight.T)
        return product if layer.bias is None else self("Add", product, layer.bias)


def graph_of(network: Network, size: int) -> onnx.GraphProto:
    """Observations with their features (B, size), masks (B, A) -> probabilities and values."""
    write, actions = Writer(), len(network.free)
    h = trunk(write, network)
    logits = write("MatMul", h, (network.kinds(network.features) + network.free).T)
    for scores in network.worths.values():
        logits = write("Add", logits, entity_scores(write, cast(EntityScores, scores), h))
    if network.trust:
        logits = write("Add", logits, gated_advice(write, network.trust, h))
    logits = write("Where", MASK, logits, np.float32(ILLEGAL))
    write("Softmax", logits, axis=-1, out=PROBABILITIES)
    write("Squeeze", write.linear(network.value, h), [1], out=VALUE)
    return helper.make_graph(
        write.nodes,
        "hanamachi",
        [port(OBSERVATION, [BATCH, size]), port(MASK, [BATCH, actions], TensorProto.BOOL)],
        [port(PROBABILITIES, [BATCH, actions]), port(VALUE, [BATCH])],
        write.weights,
    )


def port(name: str, shape: list[Any], type: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    """An input or output of the graph."""
    return helper.make_tensor_value_info(name, type, shape)


def trunk(write: Writer, network: Network) -> str:
    """The last hidden layer, (B, W)."""
    h = write("Gather", OBSERVATION, network.input_scaling.entries, axis=1)
    h = write("Mul", h, network.input_scaling.scale)
    for layer in network.trunk:
        h = write.linear(layer, h) if isinstance(layer, nn.Linear) else write("Relu", h)
    return h


def entity_scores(write: Writer, scores: EntityScores, h: str) -> str:
    """What entities add to the logits of the actions that use them, (B, A)."""
    entities, depth = scores.entries.shape
    described = write("Gather", OBSERVATION, scores.entries, axis=1)  # (B, H, D)
    described = write("Unsqueeze", described, [1])
    roles = write("Reshape", write.linear(scores.weights, h), [-1, scores.roles, 1, depth])
    each = write("ReduceSum", write("Mul", roles, described), [3], keepdims=0)  # (B, R, H)
    each = write("Reshape", each, [-1, scores.roles * entities])
    return write("MatMul", each, scores.uses.T)


def gated_advice(write: Writer, gate: ActionScoreGate, h: str) -> str:
    """What advice adds to the logits, (B, A)."""
    advice = write("Gather", OBSERVATION, gate.advice, axis=1)  # (B, A, D)
    gated = write("Mul", write("Unsqueeze", write.linear(gate.weights, h), [1]), advice)
    return write("ReduceSum", gated, [2], keepdims=0)
