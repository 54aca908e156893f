"""Run a compiled batch loop on several threads: `parallel_for`."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from hanamachi.errors import UserError, shown
from hanamachi.limits import DIGITS, THREADS

# The fewest rows worth a thread: with fewer, handing them over costs more than it saves
STEPS_PER_THREAD = 512
DECISIONS_PER_THREAD = 64  # of policies, which take as long as some tens of steps


def parallel_for(
    loop: Callable[..., Any],
    rule_set: Any,
    *rows: Any,
    threads: int | None = None,
    at_least: int = STEPS_PER_THREAD,
) -> None:
    """Run `loop(rule_set, *rows)`, large batches on several threads.

    Arrays, and named tuples of arrays, are cut along their first axis; other arguments are passed
    on. `threads` is by default the environment variable HANAMACHI_THREADS, or the number of
    processors that this process may use; no thread gets fewer than `at_least` rows.
    """
    batch = len(rows[0])
    most = batch // at_least
    threads = min(threads or default_threads(), most) if most > 1 else 1
    if threads == 1:
        loop(rule_set, *rows)
        return
    edges = [batch * i // threads for i in range(threads + 1)]

    def part(i: int) -> None:
        share = slice(edges[i], edges[i + 1])
        loop(rule_set, *(share_of(row, share) for row in rows))

    list(pool(threads).map(part, range(threads)))


def share_of(rows: Any, share: slice) -> Any:
    """The rows of one thread, if these are arrays."""
    if isinstance(rows, np.ndarray):
        return rows[share]
    if isinstance(rows, tuple):
        return type(rows)(*(share_of(part, share) for part in rows))
    return rows


@lru_cache(maxsize=1)
def default_threads() -> int:
    wanted = os.environ.get("HANAMACHI_THREADS") or "0"
    if not wanted.isdecimal() or len(wanted) > DIGITS or int(wanted) > THREADS:
        raise UserError(f"HANAMACHI_THREADS must be a number up to {THREADS}, not {shown(wanted)}")
    return int(wanted) or processors()


def processors() -> int:
    """How many this process may use, where the system tells; else how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=8)
def pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="hanamachi")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=pool.cache_clear)
