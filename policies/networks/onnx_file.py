"""ONNX files as bytes: whether one holds what an export writes, and nothing else.

They may come from anywhere, and onnxruntime does what they say: it reads other files for weights,
walks loops, calls functions. So a file is read here first, and only a flat graph of a few
operations on weights that lie in the file itself is let through.

A file is a message of protocol buffers: fields, each a number and what it holds, which can be a
message in turn. The numbers are those of ONNX.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

DESCRIPTION = "hanamachi"  # the metadata that say what the graph is for
OPERATIONS = {  # all that a network is made of
    "Add", "Gather", "MatMul", "Mul", "ReduceSum", "Relu", "Reshape", "Softmax", "Squeeze",
    "Unsqueeze", "Where",
}  # fmt: skip

Fields = Mapping[int, Any]  # by number: what a message holds, or what each may be

VARINT, BYTES = 0, 2  # kinds of fields
GRAPH, METADATA = 7, 14  # of a file
NODE, WEIGHTS = 1, 5  # of a graph
OPERATION = 4  # of a node
TYPE, NAME, CONTENT = 2, 8, 9  # of weights
FLOAT, INT64 = 1, 7  # types of weights
KEY, VALUE = 1, 2  # of metadata

SHAPE: Fields = {1: {1: int, 2: bytes}}  # sizes, or names for them
PORT: Fields = {1: bytes, 2: {1: {1: int, 2: SHAPE}}}  # name and type of an input or output
ALLOWED: Fields = {
    1: int,  # version of the format
    2: bytes,  # who wrote it
    3: bytes,  # and with which version
    GRAPH: {
        NODE: {
            1: bytes,  # inputs
            2: bytes,  # outputs
            3: bytes,  # name
            OPERATION: bytes,
            5: {1: bytes, 3: int, 8: int, 20: int},  # attribute: name, value, values, type
        },
        2: bytes,  # name
        WEIGHTS: {1: int, TYPE: int, NAME: bytes, CONTENT: bytes},  # and their sizes
        11: PORT,
        12: PORT,
    },
    8: {1: bytes, 2: int},  # which operations are meant: domain, version
    METADATA: {KEY: bytes, VALUE: bytes},
}


class Unfit(ValueError):
    """Why a file is none of ours."""


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
    texts = [entry[VALUE] for entry in entries if entry.get(KEY) == DESCRIPTION.encode()]
    if len(graphs) != 1 or len(texts) != 1:
        raise Unfit("hanamachi export did not write it")
    for number, value in fields(graphs[0]):
        if number == NODE:
            check_operation(dict(fields(value)))
        elif number == WEIGHTS:
            check_weights(dict(fields(value)))
    return Contents(bytes(texts[0]), graphs[0])


def check_fields(message: memoryview, allowed: Fields) -> None:
    """Here and in all messages within."""
    for number, value in fields(message):
        if number not in allowed:
            raise Unfit("it holds more than a network, or keeps its weights in other files")
        if isinstance(value, int) != (allowed[number] is int):
            raise not_onnx()
        if isinstance(allowed[number], Mapping):
            check_fields(value, allowed[number])


def check_operation(node: Fields) -> None:
    if bytes(node.get(OPERATION, b"")).decode(errors="replace") not in OPERATIONS:
        raise Unfit("its graph has operations that no network of ours has")


def check_weights(weights: Fields) -> None:
    name = bytes(weights.get(NAME, b"")).decode(errors="replace")
    kind, content = weights.get(TYPE), bytes(weights.get(CONTENT, b""))
    if kind not in (FLOAT, INT64):
        raise Unfit(f"its weights {name!r} have another type")
    if len(content) % 4:
        raise Unfit(f"its weights {name!r} are not whole")
    if kind == FLOAT and not np.isfinite(np.frombuffer(content, "<f4")).all():
        raise Unfit(f"its weights {name!r} are not all finite")


# --- Protocol buffers


def fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The number of each field, and what it holds: an int, or bytes that may be a message."""
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
    """The number that begins at a place, seven bits a byte, and the place behind it."""
    value = 0
    for i, byte in enumerate(message[place : place + 10]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, place + i + 1
    raise not_onnx()


def not_onnx() -> Unfit:
    return Unfit("it is not an ONNX file, or not all of one")
