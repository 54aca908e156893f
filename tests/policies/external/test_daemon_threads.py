"""Threads for a network do their tasks, and let the program end while one of them waits."""

import subprocess
import sys
import threading

import pytest

from hanamachi.policies.external.daemon_threads import DaemonThreads


def test_tasks_are_done_and_their_errors_come_back() -> None:
    threads = DaemonThreads(2)
    done = [threads.submit(divmod, 7, number) for number in (2, 0, 3)]
    assert done[0].result() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        done[1].result()
    assert done[2].result() == (2, 1)
    threads.shutdown()


def test_what_has_not_begun_can_be_cancelled() -> None:
    release, begun = threading.Event(), threading.Event()
    threads = DaemonThreads(1)
    first = threads.submit(lambda: (begun.set(), release.wait()))
    second = threads.submit(print)
    begun.wait()
    threads.shutdown(wait=False, cancel_futures=True)
    assert second.cancelled()
    release.set()
    first.result()


def test_a_task_after_the_shutdown_is_an_error_and_is_not_waited_for() -> None:
    threads = DaemonThreads(1)
    threads.shutdown()
    with pytest.raises(RuntimeError):
        threads.submit(print)


def test_the_program_ends_while_a_task_waits() -> None:
    program = """
from threading import Event
from hanamachi.policies.external.daemon_threads import DaemonThreads
DaemonThreads(1).submit(Event().wait)
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)
