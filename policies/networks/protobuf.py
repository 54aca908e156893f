"""Messages of protocol buffers, of which an ONNX file consists: written, read and compared.

A message is a list of fields, each with a number and a content.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

Content = Any  # an int, bytes, weights as an array of float32, or another message
Message = tuple[tuple[int, Content], ...]

VARINT, BYTES = 0, 2  # kinds of fields
NUMBERS = 1 << 64  # of a varint; a negative number counts from its end


class Unfit(ValueError):
    """The reason why a file is refused."""


# --- Writing


def encoded(message: Message) -> bytes:
    """The bytes of a message."""
    return b"".join(part for number, content in message for part in encoded_field(number, content))


def encoded_field(number: int, content: Content) -> tuple[bytes, ...]:
    if isinstance(content, int):
        return encoded_number(number << 3 | VARINT), encoded_number(content % NUMBERS)
    if isinstance(content, tuple):
        content = encoded(content)
    elif isinstance(content, np.ndarray):
        content = content.astype("<f4").tobytes()
    return encoded_number(number << 3 | BYTES), encoded_number(len(content)), content


def encoded_number(value: int) -> bytes:
    """A varint: seven bits a byte, the lowest first."""
    low, rest = value & 127, value >> 7
    return bytes([low]) if not rest else bytes([low | 128]) + encoded_number(rest)


# --- Reading


def fields(message: memoryview, most: int) -> list[tuple[int, Any]]:
    """The first fields of a message, at most `most` of them; Unfit if it is damaged.

    A field is its number and an int, or bytes that may be a message.
    """
    return list(islice(all_fields(message), most))


def all_fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    place = 0
    while place < len(message):
        key, place = number_at(message, place)
        value, place = number_at(message, place)
        if key & 7 == VARINT:
            yield key >> 3, value
        elif key & 7 == BYTES and value <= len(message) - place:
            yield key >> 3, message[place : place + value]
            place += value
        else:
            raise damaged()


def number_at(message: memoryview, place: int) -> tuple[int, int]:
    """The varint at a place, and the next place."""
    value = 0
    for i, byte in enumerate(message[place : place + 10]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, place + i + 1
    raise damaged()


def damaged() -> Unfit:
    return Unfit("it is not an ONNX file, or it is incomplete")


# --- Comparing


def compare(found: memoryview, expected: Message) -> None:
    """Raise Unfit unless the bytes hold the message; its floats may have any finite values."""
    parts = fields(found, len(expected) + 1)
    if [number for number, _ in parts] != [number for number, _ in expected]:
        raise different()
    for (_, value), (_, wanted) in zip(parts, expected, strict=True):
        if isinstance(value, int) or isinstance(wanted, int):
            if not isinstance(wanted, int) or value != wanted % NUMBERS:
                raise different()
        elif isinstance(wanted, tuple):
            compare(value, wanted)
        elif isinstance(wanted, np.ndarray):
            compare_floats(value, wanted.size)
        elif value != wanted:
            raise different()


def compare_floats(found: memoryview, size: int) -> None:
    if len(found) != 4 * size:
        raise different()
    if not np.isfinite(np.frombuffer(found, "<f4")).all():
        raise Unfit("its weights are not all finite")


def different() -> Unfit:
    return Unfit("its graph is not the one that hanamachi exports for its description")
