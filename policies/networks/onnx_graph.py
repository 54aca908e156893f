"""The graph of a network as an ONNX file holds it: what an export writes, and all that is loaded.

The graph has one node for each operation of `Network.forward`. It follows from the variant and the
layers of a network, except for the values of its weights. So loading writes the graph again, with
zeros for weights, and compares.

Notation: A actions, N entries of an observation with its features, I of them for the trunk, W units
of the last hidden layer, H entities with D entries each in R roles.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.policies.networks.canonical import Forms
from hanamachi.policies.networks.head import ILLEGAL
from hanamachi.policies.networks.onnx_fields import (
    AttributeProto,
    Dimension,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    StringStringEntryProto,
    TensorProto,
    TensorShapeProto,
    TensorType,
    TypeProto,
    ValueInfoProto,
)
from hanamachi.policies.networks.protobuf import Message
from hanamachi.policies.networks.tables import EntityTables, GateTables, Linear, Tables

DESCRIPTION = "hanamachi"  # the key of our metadata
OBSERVATION, MASK = "observation", "mask"  # inputs: (B, N) float32, (B, A) bool
PROBABILITIES, VALUE = "probabilities", "value"  # outputs: (B, A) and (B,) float32
BATCH = "batch"  # of any size
IR, OPSET = 8, 17  # versions old enough for every current reader of ONNX
FLOAT, INT64, BOOL = 1, 7, 9  # types of arrays
INT = 2  # type of an attribute
FIELDS = 6  # of a file


# --- The graph


class Writer:
    """Collects the nodes and weights of a graph in the order of computation."""

    def __init__(self) -> None:
        self.nodes: list[Message] = []
        self.weights: list[Message] = []

    def __call__(self, operation: str, *inputs: Any, out: str = "", **attributes: int) -> str:
        """Add a node whose inputs are names or arrays; returns the name of its output."""
        names = [each if isinstance(each, str) else self.keep(each) for each in inputs]
        name = out or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(
            (
                *((NodeProto.INPUT, text(each)) for each in names),
                (NodeProto.OUTPUT, text(name)),
                (NodeProto.OP_TYPE, text(operation)),
                *((NodeProto.ATTRIBUTE, attribute(*each)) for each in attributes.items()),
            )
        )
        return name

    def keep(self, array: NDArray[Any] | Sequence[int]) -> str:
        """Add weights, or a constant of ints; returns its name."""
        values, name = np.asarray(array), f"weights_{len(self.weights)}"
        floats = values.dtype == np.float32
        content = values if floats else values.astype(np.int64).tobytes()
        self.weights.append(
            (
                *((TensorProto.DIMS, size) for size in values.shape),
                (TensorProto.DATA_TYPE, FLOAT if floats else INT64),
                (TensorProto.NAME, text(name)),
                (TensorProto.RAW_DATA, content),
            )
        )
        return name

    def linear(self, layer: Linear, source: str) -> str:
        """Add a linear layer; returns the name of its output."""
        product = self("MatMul", source, layer.weight)
        return product if layer.bias is None else self("Add", product, layer.bias)


def graph_of(tables: Tables, size: int) -> Message:
    """Observations with their features (B, size), masks (B, A) -> probabilities and values."""
    write, actions = Writer(), tables.keys.shape[1]
    if tables.forms:
        form = chosen_form(write, tables.forms)
        seen, legal = in_form(write, tables.forms, form)
        h = trunk(write, tables, seen)
        probabilities = softmax(write, logits(write, tables, seen, h), legal)
        translate(write, tables.forms, form, probabilities)
    else:
        h = trunk(write, tables, OBSERVATION)
        softmax(write, logits(write, tables, OBSERVATION, h), MASK, out=PROBABILITIES)
    write("Squeeze", write.linear(tables.value, h), [1], out=VALUE)
    inputs = port(OBSERVATION, FLOAT, BATCH, size), port(MASK, BOOL, BATCH, actions)
    outputs = port(PROBABILITIES, FLOAT, BATCH, actions), port(VALUE, FLOAT, BATCH)
    return (
        *((GraphProto.NODE, node) for node in write.nodes),
        (GraphProto.NAME, text("hanamachi")),
        *((GraphProto.INITIALIZER, weights) for weights in write.weights),
        *((GraphProto.INPUT, each) for each in inputs),
        *((GraphProto.OUTPUT, each) for each in outputs),
    )


def chosen_form(write: Writer, forms: Forms) -> str:
    """The number of the form with the largest key, the first of these, (B,)."""
    observed = write("Gather", OBSERVATION, np.arange(len(forms.keys)), axis=1)
    return write("ArgMax", write("MatMul", observed, forms.keys), axis=1, keepdims=0)


def in_form(write: Writer, forms: Forms, form: str) -> tuple[str, str]:
    """What these forms show: observations (B, N) and masks (B, A)."""
    entries = write("Gather", forms.entries, form, axis=0)
    actions = write("Gather", forms.actions, form, axis=0)
    observation = write("GatherElements", OBSERVATION, entries, axis=1)
    return observation, write("GatherElements", MASK, actions, axis=1)


def translate(write: Writer, forms: Forms, form: str, probabilities: str) -> None:
    """Give the actions that these forms show as the game's."""
    shown_as = np.argsort(forms.actions, axis=1)
    places = write("Gather", shown_as, form, axis=0)
    write("GatherElements", probabilities, places, axis=1, out=PROBABILITIES)


def trunk(write: Writer, tables: Tables, observation: str) -> str:
    """The last hidden layer, (B, W)."""
    h = write("Gather", observation, tables.entries, axis=1)
    h = write("Mul", h, tables.scale)
    for layer in tables.trunk:
        h = write("Relu", write.linear(layer, h))
    return h


def logits(write: Writer, tables: Tables, observation: str, h: str) -> str:
    """The logits of all actions, (B, A)."""
    found = write("MatMul", h, tables.keys)
    for entities in tables.entities:
        found = write("Add", found, entity_scores(write, entities, observation, h))
    if tables.gate:
        found = write("Add", found, gated_advice(write, tables.gate, observation, h))
    return found


def softmax(write: Writer, logits: str, mask: str, out: str = "") -> str:
    """The probabilities of the actions, 0 where they are illegal, (B, A)."""
    legal = write("Where", mask, logits, np.array([ILLEGAL], np.float32))
    return write("Softmax", legal, axis=-1, out=out)


def entity_scores(write: Writer, tables: EntityTables, observation: str, h: str) -> str:
    """What entities add to the logits of the actions that use them, (B, A)."""
    (entities, depth), roles_of_all = tables.entries.shape, tables.uses.shape[0]
    described = write("Gather", observation, tables.entries, axis=1)  # (B, H, D)
    described = write("Unsqueeze", described, [1])
    roles = [-1, roles_of_all // entities, 1, depth]
    roles_described = write("Reshape", write.linear(tables.linear, h), roles)
    each = write("ReduceSum", write("Mul", roles_described, described), [3], keepdims=0)
    each = write("Reshape", each, [-1, roles_of_all])  # from (B, R, H)
    return write("MatMul", each, tables.uses)


def gated_advice(write: Writer, gate: GateTables, observation: str, h: str) -> str:
    """What advice adds to the logits, (B, A)."""
    advice = write("Gather", observation, gate.entries, axis=1)  # (B, A, D)
    gated = write("Mul", write("Unsqueeze", write.linear(gate.linear, h), [1]), advice)
    return write("ReduceSum", gated, [2], keepdims=0)


def attribute(name: str, value: int) -> Message:
    """An attribute of a node."""
    return (AttributeProto.NAME, text(name)), (AttributeProto.I, value), (AttributeProto.TYPE, INT)


def port(name: str, type: int, *shape: str | int) -> Message:
    """An input or output of the graph; a size can have a name instead."""
    sizes = tuple((TensorShapeProto.DIM, (dimension(size),)) for size in shape)
    array = (TensorType.ELEM_TYPE, type), (TensorType.SHAPE, sizes)
    of_array = ((TypeProto.TENSOR_TYPE, array),)
    return (ValueInfoProto.NAME, text(name)), (ValueInfoProto.TYPE, of_array)


def dimension(size: str | int) -> tuple[int, Any]:
    if isinstance(size, str):
        return Dimension.DIM_PARAM, text(size)
    return Dimension.DIM_VALUE, size


def model(graph: Any, version: str, description: bytes) -> Message:
    """A whole file, written by this version of the package."""
    entry = StringStringEntryProto
    operations = (OperatorSetIdProto.DOMAIN, b""), (OperatorSetIdProto.VERSION, OPSET)
    metadata = (entry.KEY, text(DESCRIPTION)), (entry.VALUE, description)
    return (
        (ModelProto.IR_VERSION, IR),
        (ModelProto.PRODUCER_NAME, text("hanamachi")),
        (ModelProto.PRODUCER_VERSION, text(version)),
        (ModelProto.GRAPH, graph),
        (ModelProto.OPSET_IMPORT, operations),
        (ModelProto.METADATA_PROPS, metadata),
    )


def text(name: str) -> bytes:
    return name.encode()
