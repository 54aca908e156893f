"""Search speed: the decisions per second that playouts at random can simulate."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.engine.threads import default_threads, parallel_for
from hanamachi.training.benchmark.measure import Figure, rate

MANY = 4096  # games at once
SECONDS = 0.3  # a rate, at least


def figures(variants: Sequence[Variant], rounds: int) -> Iterator[Figure]:
    how = f"random play, threads: {default_threads()}"
    for variant in variants:
        play = partial(whole_games, variant)
        play()
        yield Figure(variant.id, how, "decisions/s", [rate(play, SECONDS) for _ in range(rounds)])


def whole_games(variant: Variant) -> int:
    """Play games to their end, with every seat's return; returns the number of decisions."""
    games = variant.new(np.arange(MANY, dtype=np.uint64))
    parallel_for(kernels.reset, variant.rule_set, games)
    masks = np.empty((MANY, variant.actions.size), np.int8)
    earned = np.empty((MANY, variant.seats), np.float32)
    decisions = np.empty(MANY, np.int64)
    parallel_for(kernels.play_out, variant.rule_set, games, masks, earned, decisions)
    return int(decisions.sum())
