"""JSON from outside, read so that nothing in it can exhaust or mislead the reader."""

import json
from typing import Any

from hanamachi.errors import UserError
from hanamachi.limits import DIGITS, NESTING


def read_json(text: bytes) -> Any:
    """Parse JSON; UserError if it is wrong, repeats a key, is nested too deep or has huge numbers.

    The caller limits the size of the text.
    """
    try:
        parsed = json.loads(text, object_pairs_hook=without_repetition, parse_int=whole_number)
    except (ValueError, RecursionError) as error:
        raise UserError("this is not JSON, repeats a key, or has too long a number") from error
    if not nested_within(NESTING, parsed):
        raise UserError(f"this JSON is nested in more than {NESTING} levels")
    return parsed


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError if a key is repeated, where most readers would take the last."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def whole_number(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def nested_within(levels: int, value: Any) -> bool:
    """Whether lists and objects lie within each other in at most this many levels."""
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(nested_within(levels - 1, part) for part in parts)
