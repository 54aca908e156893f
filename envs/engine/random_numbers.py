"""The random numbers of a game, from the generator in its record."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline

_HALF = np.uint64(32)
_A, _B, _C = np.uint64(13), np.uint64(7), np.uint64(17)


@inline
def next_random(game: np.record) -> Any:
    """The next 32 random bits of this game (Marsaglia's xorshift64, upper half)."""
    state = game.rng
    state ^= state << _A
    state ^= state >> _B
    state ^= state << _C
    game.rng = state
    return state >> _HALF


@inline
def below(game: np.record, n: int) -> Any:
    """A uniform random integer from 0 to n - 1 (n far below 2**32)."""
    return np.int64((next_random(game) * np.uint64(n)) >> _HALF)


@inline
def uniform(game: np.record) -> Any:
    """A uniform random number from [0, 1)."""
    return np.float64(next_random(game)) / 4294967296.0


def scatter(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread seeds over the 64-bit generators: splitmix64's finaliser, and never the state 0."""
    state = seeds.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return np.where(state == 0, np.uint64(1), state)
