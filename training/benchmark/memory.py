"""Memory: the bytes of one game of every variant, and what a process with many games takes."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hanamachi.engine.game import Variant
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.training.benchmark.measure import Figure

STATUS = Path("/proc/self/status")  # of a process of Linux

# the peak of a process of its own, as one that was started keeps its parent's in getrusage
PROGRAM = """
import sys
import numpy as np
import hanamachi
from hanamachi.engine import kernels

variant, count = hanamachi.variant(sys.argv[1]), int(sys.argv[2])
games = variant.new(np.arange(count, dtype=np.uint64))
kernels.reset(variant.rule_set, games)
seen = np.zeros((count, variant.observation.size), np.int8)
masks = np.zeros((count, variant.actions.size), np.int8)
kernels.parallel_for(kernels.play_randomly, variant.rule_set, games, 1, seen, masks)
lines = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def figures(games: Sequence[Variant], rounds: int, most: int) -> Iterator[Figure]:
    """The same in every round, so it is measured once."""
    for id in VARIANTS:
        yield from bytes_of(make_variant(id))
    if STATUS.exists():
        for variant in games:
            yield from peaks(variant, most)


def bytes_of(variant: Variant) -> Iterator[Figure]:
    """With the mask and what its mover sees, as float32 or as the bytes that would hold it."""
    record, entries = variant.game.record.itemsize, variant.observation.size
    whole = record + variant.actions.size
    yield Figure(variant.id, "record", "bytes", [record])
    yield Figure(variant.id, "with float32 view", "bytes", [whole + 4 * entries])
    yield Figure(variant.id, "with 1-byte view", "bytes", [whole + entries])


def peaks(variant: Variant, most: int) -> Iterator[Figure]:
    """Resident memory at its most, of a process with a game and of one with many, after a step.

    Observations are in int8.
    """
    for count, games in ((1, "1 game"), (most, f"{most:,} games")):
        command = [sys.executable, "-c", PROGRAM, variant.id, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        yield Figure(variant.id, games, "MiB of a process", [int(done.stdout) / 1024])
