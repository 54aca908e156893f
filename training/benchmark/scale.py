"""Scaling: decisions per second by the number of games at once and of threads."""

from collections.abc import Iterator, Sequence

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.engine.threads import default_threads
from hanamachi.training.benchmark.kernel import random_play
from hanamachi.training.benchmark.measure import Curve, rate

BATCHES = (1, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_000_000)
SECONDS = 0.3  # a rate, at least


def curves(variants: Sequence[Variant], rounds: int, most: int) -> Iterator[Curve]:
    """On one thread, and on all threads if there are several."""
    batches = [batch for batch in BATCHES if batch <= most]
    for variant in variants:
        for threads in sorted({1, default_threads()}):
            rates = [rates_of(variant, batch, threads, rounds) for batch in batches]
            yield Curve(variant.id, f"threads: {threads}", batches, rates)


def rates_of(variant: Variant, batch: int, threads: int, rounds: int) -> list[float]:
    """Each call makes one decision of random play in every game, with observations in int8."""
    play = random_play(variant, np.int8, batch, threads, decisions=1).play
    play()
    return [rate(play, SECONDS) for _ in range(rounds)]
