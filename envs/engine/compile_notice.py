"""Say on stderr that code is being compiled: it takes seconds, and happens once on a computer."""

import os
import sys
from contextlib import suppress
from time import monotonic

FIRST = (
    "compiling for this computer; later starts load what is compiled "
    "(all of it ahead: hanamachi warmup)"
)
OFTEN = 5.0  # seconds between two lines


class CompileNotice:
    """One line when a process compiles its first kernel, then what is done every few seconds."""

    def __init__(self) -> None:
        self.begun = self.said = 0.0
        self.compiled = 0

    def begin(self) -> None:
        """Called before a kernel is compiled."""
        if not self.begun:
            self.begun = monotonic()
            self.say(FIRST)

    def end(self) -> None:
        """Called when a kernel is compiled."""
        self.compiled += 1
        if monotonic() - self.said > OFTEN:
            self.say(f"{self.compiled} functions compiled in {monotonic() - self.begun:.0f} s")

    def say(self, words: str) -> None:
        self.said = monotonic()
        if sys.stderr and not os.environ.get("HANAMACHI_QUIET"):
            with suppress(OSError, ValueError):  # a closed stream must stop nobody
                print(f"hanamachi: {words}", file=sys.stderr, flush=True)


NOTICE = CompileNotice()
