"""JSON from outside is read within its limits, or refused."""

import pytest

from hanamachi.errors import UserError
from hanamachi.limits import DIGITS, NESTING
from hanamachi.storage.strict_json import read_json


def nested(levels):
    return b"[" * levels + b"]" * levels


def test_what_is_within_the_limits_is_read():
    assert read_json(b'{"a": [1, 0.5, null, true, "x"]}') == {"a": [1, 0.5, None, True, "x"]}
    assert read_json(b"9" * DIGITS) == 10**DIGITS - 1
    assert read_json(nested(NESTING))


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b'{"a": 1, "a": 2}', b"9" * (DIGITS + 1), b"9" * 5_000, nested(NESTING + 1),
     nested(100_000), b'{"a":' * 100_000, b"\xff"],
    ids=["nothing", "cut", "repeated", "a digit too many", "countless digits", "a level too many",
         "countless lists", "countless objects", "no text"],
)  # fmt: skip
def test_what_is_not_is_refused(text):
    with pytest.raises(UserError):
        read_json(text)
