"""Memory: the bytes of one game of every variant, and what a process with many games takes."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hanamachi.engine.game import Variant
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.training.benchmark.measure import Figure

STATUS = Path("/proc/self/status")  # of a process of Linux

# the peak of a process of its own, as one that was started keeps its parent's in getrusage
PROGRAM = """
import sys
import numpy as np
from hanamachi import variant
from hanamachi.engine import kernels

rules, count = variant(sys.argv[1]), int(sys.argv[2])
games = rules.new(np.arange(count, dtype=np.uint64))
kernels.reset(rules.rules, games)
seen = np.zeros((count, rules.observation.size), np.int8)
masks = np.zeros((count, rules.actions.size), np.int8)
kernels.spread(kernels.play_randomly, rules.rules, games, 1, seen, masks)
lines = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def figures(games: Sequence[Variant], rounds: int, most: int) -> Iterator[Figure]:
    """The same in every round, so it is measured once."""
    for id in VARIANTS:
        yield from bytes_of(variant(id))
    if STATUS.exists():
        for rules in games:
            yield from peaks(rules, most)


def bytes_of(rules: Variant) -> Iterator[Figure]:
    """With the mask and what its mover sees, as float32 or as the bytes that would hold it."""
    record, entries = rules.game.record.itemsize, rules.observation.size
    whole = record + rules.actions.size
    yield Figure(rules.id, "record", "bytes", [record])
    yield Figure(rules.id, "with float32 view", "bytes", [whole + 4 * entries])
    yield Figure(rules.id, "with 1-byte view", "bytes", [whole + entries])


def peaks(rules: Variant, most: int) -> Iterator[Figure]:
    """Resident memory at its most, of a process with a game and of one with many, after a step.

    Observations are in int8.
    """
    for count, games in ((1, "1 game"), (most, f"{most:,} games")):
        command = [sys.executable, "-c", PROGRAM, rules.id, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        yield Figure(rules.id, games, "MiB of a process", [int(done.stdout) / 1024])
