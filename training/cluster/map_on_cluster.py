"""Independent work in parallel, by Ray's tasks: games of an evaluation, best responses."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from hanamachi.training.cluster import RETRIES, answer, connect
from hanamachi.training.ownership import waiting

GIVEN_UP = 60.0  # seconds for which a process of a lost cluster may still own a folder


def map_on_cluster(function: Callable[..., Any], *rows: Iterable[Any]) -> Iterator[Any]:
    """`map`, by all processors of the cluster; work that is lost with a machine is repeated.

    What is left of the work is cancelled if one of its parts fails, or if nobody reads on.
    """
    ray = connect()
    task = ray.remote(called).options(max_retries=RETRIES)
    sent = ray.put(function)
    tasks = [task.remote(sent, *row) for row in zip(*rows, strict=True)]
    try:
        yield from map(answer, tasks)
    finally:
        with suppress(Exception):  # of a cluster that was lost
            # not those that are done: Ray may end this process if one is cancelled as it completes
            _, unfinished = ray.wait(tasks, num_returns=len(tasks), timeout=0)
            for left in unfinished:
                ray.cancel(left)


def called(function: Callable[..., Any], *given: Any) -> Any:
    """Call it in a process of the cluster, and wait for a folder that another one still owns."""
    with waiting(GIVEN_UP):
        return function(*given)
