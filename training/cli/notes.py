"""What is said apart from results, which may be read by a program."""

import sys


def note(words: str) -> None:
    """Say something on stderr."""
    if sys.stderr:  # None if it is closed: then print would write to stdout
        print(words, file=sys.stderr)
