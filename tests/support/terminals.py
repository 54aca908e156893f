"""Programs in a real terminal."""

import signal
from functools import partial
from typing import Any

import pexpect


def in_terminal(program: str, arguments: list[str], **kwargs: Any) -> pexpect.spawn:
    """Start a program that hears Ctrl-C, also where the tests themselves run in the background.

    Ctrl-C makes the terminal drop what it has not shown yet, which may cut a character.
    """
    hear = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    how = {"encoding": "utf-8", "codec_errors": "replace", "preexec_fn": hear}
    return pexpect.spawn(program, arguments, **how, **kwargs)
