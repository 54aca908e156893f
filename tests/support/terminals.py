"""Programs in a real terminal."""

import signal
from functools import partial
from typing import Any

import pexpect


def in_terminal(program: str, arguments: list[str], **kwargs: Any) -> pexpect.spawn:
    """Start a program that hears Ctrl-C, also where the tests themselves run in the background."""
    hear = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return pexpect.spawn(program, arguments, encoding="utf-8", preexec_fn=hear, **kwargs)
