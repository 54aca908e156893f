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
    for rules in games:
        play = partial(whole_games, rules)
        play()
        yield Figure(rules.id, how, "decisions/s", [rate(play, SECONDS) for _ in range(rounds)])


def whole_games(rules: Variant) -> int:
    """Play them; returns how many decisions they took."""
    games = rules.new(np.arange(MANY, dtype=np.uint64))
    kernels.spread(kernels.reset, rules.rules, games)
    masks = np.empty((MANY, rules.actions.size), np.int8)
    earned = np.empty((MANY, rules.seats), np.float32)
    decisions = np.empty(MANY, np.int64)
    kernels.spread(kernels.play_out, rules.rules, games, masks, earned, decisions)
    return int(decisions.sum())
