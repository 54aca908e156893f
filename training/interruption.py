"""Ctrl-C, SIGTERM and a closed terminal while a run learns: they wait until it can be saved."""

import os
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SAVING = "\nhanamachi: saving after this iteration; press Ctrl-C again to stop at once\n"
STDOUT, STDERR = 1, 2
# what comes when the terminal closes; Windows lacks it
HANGUP: int | None = getattr(signal, "SIGHUP", None)
ENDING = [number for number in (signal.SIGTERM, HANGUP) if number is not None]  # besides Ctrl-C


def leave_terminal(number: int) -> None:
    """After a hangup, let what is printed go nowhere, as writing to the terminal would fail.

    Shells and the system may each send the signal; the second one changes nothing.
    """
    if number != HANGUP:
        return
    signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # without a free descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (STDOUT, STDERR):
            with suppress(OSError):  # of one that is closed
                if stat.S_ISCHR(os.fstat(stream).st_mode):
                    os.dup2(nowhere, stream)
        os.close(nowhere)


@contextmanager
def held_signals() -> Iterator[list[int]]:
    """Hold back the first signal until the end; the list that this gives then holds its number.

    After that, or at once if a second one arrives, the signal does what it did before: it raises
    KeyboardInterrupt, for example. Signals that are ignored stay ignored. Python handles signals in
    the main thread, so in another thread nothing is held back.
    """
    received: list[int] = []
    before: dict[int, Any] = {}  # the handlers

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def hold(number: int, frame: FrameType | None) -> None:
        received.append(number)
        leave_terminal(number)
        if len(received) > 1:
            restore()
            signal.raise_signal(number)
            return
        with suppress(OSError):  # not by print, which the signal may have interrupted
            os.write(STDERR, SAVING.encode())

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, *ENDING):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, hold)
    try:
        yield received
    finally:
        restore()
    if received:
        signal.raise_signal(received[0])
