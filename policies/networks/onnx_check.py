"""Check that an ONNX file holds what an export writes, and nothing else.

ONNX files may come from untrusted sources, and onnxruntime does what they say: it reads other files
for weights, runs loops and calls functions. So this module reads the bytes of a file first, and
accepts only a flat graph of a few operations, with all weights in the file itself.

A file is a message of protocol buffers: a list of fields, each with a number and a content, which
can be another message. The numbers are defined by ONNX.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

DESCRIPTION = "hanamachi"  # the key of our metadata
OPERATIONS = {  # all that our networks use
    "Add", "Gather", "MatMul", "Mul", "ReduceSum", "Relu", "Reshape", "Softmax", "Squeeze",
    "Unsqueeze", "Where",
}  # fmt: skip

Fields = Mapping[int, Any]  # by number: the content of a message, or the type of each field

VARINT, BYTES = 0, 2  # kinds of fields
GRAPH, METADATA = 7, 14  # of a file
NODE, WEIGHTS = 1, 5  # of a graph
OPERATION = 4  # of a node
TYPE, NAME, CONTENT = 2, 8, 9  # of weights
FLOAT, INT64 = 1, 7  # types of weights
KEY, VALUE = 1, 2  # of an entry of metadata

SHAPE: Fields = {1: {1: int, 2: bytes}}  # sizes, or names for them
PORT: Fields = {1: bytes, 2: {1: {1: int, 2: SHAPE}}}  # name and type of an input or output
ALLOWED: Fields = {
    1: int,  # version of the format
    2: bytes,  # the program that wrote it
    3: bytes,  # its version
    GRAPH: {
        NODE: {
            1: bytes,  # inputs
            2: bytes,  # outputs
            3: bytes,  # name
            OPERATION: bytes,
            5: {1: bytes, 3: int, 8: int, 20: int},  # attribute: name, value, values, type
        },
        2: bytes,  # name
        WEIGHTS: {1: int, TYPE: int, NAME: bytes, CONTENT: bytes},  # 1 is the shape
        11: PORT,
        12: PORT,
    },
    8: {1: bytes, 2: int},  # set of operations: domain, version
    METADATA: {KEY: bytes, VALUE: bytes},
}


class Unfit(ValueError):
    """The reason why a file is refused."""


class Contents(NamedTuple):
    """The content of a file."""

    description: bytes
    graph: memoryview


def contents(file: bytes) -> Contents:
    """The content of a file; raises Unfit if it is damaged or holds anything not allowed."""
    message = memoryview(file)
    check_fields(message, ALLOWED)
    graphs = [value for number, value in fields(message) if number == GRAPH]
    entries = [dict(fields(value)) for number, value in fields(message) if number == METADATA]
    texts = [entry[VALUE] for entry in entries if entry.get(KEY) == DESCRIPTION.encode()]
    if len(graphs) != 1 or len(texts) != 1:
        raise Unfit("it was not written by hanamachi export")
    for number, value in fields(graphs[0]):
        if number == NODE:
            check_operation(dict(fields(value)))
        elif number == WEIGHTS:
            check_weights(dict(fields(value)))
    return Contents(bytes(texts[0]), graphs[0])


def check_fields(message: memoryview, allowed: Fields) -> None:
    """Raise Unfit unless the message and all messages in it hold allowed fields only."""
    for number, value in fields(message):
        if number not in allowed:
            raise Unfit("it holds more than a network, or its weights are in other files")
        if isinstance(value, int) != (allowed[number] is int):
            raise not_onnx()
        if isinstance(allowed[number], Mapping):
            check_fields(value, allowed[number])


def check_operation(node: Fields) -> None:
    if bytes(node.get(OPERATION, b"")).decode(errors="replace") not in OPERATIONS:
        raise Unfit("its graph has an operation that hanamachi never exports")


def check_weights(weights: Fields) -> None:
    name = bytes(weights.get(NAME, b"")).decode(errors="replace")
    kind, content = weights.get(TYPE), bytes(weights.get(CONTENT, b""))
    if kind not in (FLOAT, INT64):
        raise Unfit(f"its weights {name!r} have another type")
    if len(content) % 4:
        raise Unfit(f"its weights {name!r} are incomplete")
    if kind == FLOAT and not np.isfinite(np.frombuffer(content, "<f4")).all():
        raise Unfit(f"its weights {name!r} are not all finite")


# --- Protocol buffers


def fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The number and content of each field: an int, or bytes that may be a message."""
    place = 0
    while place < len(message):
        key, place = varint(message, place)
        value, place = varint(message, place)
        if key & 7 == VARINT:
            yield key >> 3, value
        elif key & 7 == BYTES and value <= len(message) - place:
            yield key >> 3, message[place : place + value]
            place += value
        else:
            raise not_onnx()


def varint(message: memoryview, place: int) -> tuple[int, int]:
    """Decode the number at a place, seven bits a byte; returns it and the next place."""
    value = 0
    for i, byte in enumerate(message[place : place + 10]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, place + i + 1
    raise not_onnx()


def not_onnx() -> Unfit:
    return Unfit("it is not an ONNX file, or it is incomplete")
