"""Search: how many decisions a second are simulated where games are played on at random."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.measure import Figure, rate

MANY = 4096  # games at once
SECONDS = 0.3  # a rate, at least


def figures(games: Sequence[Variant], rounds: int) -> Iterator[Figure]:
    """Whole games, with what a search wants of them: what every seat earns."""
    how = f"random play, threads: {kernels.default_threads()}"
    for variant in games:
        play = partial(whole_games, variant)
        play()
        yield Figure(variant.id, how, "decisions/s", [rate(play, SECONDS) for _ in range(rounds)])


def whole_games(variant: Variant) -> int:
    """Play them; returns how many decisions they took."""
    games = variant.new(np.arange(MANY, dtype=np.uint64))
    kernels.parallel_for(kernels.reset, variant.rule_set, games)
    masks = np.empty((MANY, variant.actions.size), np.int8)
    earned = np.empty((MANY, variant.seats), np.float32)
    decisions = np.empty(MANY, np.int64)
    kernels.parallel_for(kernels.play_out, variant.rule_set, games, masks, earned, decisions)
    return int(decisions.sum())
