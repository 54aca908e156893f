"""Worlds: games that a seat cannot tell from the game that it plays.

A policy that searches gets `Worlds` in place of the true games, so it can continue from the
current position without hidden cards. Between policies in one process this wall is a convention:
Python code can inspect any object, `Worlds` and the true games in it included. It protects against
mistakes, not against cheating; a policy that is not trusted must run in another process.

Notation: B games, K worlds.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError


class Worlds:
    """B games, each as one of its seats knows it; len() is B.

    The games are kept, not copied, and asked about as they then stand.
    """

    def __init__(self, variant: Variant, games: NDArray[Any], seats: ArrayLike) -> None:
        """The true games, (B,), none of them over, and a seat in each, (B,)."""
        if (games["mover"] < 0).any():
            raise UserError("no game is in progress; call reset() to begin one")
        self.variant = variant
        self._games = games
        self._seats = np.asarray(seats, np.int64)

    def __len__(self) -> int:
        return len(self._games)

    def sample(self, row: int, seeds: NDArray[np.uint64]) -> NDArray[Any]:
        """Games (K,) that the seat of a row cannot tell from its own, one for each seed.

        Each is dealt by `redeal`, with the generator that its seed gives.
        """
        self.variant.needs("redeal", "search")
        worlds = self.variant.new(seeds)
        true = self._games[row : row + 1]
        kernels.worlds(self.variant.rule_set, true, int(self._seats[row]), worlds)
        return worlds
