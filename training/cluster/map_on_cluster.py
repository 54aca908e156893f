"""Work in independent parts, by Ray's tasks: games of an evaluation, best responses."""

from collections.abc import Callable, Iterable
from typing import Any

from hanamachi.training.cluster import connect, processors

PARTS = 4  # for each processor, so that none waits long for the last
LEAST = 64  # games in a part; fewer are not worth to be sent


def map_on_cluster(function: Callable[..., Any], *rows: Iterable[Any]) -> list[Any]:
    """As `map`, by all processors of the cluster; what is lost with a machine is done again."""
    ray = connect()
    task = ray.remote(called).options(max_retries=-1)
    sent = ray.put(function)
    try:
        return list(ray.get([task.remote(sent, *row) for row in zip(*rows, strict=True)]))
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None  # what a user did wrong, in the words of the part


def called(function: Callable[..., Any], *given: Any) -> Any:
    return function(*given)


def batch_size(games: int) -> int:
    """How many games a part of an evaluation has."""
    return max(LEAST, games // (PARTS * processors()))
