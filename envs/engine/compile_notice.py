"""Say on stderr that code is being compiled: it takes seconds, and happens once on a computer."""

import os
import sys
from contextlib import suppress
from time import monotonic

FIRST = (
    "compiling what this command needs, once on this computer "
    "(to compile everything now: hanamachi warmup)"
)
OFTEN = 5.0  # seconds between two lines


class CompileNotice:
    """One line when a process compiles its first kernel, then what is done every few seconds.

    The seconds are those spent compiling: what the program does between two kernels is not counted.
    A kernel that calls another one compiles it on the way.
    """

    def __init__(self) -> None:
        self.begun = self.said = self.spent = 0.0
        self.compiling = 0  # kernels, one within the other
        self.compiled = 0

    def begin(self) -> None:
        """Called before a kernel is compiled."""
        if not self.begun:
            self.say(FIRST)
        if not self.compiling:
            self.begun = monotonic()
        self.compiling += 1

    def end(self) -> None:
        """Called when a kernel is compiled."""
        now = monotonic()
        self.spent += now - self.begun
        self.begun = now  # of the kernel around this one, if there is one
        self.compiled += 1
        self.compiling -= 1
        if now - self.said > OFTEN:
            functions = "1 function" if self.compiled == 1 else f"{self.compiled} functions"
            self.say(f"{functions} compiled in {self.spent:.0f} s")

    def say(self, words: str) -> None:
        self.said = monotonic()
        if sys.stderr and not os.environ.get("HANAMACHI_QUIET"):
            with suppress(OSError, ValueError):  # a closed stream must stop nobody
                print(f"hanamachi: {words}", file=sys.stderr, flush=True)


NOTICE = CompileNotice()
