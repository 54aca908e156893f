"""Gymnasium's face of many games at once: one learner in each, an opponent in all other seats.

Notation: B games, S seats, A actions, N entries of an observation.
"""

from collections.abc import Callable
from secrets import randbelow
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hanamachi import kernels
from hanamachi.errors import UserError
from hanamachi.frames import Frame, checked_render_mode, frame
from hanamachi.game import OVER
from hanamachi.games import variant
from hanamachi.opponents import (
    Choose,
    Opponent,
    as_opponent,
    check_legal,
    checked_seat,
    initial_memory,
)
from hanamachi.session import SEEDS, checked_seeds, whole_number

Infos = dict[str, Any]


class VectorSeatEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """Many games, in each of which one seat learns; where a game ends, the next one begins.

    Game i of a batch reset with seed s is the game of a SeatEnv reset with seed s + i. Masks,
    (B, A) int8, are in infos["action_mask"]; autoreset is SAME_STEP, so what the learner saw at
    the end of a game is in infos["final_obs"]. The opponent answers all games that wait for it
    as one batch, with `np_random`; a plain function is asked row by row. An illegal action
    raises IllegalAction and leaves all games as they were.
    """

    metadata = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["ansi", "rgb_array"],
    }

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        seat: int | str = "random",
        opponent: Opponent | Choose | None = None,
        render_mode: str | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        """`threads` is by default the environment variable HANAMACHI_THREADS, or all processors."""
        self.variant = variant(game, **options)
        self.num_envs = checked_size(num_envs)
        self.seat_wanted = checked_seat(seat, self.variant.seats)
        self.opponent = as_opponent(opponent, self.variant)
        self.render_mode = checked_render_mode(render_mode)
        self.threads = threads
        layout = self.variant.observation
        self.single_observation_space = spaces.Box(layout.low, layout.high)
        self.single_action_space = spaces.Discrete(self.variant.actions.size)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._games = self.variant.new(self._seeds(randbelow(SEEDS - self.num_envs)))  # (B,)
        self._games["mover"] = OVER
        self._seats = np.zeros(self.num_envs, np.int64)  # (B,) of the learners
        self._masks = np.zeros((self.num_envs, self.variant.actions.size), np.int8)
        self._earlier = np.zeros(self.num_envs)  # (B,) earned before the learners' first decisions
        self._memory = initial_memory(self.opponent, self.num_envs, self.variant.seats)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], Infos]:
        """Begin all games, game i with seed + i; without a seed each goes on with its generator."""
        if options:
            raise UserError(f"reset takes no options for many games at once, not {options!r}")
        if seed is not None:
            self._games = self.variant.new(self._seeds(whole_number(seed, "a seed")))
        super().reset(seed=seed)
        self._begin(np.arange(self.num_envs))
        observations = self._observe()
        return observations, self._infos()

    def _seeds(self, first: int) -> NDArray[np.uint64]:
        return checked_seeds(range(first, first + self.num_envs))

    def _begin(self, rows: NDArray[np.int64]) -> None:
        """New games in these rows, up to the learner's first decision."""
        while len(rows) > 0:
            games = self._games[rows]
            if isinstance(self.seat_wanted, str):
                self._seats[rows] = games["rng"] % np.uint64(self.variant.seats)
            else:
                self._seats[rows] = self.seat_wanted
            self._spread(kernels.reset, games)
            self._games[rows] = games
            self._memory[rows] = initial_memory(self.opponent, len(rows), self.variant.seats)
            self._earlier[rows] = self._others_play()[rows]
            rows = rows[games_over(self._games[rows])]

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """An action in every game, and all that happens up to the learner's next decision."""
        if games_over(self._games).any():
            raise UserError("no game is in progress; call reset() to begin")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise UserError(f"actions must be {self.num_envs} whole numbers, one for each game")
        check_legal(actions, self._masks, "the learner")
        self._spread(kernels.step, self._games, actions.astype(np.int64))
        rewards = self._earlier + self._earned(self._games, self._seats) + self._others_play()
        self._earlier[:] = 0
        over = games_over(self._games)
        observations, ended = self._observe(), {}
        if over.any():
            ended = self._final_infos(observations, over)
            self._begin(np.flatnonzero(over))
            observations = self._observe()
        return observations, rewards, over, np.zeros_like(over), {**self._infos(), **ended}

    def _others_play(self) -> NDArray[np.float64]:
        """Up to each learner's turn or the end; returns what it brings the learners, (B,)."""
        rewards = np.zeros(self.num_envs)
        while True:
            movers = self._games["mover"]
            rows = np.flatnonzero((movers != self._seats) & (movers != OVER))
            if len(rows) == 0:
                return rewards
            games = self._games[rows]
            self._opponent_acts(games, rows)
            self._games[rows] = games
            rewards[rows] += self._earned(games, self._seats[rows])

    def _opponent_acts(self, games: NDArray[Any], rows: NDArray[np.int64]) -> None:
        movers = games["mover"].astype(np.int64)
        observations, masks = self._view(games, movers)
        memory = self._memory[rows, movers]
        actions, memory = self.opponent.act(observations, masks, memory, self.np_random)
        check_legal(actions, masks, "the opponent")
        self._memory[rows, movers] = memory
        self._spread(kernels.step, games, actions)

    # --- What the learners see

    def _view(
        self, games: NDArray[Any], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        observations = np.empty((len(games), self.variant.observation.size), np.float32)
        masks = np.empty((len(games), self.variant.actions.size), np.int8)
        self._spread(kernels.observations, games, seats, observations)
        self._spread(kernels.masks, games, masks)
        return observations, masks

    def _observe(self) -> NDArray[np.float32]:
        observations, self._masks = self._view(self._games, self._seats)
        return observations

    def _infos(self) -> Infos:
        """Gymnasium's form: beside each entry, which games have it."""
        return {"action_mask": self._masks, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _final_infos(self, observations: NDArray[np.float32], over: NDArray[np.bool_]) -> Infos:
        final_obs = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(over):
            final_obs[row] = observations[row]
        masks = np.zeros_like(self._masks)
        final_info = {"action_mask": masks, "_action_mask": over.copy()}
        return {
            "final_obs": final_obs,
            "_final_obs": over.copy(),
            "final_info": final_info,
            "_final_info": over.copy(),
        }

    def render(self) -> tuple[Frame, ...] | None:  # type: ignore[override]
        """Each whole table, open, as text or as an image."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing; choose render_mode="ansi" or another')
            return None
        return tuple(frame(self.variant, game, self.render_mode) for game in self._games)

    # --- Help

    def _earned(self, games: NDArray[Any], seats: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the last action brought each of these seats, (B,)."""
        earned: NDArray[np.float64] = games["rewards"][np.arange(len(games)), seats].astype(float)
        return earned

    def _spread(self, loop: Callable[..., Any], *rows: NDArray[Any]) -> None:
        kernels.spread(loop, self.variant.rules, *rows, threads=self.threads)


def games_over(games: NDArray[Any]) -> NDArray[np.bool_]:
    """Which games have ended, (B,)."""
    over: NDArray[np.bool_] = games["mover"] == OVER
    return over


def checked_size(num_envs: Any) -> int:
    size = whole_number(num_envs, "num_envs")
    if size < 1:
        raise UserError(f"num_envs must be at least 1, not {size}")
    return size
