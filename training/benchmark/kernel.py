"""The compiled kernels without any adapter: every decision with its observation and mask.

Play is random and legal. In cooperative games random play loses long before the deck is empty, so
these games replay recorded decisions that last until the end.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.engine.threads import default_threads, parallel_for
from hanamachi.training.benchmark.measure import Side, Work, view_of
from hanamachi.training.benchmark.recorded import recorded, replay
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

BATCH = 1024  # games at once, by default
DECISIONS = 50  # of each row in one call
RECORDED = 400  # decisions of each row: several games


def kernel_alone(
    variant: Variant, dtype: type[Any], batch: int | None = None, threads: int | None = None
) -> Side:
    how, work = ("mixed", mixed_play) if variant.game.cooperative else ("random", random_play)
    name = f"{variant.id}, {how} play, {np.dtype(dtype)}"
    if batch or threads:
        name += f", {batch or BATCH:,} games"
    if threads:
        name += f", threads: {threads}"
    return Side(name, partial(work, variant, dtype, batch or BATCH, threads))


def random_play(
    variant: Variant,
    dtype: type[Any],
    batch: int,
    threads: int | None = None,
    decisions: int | None = None,
) -> Work:
    """Each call makes `decisions` in every row, by default DECISIONS."""
    games = variant.new(np.arange(batch, dtype=np.uint64))
    parallel_for(kernels.reset, variant.rule_set, games)
    each = decisions or DECISIONS
    return batched(variant, games, kernels.random_decisions, each, batch * each, dtype, threads)


def mixed_play(variant: Variant, dtype: type[Any], batch: int, threads: int | None = None) -> Work:
    """The same recorded games in each call."""
    games = SelfPlayVecEnv(variant, batch)
    actions = np.ascontiguousarray(recorded(games, RECORDED).T)
    games.reseed(0)
    games.restart()
    start = games.games.copy()
    work = batched(variant, games.games, replay, actions, actions.size, dtype, threads)

    def play() -> int:
        games.games[:] = start
        return work.play()

    return Work(play, work.gives)


def batched(
    variant: Variant,
    games: NDArray[Any],
    loop: Callable[..., Any],
    decisions: Any,  # as the loop takes them
    count: int,
    dtype: type[Any],
    threads: int | None,
) -> Work:
    """All decisions of every row in one call; each observation overwrites the one before."""
    observations = np.zeros((len(games), variant.observation.size), dtype)
    masks = np.zeros((len(games), variant.actions.size), np.int8)

    def play() -> int:
        rows = games, decisions, observations, masks
        parallel_for(loop, variant.rule_set, *rows, threads=threads)
        return count

    how = f"batch of {len(games):,}, threads: {threads or default_threads()}"
    return Work(play, f"{view_of(variant, dtype)}; {how}")
