"""Ctrl-C and SIGTERM while a run learns: they wait until the run can be saved."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SAVING = "\nhanamachi: saving after this iteration; press Ctrl-C again to stop at once\n"
STDERR = 2


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
        if len(received) > 1:
            restore()
            signal.raise_signal(number)
            return
        with suppress(OSError):  # not by print, which the signal may have interrupted
            os.write(STDERR, SAVING.encode())

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, hold)
    try:
        yield received
    finally:
        restore()
    if received:
        signal.raise_signal(received[0])
