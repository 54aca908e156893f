"""Independent work in parallel, by Ray's tasks: games of an evaluation, best responses."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hanamachi.training.cluster import RETRIES, answer, connect, processors
from hanamachi.training.ownership import waiting

PARTS = 4  # for each processor, so that they finish at about the same time
LEAST = 64  # games in a part; sending fewer takes longer than playing them
GIVEN_UP = 60.0  # seconds until a process has ended whose cluster was lost


def map_on_cluster(function: Callable[..., Any], *rows: Iterable[Any]) -> Iterator[Any]:
    """`map`, by all processors of the cluster; work that is lost with a machine is repeated."""
    ray = connect()
    task = ray.remote(called).options(max_retries=RETRIES)
    sent = ray.put(function)
    tasks = [task.remote(sent, *row) for row in zip(*rows, strict=True)]
    return map(answer, tasks)


def called(function: Callable[..., Any], *given: Any) -> Any:
    """Call it in a process of the cluster; one that was given up may own a folder for a while."""
    with waiting(GIVEN_UP):
        return function(*given)


def batch_size(games: int) -> int:
    """How many games of an evaluation make a part."""
    return max(LEAST, games // (PARTS * processors()))
