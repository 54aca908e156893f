"""The engine: many games side by side, observation and mask of every decision written out.

Play is random and legal. Where players cooperate, random play loses long before the deck is empty;
there, games are led through recorded play that reaches its end.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi import kernels
from hanamachi.game import Variant
from hanamachi.training.benchmark.faces import raw_face
from hanamachi.training.benchmark.measure import Contest, Side, Work, view_of
from hanamachi.training.benchmark.peers import engine_peers
from hanamachi.training.benchmark.recorded import follow, recorded
from hanamachi.training.vecenv import SelfPlayVecEnv

BATCH = 1024  # games side by side
MANY = 4096  # where threads are compared
DECISIONS = 50  # a row, before the clock is looked at
RECORDED = 400  # a row: several games
DTYPES = (np.int8, np.float32)  # of observations


def contests(rules: Variant, peers: bool) -> list[Contest]:
    """Our kernels beside our own face for single games, and beside other libraries."""
    others = [raw_face(rules), *(engine_peers(rules) if peers else ())]
    alone = Contest(engine(rules, np.int8, MANY), [engine(rules, np.int8, MANY, threads=1)])
    return [*(Contest(engine(rules, dtype), others) for dtype in DTYPES), alone]


def engine(
    rules: Variant, dtype: type[Any], batch: int | None = None, threads: int | None = None
) -> Side:
    how, work = ("mixed", mixed_play) if rules.game.cooperative else ("random", random_play)
    batch, threads = batch or BATCH, threads or kernels.default_threads()
    name = f"{rules.id}, {how} play, {np.dtype(dtype)}"
    if (batch, threads) != (BATCH, kernels.default_threads()):
        name += f", {batch:,} games, threads: {threads}"
    return Side(name, partial(work, rules, dtype, batch, threads))


def random_play(rules: Variant, dtype: type[Any], batch: int, threads: int) -> Work:
    games = rules.new(np.arange(batch, dtype=np.uint64))
    kernels.reset(rules.rules, games)
    return batched(rules, games, kernels.play_randomly, DECISIONS, dtype, threads)


def mixed_play(rules: Variant, dtype: type[Any], batch: int, threads: int) -> Work:
    """The same recorded decisions again and again: at their end, what follows is another game."""
    games = SelfPlayVecEnv(rules, batch)
    actions = np.ascontiguousarray(recorded(games, RECORDED).T)
    games.reseed(0)
    games.restart()
    begun = games.games.copy()
    work = batched(rules, games.games, follow, actions, dtype, threads)

    def play() -> int:
        games.games[:] = begun
        return work.play()

    return Work(play, work.gives)


def batched(
    rules: Variant,
    games: NDArray[Any],
    loop: Callable[..., Any],
    decisions: Any,
    dtype: type[Any],
    threads: int,
) -> Work:
    """All decisions of every row in one call, views written to the same place."""
    observations = np.zeros((len(games), rules.observation.size), dtype)
    masks = np.zeros((len(games), rules.actions.size), np.int8)
    count = np.size(decisions) if np.ndim(decisions) else len(games) * decisions

    def play() -> int:
        rows = games, decisions, observations, masks
        kernels.spread(loop, rules.rules, *rows, threads=threads)
        return count

    gives = f"{view_of(rules, dtype)}; batch of {len(games):,}, threads: {threads}"
    return Work(play, gives)
