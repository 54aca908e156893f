"""Streams of random numbers, one for each purpose, so that no two purposes share a deal.

An evaluation plays the deals of the seed that it is given. The deals that a policy learns from, and
those that choose its checkpoint, follow from a hash of the purpose and the run's seed. So they are
other deals, whatever the seeds are: the generators of games have 64 bits, and two of them meet by
chance alone, in about one of a billion runs.
"""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream is for; the numbers never change."""

    LEARNING = 0  # in self-play
    CLONING = 1
    CHOOSING = 2  # the checkpoint
    SEARCHING = 3  # in distillation: which decisions, and in which worlds
    RELABELLING = 4  # in Other-Play


def stream(purpose: Purpose, seed: int) -> int:
    """Where the stream of this purpose and seed begins, from 0 to 2**64 - 1."""
    sequence = np.random.SeedSequence(seed, spawn_key=(purpose,))
    return int(sequence.generate_state(1, np.uint64)[0])
