"""Threads that the program does not wait for when it ends: a network may take long to answer."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
Task = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads(Executor):
    """Like ThreadPoolExecutor, but Python does not wait for these threads when it exits."""

    def __init__(self, count: int, name: str = "") -> None:
        """`count` threads begin at once."""
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._ended = False
        self._giving = Lock()  # no task is given once the threads are told to end
        self._threads = [Thread(target=self._work, name=name, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        with self._giving:
            if self._ended:
                raise RuntimeError("no task can be given to threads that have been shut down")
            self._tasks.put((future, partial(call, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._giving:
            self._ended = True
        while cancel_futures:
            try:
                task = self._tasks.get_nowait()
            except Empty:
                break
            if task:
                task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _work(self) -> None:
        while task := self._tasks.get():
            do(*task)
            del task  # what it needed is not kept until the next one comes


def in_time(call: Callable[[], T], seconds: float) -> T:
    """What a call returns or raises; TimeoutError if it takes longer, and it continues alone.

    No time limit of a socket does this: it starts again with each byte that comes.
    """
    thread = DaemonThreads(1)
    try:
        return thread.submit(call).result(seconds)
    finally:
        thread.shutdown(wait=False)


def do(future: Future[Any], call: Callable[[], Any]) -> None:
    """Carry a task out, unless it was cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
