"""Batches in two halves, computed on two threads.

A batch is cut in the same way on any machine, and the results are put together in order. So the
same seed gives the same bits on one core and on many. PyTorch itself uses one thread meanwhile: its
own threads wait for each other in busy loops, so next to another busy process two of them are
slower than one. More shards cost more than they bring: each computes the embeddings of all actions.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor

from hanamachi.engine.threads import default_threads, pool

WORTH_HALVING = 512  # rows; matrix products with fewer than half as many are slow

T = TypeVar("T")
Result = TypeVar("Result")


@contextmanager
def one_thread_each() -> Iterator[None]:
    """PyTorch uses one thread, whatever its setting is outside."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def halves(rows: Tensor, device: torch.device) -> tuple[Tensor, ...]:
    """The rows in two parts; a small batch, and any on a GPU, stays whole."""
    whole = device.type != "cpu" or len(rows) < WORTH_HALVING
    return (rows,) if whole else rows.split(-(-len(rows) // 2))


def map_on_threads(function: Callable[[T], Result], shards: Iterable[T]) -> list[Result]:
    """The result for each shard, in their order."""
    shards = list(shards)
    threads = min(default_threads(), len(shards))
    if threads < 2:
        return [function(shard) for shard in shards]
    return list(pool(threads).map(function, shards))
