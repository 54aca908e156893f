"""The value of the start of a round, if one policy plays in all seats.

The round is dealt several times. A policy that has values gives the value of the first decision;
with any other policy, the game is played to its end.

Notation: n positions, S seats.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.playout import play_on
from hanamachi.sessions.observations import observe
from hanamachi.sessions.policy_checks import memory_of, values_of

POSITIONS = 100_000  # whose values are kept: of some hundred bytes each
DEALS = 32  # of each position, with the same seeds for all positions


class RoundValue:
    """The value of a round in a competitive game; values are cached."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.cache: dict[bytes, NDArray[np.float64]] = {}

    def __call__(self, games: NDArray[Any], seat: int) -> NDArray[np.float64]:
        """The value for the seat, (n,), of positions in which a round begins."""
        games = games.copy()
        games["rng"] = 0
        return np.array([self._cached(game)[seat] for game in games[:, None]])

    def _cached(self, game: NDArray[Any]) -> NDArray[np.float64]:
        key = game.tobytes()
        if key not in self.cache:
            if len(self.cache) == POSITIONS:
                self.cache.clear()
            self.cache[key] = self._computed(game)
        return self.cache[key]

    def _computed(self, game: NDArray[Any]) -> NDArray[np.float64]:
        """The value for each seat in game[0], (S,)."""
        deals = self._dealt(game)
        if self.policy.has_values:
            seats = deals["mover"].astype(np.int64)
            seen = observe(self.policy.variant, deals, seats)
            values = values_of(self.policy, *seen, memory_of(self.policy, len(deals)))
            first = float(np.where(seats == 0, values, -values).mean())
            return np.array([first, -first])
        return play_on(self.policy, deals, np.random.default_rng(0), deals["rng"].copy()).mean(0)

    def _dealt(self, game: NDArray[Any]) -> NDArray[Any]:
        deals = np.repeat(game, DEALS)
        deals["rng"] = self.policy.variant.new(np.arange(DEALS, dtype=np.uint64))["rng"]
        kernels.settle_all(self.policy.variant.rule_set, deals)
        return deals
