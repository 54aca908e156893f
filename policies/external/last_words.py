"""What a bot wrote last to its standard error, as a part of a message."""

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath

from hanamachi.errors import printable

SHOWN = 120  # characters
# of a line of Python's traceback, unless it names Python's own files or installed packages
PLACE = re.compile(r'\s+File "(?!<|.*/lib/python)(.+)", line (\d+)')


def last_words(complaints: bytes) -> str:
    """The last line, from its beginning, and where it was raised if it is an error of Python."""
    *before, last = ["", *complaints.decode(errors="replace").splitlines()]
    while before and not last.strip():
        last = before.pop()
    words = last.strip()
    shown = printable(words[:SHOWN]) + "..." * (len(words) > SHOWN)
    return shown + place_of_error(before)


def place_of_error(before: Sequence[str]) -> str:
    """The file and line that the lines before an error of Python end in, as " (bot.py, line 3)"."""
    traceback = takewhile(lambda line: line[:1].isspace(), reversed(before))
    for found in filter(None, map(PLACE.match, traceback)):
        return f" ({printable(PurePath(found[1]).name)}, line {found[2]})"
    return ""
