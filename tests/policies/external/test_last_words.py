"""Of a bot's standard error the last line is shown from its beginning, with its place in Python."""

import pytest

from hanamachi.policies.external.last_words import SHOWN, last_words

OWN = '  File "/home/a/my bots/bot.py", line 12, in <module>\n    f()\n    ^^^\n'
LIBRARY = '  File "/usr/lib/python3.12/json/decoder.py", line 355, in decode\n    raise\n'
FROZEN = '  File "<frozen runpy>", line 88, in _run_code\n'


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", ""),
        ("\n \n", ""),
        ("first\nlast\n\n  \n", "last"),
        ("x" * SHOWN, "x" * SHOWN),
        ("Error: " + "x" * 9999, "Error: " + "x" * (SHOWN - 7) + "..."),
        ("a\tb\x1b[0m\n", "a\\tb\\x1b[0m"),
        (f"Traceback:\n{FROZEN}{OWN}{LIBRARY}KeyError: 'a'\n", "KeyError: 'a' (bot.py, line 12)"),
        (f"Traceback:\n{LIBRARY}KeyError: 'a'", "KeyError: 'a'"),
        (f"Traceback:\n{OWN}KeyError: 'a'\nand a word after it", "and a word after it"),
    ],
)
def test_the_last_line_is_shown(written, words):
    assert last_words(written.encode()) == words


def test_bytes_that_are_no_text_are_shown():
    assert last_words(b"\xff\n").isprintable()
