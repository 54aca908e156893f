"""Notes go to stderr: stdout has results alone, which a program may read."""

import sys

from hanamachi.errors import printable


def note(words: str) -> None:
    """Say something on stderr, in printable characters: names of files may hold others."""
    if sys.stderr:  # None if it is closed: then print would write to stdout
        print(*map(printable, words.split("\n")), sep="\n", file=sys.stderr)
