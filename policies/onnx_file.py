"""ONNX files as their bytes: whether one holds what an export writes, and nothing else.

They come from anywhere, and onnxruntime would follow what they say: read other files for weights,
walk loops, run functions. So a file is read here first, and only a flat graph of a few operations
on weights that lie in the file itself is let through.

A file is a message of protocol buffers: fields, each a number and what it holds, which is a message
in turn or not. The numbers are those of ONNX, from its onnx.proto.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

DESCRIPTION = "hanamachi"  # the metadata that describes what the graph is for
OPERATIONS = {  # all that a network is made of
    "Add", "Gather", "MatMul", "Mul", "ReduceSum", "Relu", "Reshape", "Softmax", "Squeeze",
    "Unsqueeze", "Where",
}  # fmt: skip
NUMBER, BYTES = 0, 2  # kinds of fields
FLOAT, INT64 = 1, 7  # types of weights

Schema = Mapping[int, Any]  # the fields that a message may have, and the schema of each
LEAF: Schema = {}  # a field that is no message

GRAPH, OPSET, METADATA = 7, 8, 14
NODE, WEIGHTS = 1, 5  # of a graph
OPERATION, ATTRIBUTE = 4, 5  # of a node
TYPE, NAME, CONTENT = 2, 8, 9  # of weights
KEY, VALUE = 1, 2  # of metadata

SHAPE: Schema = {1: {1: LEAF, 2: LEAF}}  # sizes, or their names
PORT: Schema = {1: LEAF, 2: {1: {1: LEAF, 2: SHAPE}}}  # name and type of an input or output
ALLOWED: Schema = {  # of a file
    1: LEAF,  # version of the format
    2: LEAF,  # who wrote it
    3: LEAF,  # and in which version
    GRAPH: {
        NODE: {
            1: LEAF,  # inputs
            2: LEAF,  # outputs
            3: LEAF,  # name
            OPERATION: LEAF,
            ATTRIBUTE: {1: LEAF, 3: LEAF, 8: LEAF, 20: LEAF},  # name, number, numbers, type
        },
        2: LEAF,  # name
        WEIGHTS: {1: LEAF, TYPE: LEAF, NAME: LEAF, CONTENT: LEAF},  # and sizes
        11: PORT,
        12: PORT,
    },
    OPSET: {1: LEAF, 2: LEAF},
    METADATA: {KEY: LEAF, VALUE: LEAF},
}


class Unfit(ValueError):
    """Why a file is not one of ours."""


class Contents(NamedTuple):
    """What a file holds."""

    description: bytes
    graph: memoryview


def contents(file: bytes) -> Contents:
    """Raises Unfit unless the file is whole and holds nothing that is not allowed."""
    message = memoryview(file)
    check_fields(message, ALLOWED)
    graphs = [value for number, value in fields(message) if number == GRAPH]
    entries = [dict(fields(value)) for number, value in fields(message) if number == METADATA]
    descriptions = [bytes(e[VALUE]) for e in entries if e.get(KEY) == DESCRIPTION.encode()]
    if len(graphs) != 1 or len(descriptions) != 1:
        raise Unfit("hanamachi export did not write it")
    for number, value in fields(graphs[0]):
        if number == NODE:
            check_operation(dict(fields(value)))
        elif number == WEIGHTS:
            check_weights(dict(fields(value)))
    return Contents(descriptions[0], graphs[0])


def check_fields(message: memoryview, allowed: Schema) -> None:
    for number, value in fields(message):
        if number not in allowed:
            raise Unfit("it holds more than a network, or keeps its weights in other files")
        if allowed[number]:
            if isinstance(value, int):
                raise Unfit(NOT_ONNX)
            check_fields(value, allowed[number])


def check_operation(node: Mapping[int, Any]) -> None:
    operation = spelled(node.get(OPERATION, b""))
    if operation not in OPERATIONS:
        raise Unfit(f"no network of ours has the operation {operation!r}")


def check_weights(tensor: Mapping[int, Any]) -> None:
    name, content = spelled(tensor.get(NAME, b"")), tensor.get(CONTENT, b"")
    if tensor.get(TYPE) not in (FLOAT, INT64):
        raise Unfit(f"its weights {name!r} have another type")
    if tensor[TYPE] == FLOAT and not (
        len(content) % 4 == 0 and np.isfinite(np.frombuffer(content, "<f4")).all()
    ):
        raise Unfit(f"its weights {name!r} are not all finite")


def spelled(text: Any) -> str:
    return bytes(text).decode(errors="replace") if not isinstance(text, int) else str(text)


# --- Protocol buffers

NOT_ONNX = "it is not an ONNX file, or not all of one"


def fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The number of each field, and what it holds: an int, or bytes that may be a message."""
    place = 0
    while place < len(message):
        key, place = varint(message, place)
        value, place = varint(message, place)
        if key & 7 == NUMBER:
            yield key >> 3, value
        elif key & 7 == BYTES and value <= len(message) - place:
            yield key >> 3, message[place : place + value]
            place += value
        else:
            raise Unfit(NOT_ONNX)


def varint(message: memoryview, place: int) -> tuple[int, int]:
    """The number that begins at a place, seven bits a byte, and the place behind it."""
    value = 0
    for shift, byte in zip(range(0, 70, 7), message[place : place + 10], strict=False):
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place + shift // 7 + 1
    raise Unfit(NOT_ONNX)
