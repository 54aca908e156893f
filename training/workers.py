"""Processes that work for this one and end when it is stopped."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, partial
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn, TypeVar

import cloudpickle

from hanamachi.engine.threads import default_threads
from hanamachi.errors import UserError
from hanamachi.training.failures import process_killed
from hanamachi.training.interruption import HANGUP

Job = TypeVar("Job")
Result = TypeVar("Result")

HELD = [signal.SIGINT] if HANGUP is None else [signal.SIGINT, HANGUP]
FAREWELL = 5  # seconds that a worker has to end by itself
ORPHANED = 1  # exit code of a worker whose parent was killed; nobody reads it


@contextmanager
def map_by(processes: int) -> Iterator[Callable[..., Any]]:
    """Works like `map`, in other processes if there are to be several; they share the processors.

    UserError if one of them is killed, or if the work cannot be sent to them.
    """
    threads = max(1, default_threads() // processes)
    with worker_pool(processes, partial(use_threads, threads)) as pool:
        try:
            yield partial(map_in, pool) if pool else map
        except BrokenExecutor:
            raise process_killed() from None


def map_in(pool: Executor, work: Callable[..., Any], jobs: Iterable[Any]) -> Iterator[Any]:
    return pool.map(partial(in_worker, Sent(work)), jobs)


class Sent:
    """Work that goes to other processes, even a user's function inside another one.

    UserError if it cannot go there.
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        try:
            self.pickled = cloudpickle.dumps(work)
        except Exception as error:  # which can be any
            raise UserError(
                "these policies work in one process alone: leave out --processes "
                f"({type(error).__name__}: {error})"
            ) from error

    def __call__(self, job: Any) -> Any:
        return unpickled(self.pickled)(job)


@lru_cache(maxsize=1)
def unpickled(work: bytes) -> Any:
    return cloudpickle.loads(work)


def use_threads(count: int) -> None:
    """Let the compiled loops of this process have this many threads."""
    os.environ["HANAMACHI_THREADS"] = str(count)


@contextmanager
def worker_pool(
    processes: int, begin: Callable[[], None] | None = None
) -> Iterator[Executor | None]:
    """Processes that first call `begin`, or None for one; an exception here terminates them."""
    if processes <= 1:
        yield None
        return
    others = multiprocessing.active_children()
    spawn = multiprocessing.get_context("spawn")  # a fork would copy locks of running threads
    with signals_held():  # for Python's tracker of resources, which would die of a hangup
        pool = ProcessPoolExecutor(processes, spawn, begin_worker, (begin,))
    with pool:
        try:
            with signals_held():  # as each worker inherits it
                while len(children_but(others)) < processes:
                    pool.submit(int)  # starts one, unless one has nothing to do
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in children_but(others):
                worker.terminate()
            raise


def children_but(others: Sequence[BaseProcess]) -> list[BaseProcess]:
    return [child for child in multiprocessing.active_children() if child not in others]


@contextmanager
def signals_held() -> Iterator[None]:
    """Ctrl-C and a closed terminal wait until the end, where the platform can hold them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_worker(begin: Callable[[], None] | None) -> None:
    """Let SIGTERM end a worker as an exception does; it ends with its parent, too.

    Ctrl-C and a closed terminal are for the parent.
    """

    def leave(number: int, frame: Any) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    for number in HELD:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # bots that a worker starts would inherit the mask
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
    threading.Thread(target=end_with_parent, daemon=True).start()
    if begin:
        begin()


def end_with_parent() -> None:
    """Even if the parent is killed: by SIGTERM, so that bots end, too; by force if that fails."""
    parent = multiprocessing.parent_process()
    assert parent, "a worker is the child of another process"
    parent.join()
    main_thread = threading.main_thread().ident
    if main_thread and hasattr(signal, "pthread_kill"):  # it may be waiting, and must wake
        signal.pthread_kill(main_thread, signal.SIGTERM)
        time.sleep(FAREWELL)
    os._exit(ORPHANED)


def in_worker(work: Callable[[Job], Result], job: Job) -> Result:
    """`work` of a job; a signal ends the process, which would else take the next job."""
    try:
        return work(job)
    except SystemExit as ended:
        if ended.code == 128 + signal.SIGTERM:
            os._exit(ended.code)
        raise
