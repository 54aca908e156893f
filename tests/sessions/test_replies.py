"""A model's reply is read in time in proportion to its length, whatever it holds."""

import time

import pytest

from hanamachi.limits import LINE
from hanamachi.sessions.replies import QUOTES, TAGS, marked

pytestmark = pytest.mark.uncompiled


def seconds(pattern, text, times):
    """Of the processor, at best of three attempts."""
    spent = []
    for _ in range(3):
        begun = time.process_time()
        for _ in range(times):
            pattern.findall(text)
        spent.append(time.process_time() - begun)
    return min(spent)


@pytest.mark.parametrize(
    ("pattern", "text"), [(QUOTES, '"'), (QUOTES, '"a '), (TAGS, "<action>"), (TAGS, "<move>a ")]
)
def test_a_long_reply_takes_as_long_as_ten_that_are_a_tenth_as_long(pattern, text):
    copies = LINE // 4 // len(text)
    assert seconds(pattern, text * copies, 1) < 4 * seconds(pattern, text * (copies // 10), 10)


def test_a_tag_that_opens_again_begins_a_new_answer():
    assert marked("I write <action> first: <action>secret b</action>") == ["secret b"]


def test_a_quote_may_be_marked_by_several_characters():
    assert QUOTES.findall("``secret b`` or '\"gift abc\"'") == ["secret b", "gift abc"]
