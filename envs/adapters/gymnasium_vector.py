"""Gymnasium's vector environment: many games, each with one learner and an opponent.

Notation: B games, S seats, A actions, N entries of an observation.
"""

from collections.abc import Sequence
from secrets import randbelow
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hanamachi.adapters.boxes import batch_box, box
from hanamachi.adapters.opponents_and_options import (
    Asked,
    close_if_named,
    known_options,
    opponent_for,
)
from hanamachi.engine import kernels
from hanamachi.engine.kernels import Shown
from hanamachi.engine.layout import Layout
from hanamachi.engine.memory import check_memory
from hanamachi.engine.threads import processors
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant
from hanamachi.limits import THREADS
from hanamachi.rendering.frames import Frame, checked_render_mode, frame
from hanamachi.sessions.arguments import (
    SEEDS,
    checked_flag,
    checked_mapping,
    checked_render_seat,
    checked_seeds,
    checked_size,
    whole_number,
)
from hanamachi.sessions.learner_games import (
    AgainstOpponent,
    LearnerGames,
    Seeds,
    games_over,
    learner_games,
)
from hanamachi.sessions.opponent_protocol import checked_seat
from hanamachi.sessions.policy_checks import checked_actions
from hanamachi.sessions.session import NO_GAME, RESET_OPTIONS
from hanamachi.sessions.worlds import Worlds

Infos = dict[str, Any]


class VectorSeatEnv(VectorEnv[NDArray[Any], NDArray[np.int64], NDArray[Any]]):
    """Many games, in each of which one seat learns; where a game ends, the next one begins.

    Game i of a batch reset with seed s is the game of a SeatEnv reset with seed s + i. Masks,
    (B, A) int8, are in infos["action_mask"]; those of games that are over are zeros. Autoreset is
    SAME_STEP unless chosen otherwise, so the learner's last observation of a game is in
    infos["final_obs"]. The opponent answers all games that wait for it in one call, with
    `np_random`; a plain function is called for each row. Without an opponent the other seats play
    at random, under SAME_STEP in compiled code with a generator for each game, which `np_random`
    seeds. An illegal action raises IllegalAction and leaves all games as they were.
    """

    metadata = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 1,
    }

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        seat: int | str = "random",
        opponent: Asked = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        render_seat: int | None = None,
        threads: int | None = None,
        dtype: Any = np.float32,
        copy: bool = True,
        **options: Any,
    ) -> None:
        """`threads` is by default the environment variable HANAMACHI_THREADS, or all processors.

        0 threads stand for all processors, whatever that variable says.

        `autoreset_mode` is SAME_STEP, NEXT_STEP or DISABLED, as in Gymnasium's own environments.
        Observations are float32, or int8: entry i is then the float32 entry times
        `variant.observation.units[i]`, rounded, at most 127. With `copy=False` each step writes to
        the arrays of the step before.
        """
        if "illegal_reward" in options:
            raise UserError(
                "a batch takes no illegal_reward, as it refuses illegal actions: leave it out, or "
                'add vectorization_mode="sync" to make_vec'
            )
        self.variant = variant(game, **options)
        self.num_envs = checked_size(num_envs)
        self.opponent_wanted = opponent
        self.opponent = opponent_for(opponent, self.variant)
        self.autoreset_mode = checked_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = checked_render_mode(render_mode, self.metadata["render_modes"])
        self.render_seat = checked_render_seat(render_seat, self.variant.seats)
        self.dtype = checked_dtype(dtype)
        self.copy = checked_flag(copy, "copy")
        self._check_memory()
        self.single_observation_space = space_of(self.variant.observation, self.dtype)
        self.single_action_space = spaces.Discrete(self.variant.actions.size)
        self.observation_space = batch_box(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._make_games(checked_seat(seat, self.variant.seats), checked_threads(threads))
        self._begun = False
        self._shown = self._new_arrays()
        self._masks = self._shown.masks.copy()

    def _make_games(self, seat: int | str, threads: int | None) -> None:
        """Make the games, and choose what a step does with those that are over."""
        seeds = self._seeds_from(randbelow(SEEDS - self.num_envs))
        how = self.opponent, self.variant, seeds, seat, threads
        self._play: LearnerGames
        if self._resets_at_once:
            self._play = play = learner_games(*how)
            self._step = play.step
        else:
            self._play = against = AgainstOpponent(*how)
            self._step = against.step_or_begin
        self._play.seed_random_play(self.np_random)

    @property
    def _resets_at_once(self) -> bool:
        return self.autoreset_mode is AutoresetMode.SAME_STEP

    def _check_memory(self) -> None:
        observations = 4 * self.dtype.itemsize * self.variant.observation.size  # two are bounds
        masks = 2 * self.variant.actions.size
        check_memory(self.num_envs * (observations + masks), f"{self.num_envs:,} games")

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
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], Infos]:
        """Begin games: all, or those of `options["reset_mask"]`, (B,) bool.

        With a number as seed, game i has seed + i; a list has a seed for each game. A game without
        a seed keeps its generator. `np_random` is seeded where all games begin, with the first of
        the seeds. Other options are ignored with a warning, but a deal, a state or a misspelt name
        is refused.
        """
        rows = self._rows_to_reset(options)
        first, seeds = self._checked_seed(seed, rows)
        everywhere = len(rows) == self.num_envs
        if everywhere:
            super().reset(seed=first)
        if everywhere and first is not None:
            self._play.seed_random_play(self.np_random)
        arrays = self._arrays()
        self._begun = self._begun and not everywhere  # if the opponent fails, nothing has begun
        self._play.reset(rows, seeds, arrays, self.np_random)
        self._begun = True
        self._show(arrays)
        return arrays.observations[:], self._infos()

    def _rows_to_reset(self, options: Any) -> NDArray[np.int64]:
        """The numbers of the games to begin; UserError for options that do not fit."""
        mask = reset_mask_in(options)
        if mask is None:
            return np.arange(self.num_envs)
        is_mask = isinstance(mask, np.ndarray) and mask.dtype == np.bool_
        if not is_mask or mask.shape != (self.num_envs,) or not mask.any():
            raise UserError(
                f"reset_mask must be a bool array of shape ({self.num_envs},) with a True in it, "
                f"not {shown(mask)}"
            )
        if not (self._begun or mask.all()):
            raise UserError("the first reset must begin all games: leave out reset_mask")
        return np.flatnonzero(mask)

    def _checked_seed(self, seed: Any, rows: NDArray[np.int64]) -> tuple[int | None, Seeds]:
        """The seed of `np_random`, and those of games."""
        if seed is None:
            return None, (rows[:0], np.zeros(0, np.uint64))
        if not isinstance(seed, list | tuple) and np.ndim(seed) == 0:
            first = whole_number(seed, "a seed")  # also of numpy
            return first, (rows, self._seeds_from(first)[rows])
        if len(seed) != self.num_envs:
            raise UserError(f"a list of seeds must have {self.num_envs}, not {len(seed)}")
        given = [row for row in rows.tolist() if seed[row] is not None]
        seeds = checked_seeds(seed[row] for row in given)
        return (int(seeds[0]) if given else None), (np.array(given, np.int64), seeds)

    def _seeds_from(self, first: int) -> NDArray[np.uint64]:
        checked_seeds([first, first + self.num_envs - 1])
        return np.uint64(first) + np.arange(self.num_envs, dtype=np.uint64)

    def _arrays(self) -> Shown:
        """The arrays that the next step fills."""
        return self._new_arrays() if self.copy else self._shown

    def _show(self, arrays: Shown) -> None:
        """Hand these arrays to the caller; actions are checked against a copy of the masks."""
        self._shown = arrays
        self._masks[:] = arrays.masks
        if not self._resets_at_once:
            self._masks[games_over(self._play.games)] = 1  # what is chosen there is ignored

    def sample_actions(self) -> NDArray[np.int64]:
        """A legal action of every learner, (B,), drawn uniformly by `np_random`."""
        self._check_none_over()
        actions = np.empty(self.num_envs, np.int64)
        uniform = self.np_random.random(self.num_envs)
        self._play.parallel_for(kernels.pick, self._masks, uniform, actions)
        return actions

    def _check_begun(self) -> None:
        if not self._begun:
            raise UserError(NO_GAME)

    def _check_none_over(self) -> None:
        """UserError where the caller must begin another game first."""
        self._check_begun()
        if self.autoreset_mode is not AutoresetMode.DISABLED:
            return
        over = games_over(self._play.games)
        if over.any():
            raise UserError(
                f"{over.sum()} of {self.num_envs} games are over; begin new ones with "
                'reset(options={"reset_mask": terminated})'
            )

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """An action in every game, (B,), and all that happens up to the learner's next decision.

        Returns observations, (B, N) of `dtype`; rewards, (B,) float64; which games have ended, (B,)
        bool; as many False, as no game is truncated; and infos. Raises IllegalAction, and leaves
        all games as they were, if an action is not legal; UserError for actions of another shape or
        type, if no game is in progress, and under DISABLED if one is over.
        """
        self._check_none_over()
        chosen = checked_actions(actions, self._masks, "the learner", "game")
        arrays = self._arrays()
        self._step(chosen, arrays, self.np_random)
        self._show(arrays)
        # views: a caller who reshapes or locks them leaves the arrays of the next step alone
        observations, _, rewards, terminated, _ = (array[:] for array in arrays)
        ended = self._final_infos() if self._resets_at_once and terminated.any() else {}
        return (
            observations,
            rewards,
            terminated,
            np.zeros_like(terminated),
            {**self._infos(), **ended},
        )

    def worlds(self) -> Worlds:
        """What the learners may imagine; policies that search need `with_worlds(env.worlds())`.

        UserError before the first reset. Nothing can be imagined of a game that is over.
        """
        self._check_begun()
        return Worlds(self.variant, self._play.games, self._play.learners["seat"])

    def close_extras(self, **kwargs: Any) -> None:
        """End the processes of an opponent that was given by its name, such as a bot."""
        close_if_named(self.opponent_wanted, self.opponent)

    # --- Infos and pictures

    def _infos(self) -> Infos:
        """In Gymnasium's form: "_name" says which games have the entry "name"."""
        ones = np.ones(self.num_envs, np.bool_)
        return {"action_mask": self._shown.masks[:], "_action_mask": ones}

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
        """Each table, as `render_seat` sees it or open, as text or as an image."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing; choose render_mode="ansi" or another')
            return None
        self._check_begun()
        return tuple(
            frame(self.variant, game, self.render_mode, self.render_seat)
            for game in self._play.games
        )


def reset_mask_in(options: Any) -> Any:
    """What the options of a reset give as "reset_mask", unchecked; None if they do not.

    Other options are ignored with a warning; UserError for a deal, a state or a misspelt name.
    """
    if not checked_mapping(options).keys().isdisjoint(RESET_OPTIONS):
        raise UserError("reset takes no options but reset_mask for many games at once")
    return known_options(options, ["reset_mask"]).get("reset_mask")


def checked_mode(mode: Any) -> AutoresetMode:
    """An autoreset mode, or its value, such as "NextStep"."""
    for known in AutoresetMode:
        if isinstance(mode, str | AutoresetMode) and mode in (known, known.value, known.name):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise UserError(f"autoreset_mode must be one of {names}, not {shown(mode)}")


def checked_threads(threads: Any) -> int | None:
    """How many threads; 0 stands for one for each processor, whatever HANAMACHI_THREADS says."""
    if threads is None:
        return None
    number = whole_number(threads, "threads")
    if not 0 <= number <= THREADS:
        raise UserError(f"threads must be from 1 to {THREADS}, or 0 for all, not {shown(threads)}")
    return number or processors()


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    for known in (np.float32, np.int8):
        if isinstance(dtype, type | str | np.dtype) and dtype in (known, known.__name__):
            return np.dtype(known)
    raise UserError(f"dtype must be float32 or int8, not {shown(dtype)}")


def space_of(layout: Layout, dtype: np.dtype[Any]) -> spaces.Box:
    """The bounds of an observation, in int8 of what it counts in."""
    if dtype == np.float32:
        return box(layout.low, layout.high)
    return box(*layout.int8_bounds, np.int8)
