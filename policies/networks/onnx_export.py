"""Networks as ONNX files, for programs without PyTorch; what its features add is worked out here.

The graph is written by hand, operation by operation as `Network.forward` computes it: PyTorch's
own exporters cannot trace the compiled loops over legal actions, and what they write changes from
version to version, so that a reader could not tell a network from something else.
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
from hanamachi.policies.networks.legal import ILLEGAL
from hanamachi.policies.networks.network import Network, NetworkPolicy, Trust, Worths
from hanamachi.policies.networks.onnx_file import DESCRIPTION
from hanamachi.policies.networks.onnx_policy import MASK, OBSERVATION, PROBABILITIES, VALUE
from hanamachi.storage.files import replacing

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    raise missing_extra("onnx", "onnx") from error

IR, OPSET = 8, 17  # old enough for whatever reads ONNX today
BATCH = "batch"  # of any size


def write_onnx(policy: NetworkPolicy, path: Path) -> None:
    """Write a network with its description, all of it or nothing."""
    graph = graph_of(policy.network, policy.features.layout.size)
    about = policy.variant, policy.network.hidden, policy.network.feature_sets
    model = helper.make_model(
        graph,
        ir_version=IR,
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="hanamachi",
        producer_version=version("hanamachi"),
    )
    text = description(*about, graph.SerializeToString())
    helper.set_model_props(model, {DESCRIPTION: text})
    with replacing(path) as file:
        file.write(model.SerializeToString())


class Writer:
    """The nodes and weights of a graph, in the order in which they are computed."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []

    def __call__(self, operation: str, *inputs: Any, out: str = "", **attributes: Any) -> str:
        """Another node, whose inputs are names or weights; returns the name of what it gives."""
        given = [each if isinstance(each, str) else self.keep(each) for each in inputs]
        name = out or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, given, [name], **attributes))
        return name

    def keep(self, weights: Tensor | NDArray[Any] | Sequence[int]) -> str:
        """Weights or, as ints, sizes and places; returns their name."""
        values = weights.numpy(force=True) if isinstance(weights, Tensor) else np.asarray(weights)
        name = f"weights_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def linear(self, layer: nn.Linear, given: str) -> str:
        product = self("MatMul", given, layer.weight.T)
        return product if layer.bias is None else self("Add", product, layer.bias)


def graph_of(network: Network, size: int) -> onnx.GraphProto:
    """Observations with their features (B, size), masks (B, A) -> probabilities and values."""
    write, actions = Writer(), len(network.free)
    h = trunk(write, network)
    logits = write("MatMul", h, (network.kinds(network.features) + network.free).T)
    for worths in network.worths.values():
        logits = write("Add", logits, worth(write, cast(Worths, worths), h))
    if network.trust:
        logits = write("Add", logits, followed(write, network.trust, h))
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
    return helper.make_tensor_value_info(name, type, shape)


def trunk(write: Writer, network: Network) -> str:
    """What the last hidden layer says, (B, W)."""
    h = write("Gather", OBSERVATION, network.seen.entries, axis=1)
    h = write("Mul", h, network.seen.scale)
    for layer in network.trunk:
        h = write.linear(layer, h) if isinstance(layer, nn.Linear) else write("Relu", h)
    return h


def worth(write: Writer, worths: Worths, h: str) -> str:
    """What things add to the logits of the actions that use them, (B, A)."""
    things, depth = worths.entries.shape
    described = write("Gather", OBSERVATION, worths.entries, axis=1)  # (B, H, D)
    described = write("Unsqueeze", described, [1])
    roles = write("Reshape", write.linear(worths.weights, h), [-1, worths.roles, 1, depth])
    each = write("ReduceSum", write("Mul", roles, described), [3], keepdims=0)  # (B, R, H)
    each = write("Reshape", each, [-1, worths.roles * things])
    return write("MatMul", each, worths.uses.T)


def followed(write: Writer, trust: Trust, h: str) -> str:
    """What advice adds to the logits, (B, A)."""
    given = write("Gather", OBSERVATION, trust.advice, axis=1)  # (B, A, D)
    weighed = write("Mul", write("Unsqueeze", write.linear(trust.weights, h), [1]), given)
    return write("ReduceSum", weighed, [2], keepdims=0)
