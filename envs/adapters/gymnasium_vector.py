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

from hanamachi.engine import kernels
from hanamachi.engine.game import OVER
from hanamachi.engine.kernels import ANY_SEAT, LEARNER, Shown
from hanamachi.engine.layout import Layout
from hanamachi.engine.words import LARGEST
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.rendering.frames import Frame, checked_render_mode, frame
from hanamachi.sessions.opponents import (
    Choose,
    Opponent,
    RandomPlay,
    as_opponent,
    check_legal,
    checked_seat,
    initial_memory,
    with_worlds,
)
from hanamachi.sessions.session import SEEDS, checked_seeds, whole_number
from hanamachi.sessions.worlds import Worlds

Infos = dict[str, Any]


class VectorSeatEnv(VectorEnv[NDArray[Any], NDArray[np.int64], NDArray[Any]]):
    """Many games, in each of which one seat learns; where a game ends, the next one begins.

    Game i of a batch reset with seed s is the game of a SeatEnv reset with seed s + i. Masks,
    (B, A) int8, are in infos["action_mask"]; autoreset is SAME_STEP, so what the learner saw at
    the end of a game is in infos["final_obs"]. The opponent answers all games that wait for it
    as one batch, with `np_random`; a plain function is asked row by row. Without an opponent all
    others play at random, in compiled code, each game with a generator that `np_random` seeds. An
    illegal action raises IllegalAction and leaves all games as they were.
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
        dtype: Any = np.float32,
        copy: bool = True,
        **options: Any,
    ) -> None:
        """`threads` is by default the environment variable HANAMACHI_THREADS, or all processors.

        Observations are float32, or int8: entry i is then the float32 one times
        `variant.observation.units[i]`, rounded, at most 127. With `copy=False` each step fills the
        arrays of the last one again, and the masks must not be written to.
        """
        self.variant = variant(game, **options)
        self.num_envs = checked_size(num_envs)
        self.seat_wanted = checked_seat(seat, self.variant.seats)
        self.opponent = as_opponent(opponent, self.variant)
        self.render_mode = checked_render_mode(render_mode)
        self.threads = threads
        self.dtype = checked_dtype(dtype)
        self.copy = copy
        self.single_observation_space = space_of(self.variant.observation, self.dtype)
        self.single_action_space = spaces.Discrete(self.variant.actions.size)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._games = self.variant.new(self._seeds(randbelow(SEEDS - self.num_envs)))  # (B,)
        self._games["mover"] = OVER
        self._learners = np.zeros(self.num_envs, LEARNER)  # (B,)
        self._seed_opponents()
        self._memory = initial_memory(self.opponent, self.num_envs, self.variant.seats)
        self._shown = self._new_arrays()
        masks = self._shown.masks  # by which actions are judged
        self._masks = masks.copy() if copy else masks

    def _new_arrays(self) -> Shown:
        batch, entries = self.num_envs, self.variant.observation.size
        return Shown(
            observations=np.empty((batch, entries), self.dtype),
            masks=np.zeros((batch, self.variant.actions.size), np.int8),
            rewards=np.empty(batch),
            terminated=np.empty(batch, np.bool_),
            last=np.empty((batch, entries), self.dtype),
        )

    # --- Play

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], Infos]:
        """Begin all games, game i with seed + i; without a seed each goes on with its generator."""
        if options:
            raise UserError(f"reset takes no options for many games at once, not {options!r}")
        if seed is not None:
            self._games = self.variant.new(self._seeds(whole_number(seed, "a seed")))
        super().reset(seed=seed)
        if seed is not None:
            self._seed_opponents()
        shown = self._arrays()
        if self._against_random:
            told = self._games, self._seat_told, self._learners
            self._parallel_for(kernels.reset_against_random, *told, shown.observations, shown.masks)
        else:
            self._begin(np.arange(self.num_envs))
            self._observe(shown)
        self._show(shown)
        return shown.observations, self._infos()

    def _seeds(self, first: int) -> NDArray[np.uint64]:
        return checked_seeds(range(first, first + self.num_envs))

    def _seed_opponents(self) -> None:
        """Generators for random play, never in the state 0, which they could not leave."""
        self._learners["rng"] = self.np_random.integers(1, SEEDS, self.num_envs, np.uint64)

    @property
    def _against_random(self) -> bool:
        return type(self.opponent) is RandomPlay

    @property
    def _seat_told(self) -> int:
        return ANY_SEAT if isinstance(self.seat_wanted, str) else self.seat_wanted

    def _arrays(self) -> Shown:
        """What the next step is to fill."""
        return self._new_arrays() if self.copy else self._shown

    def _show(self, shown: Shown) -> None:
        """These arrays are the caller's now; actions are judged by masks that nobody else has."""
        self._shown = shown
        if self.copy:
            self._masks[:] = shown.masks

    def sample_actions(self) -> NDArray[np.int64]:
        """A legal action of every learner, (B,), any as likely as the next, by `np_random`."""
        self._check_begun()
        actions = np.empty(self.num_envs, np.int64)
        self._parallel_for(kernels.pick, self._masks, self.np_random.random(self.num_envs), actions)
        return actions

    def _check_begun(self) -> None:
        if games_over(self._games).any():
            raise UserError("no game is in progress; call reset() to begin")

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """An action in every game, and all that happens up to the learner's next decision."""
        self._check_begun()
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise UserError(f"actions must be {self.num_envs} whole numbers, one for each game")
        check_legal(actions, self._masks, "the learner")
        shown = self._arrays()
        if self._against_random:
            told = self._games, actions.astype(np.int64), self._seat_told, self._learners
            self._parallel_for(kernels.step_against_random, *told, shown)
        else:
            self._step_and_ask(actions.astype(np.int64), shown)
        self._show(shown)
        observations, _, rewards, terminated, _ = shown
        ended = self._final_infos() if terminated.any() else {}
        return (
            observations,
            rewards,
            terminated,
            np.zeros_like(terminated),
            {**self._infos(), **ended},
        )

    def worlds(self) -> Worlds:
        """What the learners may imagine; policies that search need `with_worlds(env.worlds())`."""
        return Worlds(self.variant, self._games, self._learners["seat"])

    # --- Against an opponent that is asked

    def _begin(self, rows: NDArray[np.int64]) -> None:
        """New games in these rows, up to the learner's first decision."""
        while len(rows) > 0:
            games = self._games[rows]
            if isinstance(self.seat_wanted, str):
                self._learners["seat"][rows] = games["rng"] % np.uint64(self.variant.seats)
            else:
                self._learners["seat"][rows] = self.seat_wanted
            self._parallel_for(kernels.reset, games)
            self._games[rows] = games
            self._memory[rows] = initial_memory(self.opponent, len(rows), self.variant.seats)
            self._learners["earlier"][rows] = self._others_play()[rows]
            rows = rows[games_over(self._games[rows])]

    def _step_and_ask(self, actions: NDArray[np.int64], shown: Shown) -> None:
        """If the opponent fails, all games are as they were."""
        before = self._games.copy(), self._learners.copy(), self._memory.copy()
        try:
            self._step_in_all(actions, shown)
        except BaseException:
            self._games, self._learners, self._memory = before
            raise

    def _step_in_all(self, actions: NDArray[np.int64], shown: Shown) -> None:
        self._parallel_for(kernels.step, self._games, actions)
        earned = self._learners["earlier"] + self._earned(self._games, self._learners["seat"])
        shown.rewards[:] = earned + self._others_play()
        self._learners["earlier"] = 0
        shown.terminated[:] = games_over(self._games)
        ended = np.flatnonzero(shown.terminated)
        shown.last[ended] = self._seen(self._games[ended], self._learners["seat"][ended])
        self._begin(ended)
        self._observe(shown)

    def _others_play(self) -> NDArray[np.float64]:
        """Up to each learner's turn or the end; returns what it brings the learners, (B,)."""
        rewards = np.zeros(self.num_envs)
        seats = self._learners["seat"]
        while True:
            movers = self._games["mover"]
            rows = np.flatnonzero((movers != seats) & (movers != OVER))
            if len(rows) == 0:
                return rewards
            games = self._games[rows]
            self._opponent_acts(games, rows)
            self._games[rows] = games
            rewards[rows] += self._earned(games, seats[rows])

    def _opponent_acts(self, games: NDArray[Any], rows: NDArray[np.int64]) -> None:
        movers = games["mover"].astype(np.int64)
        observations = np.empty((len(games), self.variant.observation.size), np.float32)
        masks = np.empty((len(games), self.variant.actions.size), np.int8)
        self._parallel_for(kernels.observations, games, movers, observations)
        self._parallel_for(kernels.masks, games, masks)
        memory = self._memory[rows, movers]
        opponent = with_worlds(self.opponent, Worlds(self.variant, games, movers))
        actions, memory = opponent.act(observations, masks, memory, self.np_random)
        check_legal(actions, masks, "the opponent")
        self._memory[rows, movers] = memory
        self._parallel_for(kernels.step, games, actions)

    # --- What the learners see

    def _observe(self, shown: Shown) -> None:
        seats = self._learners["seat"]
        self._parallel_for(kernels.observations, self._games, seats, shown.observations)
        self._parallel_for(kernels.masks, self._games, shown.masks)

    def _seen(self, games: NDArray[Any], seats: NDArray[np.int64]) -> NDArray[Any]:
        observations = np.empty((len(games), self.variant.observation.size), self.dtype)
        self._parallel_for(kernels.observations, games, seats, observations)
        return observations

    def _infos(self) -> Infos:
        """Gymnasium's form: beside each entry, which games have it."""
        ones = np.ones(self.num_envs, np.bool_)
        return {"action_mask": self._shown.masks, "_action_mask": ones}

    def _final_infos(self) -> Infos:
        final_obs, terminated = np.full(self.num_envs, None, object), self._shown.terminated
        for row in np.flatnonzero(terminated):
            final_obs[row] = self._shown.last[row]
        masks = np.zeros_like(self._shown.masks)
        final_info = {"action_mask": masks, "_action_mask": terminated.copy()}
        return {
            "final_obs": final_obs,
            "_final_obs": terminated.copy(),
            "final_info": final_info,
            "_final_info": terminated.copy(),
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

    def _parallel_for(self, loop: Callable[..., Any], *rows: Any) -> None:
        kernels.parallel_for(loop, self.variant.rule_set, *rows, threads=self.threads)


def games_over(games: NDArray[Any]) -> NDArray[np.bool_]:
    """Which games have ended, (B,)."""
    terminated: NDArray[np.bool_] = games["mover"] == OVER
    return terminated


def checked_size(num_envs: Any) -> int:
    size = whole_number(num_envs, "num_envs")
    if size < 1:
        raise UserError(f"num_envs must be at least 1, not {size}")
    return size


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    if dtype not in (np.float32, np.int8, "float32", "int8"):
        raise UserError(f"dtype must be float32 or int8, not {dtype!r}")
    checked: np.dtype[Any] = np.dtype(dtype)
    return checked


def space_of(layout: Layout, dtype: np.dtype[Any]) -> spaces.Box:
    """The bounds of an observation, in int8 of what it counts in."""
    if dtype == np.float32:
        return spaces.Box(layout.low, layout.high)
    low, high = (
        np.clip(edge * layout.units, -LARGEST, LARGEST) for edge in (layout.low, layout.high)
    )
    return spaces.Box(low.astype(np.int8), high.astype(np.int8), dtype=np.int8)
