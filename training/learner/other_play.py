"""Other-Play: each seat sees the games under a symmetry of its own."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.policy import Policy
from hanamachi.sessions.players import Turns, turns_of
from hanamachi.training.learner.vecenv import SelfPlayVecEnv, relabelled_others
from hanamachi.training.seeds import Purpose, stream


class OtherPlayVecEnv(SelfPlayVecEnv):
    """The same games, which each seat sees under a symmetry of its own, such as other colours.

    So no convention can depend on what the symmetries exchange (Hu et al. 2020, "Other-Play for
    Zero-Shot Coordination"). The learner's seats have symmetries, drawn when a game begins; fixed
    opponents see the games as they are.
    """

    def __init__(
        self,
        variant: Variant | str,
        num_envs: int,
        seed: int = 0,
        opponents: Sequence[tuple[Policy | str | PathLike[str], float]] = (),
        gamma: float = 1.0,
    ) -> None:
        super().__init__(variant, num_envs, seed, opponents, gamma)
        self.symmetries = self.variant.symmetries
        self.drawn = np.zeros((num_envs, self.variant.seats), np.int64)  # numbers of symmetries
        self.of_others = relabelled_others(self.variant)  # (P, K)

    @property
    def current(self) -> NDArray[np.int64]:
        """The symmetries of the seats to move, (B,)."""
        return self.drawn[np.arange(self.num_envs), self.movers]

    def centralised_observations(self) -> NDArray[np.float32]:
        """What the others see, under the symmetry of the seat to move."""
        seen = super().centralised_observations()
        return np.take_along_axis(seen, self.of_others[self.current], axis=1)

    @property
    def turns(self) -> Turns:
        """The decisions that the rows show, as they are in the games."""
        return turns_of(self.variant, self.games, np.arange(self.num_envs))

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.relabelling = np.random.default_rng(stream(Purpose.RELABELLING, seed))

    def restart(self) -> None:
        super().restart()
        self._draw(np.arange(self.num_envs))
        self._relabel()

    def _play(self, actions: NDArray[np.int64]) -> None:
        moved = self.current
        super()._play(self.symmetries.actions[moved, actions])
        over = np.flatnonzero(self.terminated)
        shown = self.symmetries.entries[moved[over]]
        self.last[over] = np.take_along_axis(self.last[over], shown, axis=1)
        self._draw(over)
        self._relabel()

    def _draw(self, rows: NDArray[np.int64]) -> None:
        """Draw the symmetries of games that have just begun."""
        count, seats = len(self.symmetries.entries), self.variant.seats
        self.drawn[rows] = self.relabelling.integers(count, size=(len(rows), seats))

    def _relabel(self) -> None:
        """Show every row as its seat sees it."""
        entries, actions = (of_all[self.current] for of_all in self.symmetries)
        self.observations[:] = np.take_along_axis(self.observations, entries, axis=1)
        self._legal[:] = np.take_along_axis(self._legal, actions, axis=1)
        self.masks[:] = self._legal

    def get_state(self) -> dict[str, Any]:
        drawn = {"drawn": self.drawn.copy(), "relabelling": self.relabelling.bit_generator.state}
        return super().get_state() | drawn

    def set_state(self, state: Mapping[str, Any]) -> None:
        super().set_state(state)
        self.drawn[:] = state["drawn"]
        self.relabelling.bit_generator.state = state["relabelling"]
        self._relabel()
