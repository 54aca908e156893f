"""Memory: the bytes of one game of every variant, and the peak of a process with many games."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.training.benchmark.measure import Figure, Omission, number_from

STATUS = Path("/proc/self/status")  # only Linux has it

# run in a new process and read from its status: getrusage also counts the parent's peak
PROGRAM = """
import sys
import numpy as np
from hanamachi import variant as make_variant
from hanamachi.engine import kernels
from hanamachi.engine.threads import parallel_for

variant, count = make_variant(sys.argv[1]), int(sys.argv[2])
games = variant.new(np.arange(count, dtype=np.uint64))
kernels.reset(variant.rule_set, games)
observations = np.zeros((count, variant.observation.size), np.int8)
masks = np.zeros((count, variant.actions.size), np.int8)
parallel_for(kernels.random_decisions, variant.rule_set, games, 1, observations, masks)
lines = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def figures(variants: Sequence[Variant], rounds: int, most: int) -> Iterator[Figure | Omission]:
    """Memory is the same in every round, so it is measured once."""
    for id in VARIANTS:
        yield from bytes_of(make_variant(id))
    if STATUS.exists():
        for variant in variants:
            yield from peaks(variant, most)


def bytes_of(variant: Variant) -> Iterator[Figure]:
    """The record alone, and with the mask and the observation, as float32 or one byte an entry."""
    record, entries = variant.game.record.itemsize, variant.observation.size
    whole = record + variant.actions.size
    yield Figure(variant.id, "record", "bytes", [record])
    yield Figure(variant.id, "with float32 observation", "bytes", [whole + 4 * entries])
    yield Figure(variant.id, "with 1-byte observation", "bytes", [whole + entries])


def peaks(variant: Variant, most: int) -> Iterator[Figure | Omission]:
    """Peak resident memory after one step, with one game and with many; observations in int8."""
    for count, games in ((1, "1 game"), (most, f"{most:,} games")):
        try:
            peak = number_from(PROGRAM, variant.id, str(count)) / 1024
        except UserError as error:
            yield Omission(f"memory of {variant.id} with {games}: not measured, {error}")
        else:
            yield Figure(variant.id, games, "MiB of a process", [peak])
