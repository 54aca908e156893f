"""Damage by structure, to plain data such as JSON and YAML hold, and by bits, to any bytes."""

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

Place = tuple[Any, Any]  # a list or dict, and a key in it

DEEP = 50_000  # calls within each other
SIZES = (7, 8, 15, 16, 31, 32, 53, 63, 64, 127)  # in bits, near which numbers overflow
ODD_NUMBERS = (0, -1, 1, 0.5, -0.0, 5e-324, 1e-45, 1e39, 1e300, float("inf"), float("nan"), 10**300)
ODD_TEXTS = (
    "", "x", " ", "\n\x1b[31m", "\x00", "\ud800", "\u202e", "k" * 5_000, "../x", "1e3", "0x10",
    "true", "null", "os:system", "[", "-" * 400,
)  # fmt: skip


def nested(rng: Random) -> Any:
    """Lists and objects within each other."""
    value: Any = rng.choice([[], {}, 1])
    for _ in range(rng.choice([1, 2, 40, 150, 900])):
        value = [value] if rng.random() < 0.5 else {"cards": value}
    return value


def odd(rng: Random) -> Any:
    """A value that hardly fits anywhere."""
    return rng.choice(
        [
            lambda: rng.choice(ODD_NUMBERS),
            lambda: rng.choice(ODD_TEXTS),
            lambda: rng.choice([None, True, False, [], {}, [[]], {"": 1}]),
            lambda: rng.choice([-1, 1]) * (1 << rng.choice(SIZES)) + rng.randrange(-1, 2),
            lambda: nested(rng),
            lambda: [rng.randrange(9)] * rng.choice([2, 100, 20_000]),
        ]
    )()


def near(rng: Random, value: Any) -> Any:
    """A value of the same type, not far away."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, 2 * value, -value, value + rng.randrange(10)])
    if isinstance(value, float):
        return value * rng.choice([-1, 0.5, 2, 1e3, 1 + 1e-9])
    if isinstance(value, str) and value:
        at = rng.randrange(len(value))
        return (
            value[:at]
            + rng.choice(["", value[at] * 2, chr(rng.randrange(32, 127))])
            + value[at + 1 :]
        )
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return rng.choice([value[:at], [*value, value[at]], value[::-1], value[at:] + value[:at]])
    return odd(rng)


def places(data: Any, depth: int = 50) -> list[Place]:
    """Every place in the data down to a depth; of a long list, a few."""
    if not isinstance(data, dict | list) or not depth:
        return []
    keys = list(data) if isinstance(data, dict) else list(range(len(data)))
    found = [(data, key) for key in keys]
    return found + [place for key in keys[:40] for place in places(data[key], depth - 1)]


# --- Structure


def move_a_value(rng: Random, container: Any, key: Any, data: Any) -> None:
    container[key] = near(rng, container[key])


def put_an_odd_value(rng: Random, container: Any, key: Any, data: Any) -> None:
    container[key] = odd(rng)


def leave_out(rng: Random, container: Any, key: Any, data: Any) -> None:
    del container[key]


def add_a_key(rng: Random, container: Any, key: Any, data: Any) -> None:
    if isinstance(container, dict):
        container[rng.choice([f"{key}s", rng.choice(ODD_TEXTS)])] = container[key]
    else:
        container.insert(key, container[key])


def exchange_values(rng: Random, container: Any, key: Any, data: Any) -> None:
    other, its_key = rng.choice(places(data))
    container[key], other[its_key] = copied(other[its_key]), copied(container[key])


def wrap(rng: Random, container: Any, key: Any, data: Any) -> None:
    container[key] = rng.choice([[container[key]], {"x": container[key]}, str(container[key])])


STRUCTURAL: tuple[Callable[..., None], ...] = (
    move_a_value, move_a_value, move_a_value, put_an_odd_value, put_an_odd_value, leave_out,
    add_a_key, exchange_values, wrap,
)  # fmt: skip


def copied(data: Any) -> Any:
    """A copy, also of what earlier damages have nested deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(DEEP)
    try:
        return deepcopy(data)
    finally:
        sys.setrecursionlimit(limit)


def damaged(rng: Random, data: Any, protected: tuple[str, ...] = ()) -> Any:
    """The data, changed in one place or a few, never at the keys that are protected."""
    data = copied(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        found = [place for place in places(data) if place[1] not in protected]
        if found:
            rng.choice(STRUCTURAL)(rng, *rng.choice(found), data)
    return data


def as_json(rng: Random, data: Any) -> bytes:
    """The data as JSON; at times a key is repeated, or the text is no longer JSON."""
    try:
        text = json.dumps(data)
    except (ValueError, RecursionError):
        text = "[]"
    if rng.random() < 0.05 and '{"' in text:
        head, tail = text.split('{"', 1)
        text = f'{head}{{"{tail.split(chr(34))[0]}": 1, "{tail}'
    return text.encode()


# --- Bits


def flip_bits(rng: Random, content: bytearray) -> None:
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def cut(rng: Random, content: bytearray) -> None:
    del content[rng.randrange(len(content)) :]


def extend(rng: Random, content: bytearray) -> None:
    content += rng.randbytes(rng.randrange(1, 200))


def repeat_a_part(rng: Random, content: bytearray) -> None:
    begin, end = sorted(rng.randrange(len(content)) for _ in range(2))
    content[end:end] = content[begin:end] * rng.choice([1, 2, 9])


def remove_a_part(rng: Random, content: bytearray) -> None:
    begin = rng.randrange(len(content))
    del content[begin : begin + rng.choice([1, 2, 4, 8, 100])]


def put_an_extreme(rng: Random, content: bytearray) -> None:
    at, size = rng.randrange(len(content)), rng.choice([1, 2, 4, 8])
    content[at : at + size] = rng.choice([b"\x00", b"\xff", b"\x7f", b"\x80"]) * size


BITS = (flip_bits, flip_bits, cut, extend, repeat_a_part, remove_a_part, put_an_extreme)


def scrambled(rng: Random, content: bytes) -> bytes:
    """The bytes, changed in one way or two."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2])):
        if changed:
            rng.choice(BITS)(rng, changed)
    return bytes(changed[: 1 << 24])
