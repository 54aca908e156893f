"""The kernels alone: observation and mask of every decision written out, row by row.

Play is random and legal. Where players cooperate, random play loses long before the deck is empty;
there, games are led through recorded play that reaches its end.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.measure import Side, Work, view_of
from hanamachi.training.benchmark.recorded import follow, recorded
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

BATCH = 1024  # games side by side, unless said
DECISIONS = 50  # a row, before the clock is looked at
RECORDED = 400  # a row: several games


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
    """`decisions` of each row at a time, by default DECISIONS."""
    games = variant.new(np.arange(batch, dtype=np.uint64))
    kernels.parallel_for(kernels.reset, variant.rule_set, games)
    each = decisions or DECISIONS
    return batched(variant, games, kernels.play_randomly, each, batch * each, dtype, threads)


def mixed_play(variant: Variant, dtype: type[Any], batch: int, threads: int | None = None) -> Work:
    """The same recorded games again and again."""
    games = SelfPlayVecEnv(variant, batch)
    actions = np.ascontiguousarray(recorded(games, RECORDED).T)
    games.reseed(0)
    games.restart()
    begun = games.games.copy()
    work = batched(variant, games.games, follow, actions, actions.size, dtype, threads)

    def play() -> int:
        games.games[:] = begun
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
    """All decisions of every row in one call, each view over the one before."""
    observations = np.zeros((len(games), variant.observation.size), dtype)
    masks = np.zeros((len(games), variant.actions.size), np.int8)

    def play() -> int:
        rows = games, decisions, observations, masks
        kernels.parallel_for(loop, variant.rule_set, *rows, threads=threads)
        return count

    how = f"batch of {len(games):,}, threads: {threads or kernels.default_threads()}"
    return Work(play, f"{view_of(variant, dtype)}; {how}")
