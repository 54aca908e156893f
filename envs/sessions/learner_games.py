"""Many games with one learner in each: what all other seats do up to the learner's next decision.

Random play runs in compiled code; any other opponent is asked, in one call for all games that wait.

Notation: B games, n of them, A actions, N entries of an observation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.kernels import ANY_SEAT, BEGIN, LEARNER, Shown, drawn_seat
from hanamachi.engine.threads import parallel_for
from hanamachi.sessions.arguments import SEEDS
from hanamachi.sessions.opponent_protocol import Opponent, RandomPlay
from hanamachi.sessions.players import Rows, SeatedPlayer, turns_of

Seeds = tuple[Rows, NDArray[np.uint64]]  # rows, (m,), and the seed of each, (m,)


class LearnerGames(ABC):
    """B games, in each of which one seat learns; subclasses play the other seats.

    `seat` is the learner's in every game; with "random" each game's generator draws it.
    """

    def __init__(
        self, variant: Variant, seeds: NDArray[np.uint64], seat: int | str, threads: int | None
    ) -> None:
        self.variant, self.seat, self.threads = variant, seat, threads
        self.games = variant.new(seeds)  # (B,)
        self.games["mover"] = OVER
        self.learners = np.zeros(len(seeds), LEARNER)  # (B,)

    def seed_random_play(self, rng: np.random.Generator) -> None:
        """Draw the generators of random play; their state is never 0, which never changes."""
        self.learners["rng"] = rng.integers(1, SEEDS, len(self.games), np.uint64)

    @abstractmethod
    def reset(self, rows: Rows, seeds: Seeds, shown: Shown, rng: np.random.Generator) -> None:
        """Begin games in these rows, up to the learners' first decisions; show all rows.

        Rows of `seeds` begin with their seeds; the others keep their generators. Only the
        observations and masks in `shown` hold something after it.
        """

    @abstractmethod
    def step(self, actions: NDArray[np.int64], shown: Shown, rng: np.random.Generator) -> None:
        """Take the learners' legal actions, (B,), and play up to their next decisions.

        These are in new games where the old ones have ended.
        """

    def _seed(self, rows: Rows, seeds: NDArray[np.uint64]) -> None:
        self.games["rng"][rows] = self.variant.new(seeds)["rng"]

    def parallel_for(self, loop: Callable[..., Any], *rows: Any) -> None:
        parallel_for(loop, self.variant.rule_set, *rows, threads=self.threads)

    def _observe(self, shown: Shown) -> None:
        """Show what the learners see in all rows, whatever the arrays held before."""
        seats = self.learners["seat"].copy()  # in one piece, as in all calls of the kernel
        self.parallel_for(kernels.observations, self.games, seats, shown.observations)
        self.parallel_for(kernels.masks, self.games, shown.masks)


def learner_games(
    opponent: Opponent,
    variant: Variant,
    seeds: NDArray[np.uint64],
    seat: int | str,
    threads: int | None,
) -> LearnerGames:
    """The games with this opponent in all other seats, to be reset first."""
    if type(opponent) is RandomPlay:
        return AgainstRandom(variant, seeds, seat, threads)
    return AgainstOpponent(opponent, variant, seeds, seat, threads)


class AgainstRandom(LearnerGames):
    """All other seats play at random, in compiled code."""

    def reset(self, rows: Rows, seeds: Seeds, shown: Shown, rng: np.random.Generator) -> None:
        self._seed(*seeds)
        arrays: list[NDArray[Any]] = [self.games, self.learners, *shown]
        every = len(rows) == len(self.games)  # whose arrays numpy need not copy
        part: Any = slice(None) if every else rows
        games, learners, *seen = new = [array[part] for array in arrays]
        self._play(games, np.full(len(games), BEGIN), learners, Shown(*seen))
        for array, played in zip(arrays, new, strict=True):
            array[part] = played
        if not every:
            self._observe(shown)

    def step(self, actions: NDArray[np.int64], shown: Shown, rng: np.random.Generator) -> None:
        self._play(self.games, actions, self.learners, shown)

    def _play(
        self,
        games: NDArray[Any],
        actions: NDArray[np.int64],
        learners: NDArray[Any],
        shown: Shown,
    ) -> None:
        seat = ANY_SEAT if isinstance(self.seat, str) else self.seat
        self.parallel_for(kernels.step_against_random, games, actions, seat, learners, shown)


class AgainstOpponent(LearnerGames):
    """An opponent is asked for the actions of all other seats."""

    def __init__(self, opponent: Opponent, variant: Variant, *settings: Any) -> None:
        super().__init__(variant, *settings)
        self.player = SeatedPlayer(opponent, variant, len(self.games))

    def reset(self, rows: Rows, seeds: Seeds, shown: Shown, rng: np.random.Generator) -> None:
        """If the opponent fails, all games are as they were."""
        with self._all_or_nothing():
            self._seed(*seeds)
            self._begin(rows, rng)
            self._observe(shown)

    def step(self, actions: NDArray[np.int64], shown: Shown, rng: np.random.Generator) -> None:
        """If the opponent fails, all games are as they were."""
        with self._all_or_nothing():
            self._move(np.arange(len(self.games)), actions, shown, rng)
            ended = np.flatnonzero(shown.terminated)
            seats = self.learners["seat"][ended]
            last = np.empty((len(ended), shown.last.shape[1]), shown.last.dtype)
            self.parallel_for(kernels.observations, self.games[ended], seats, last)
            shown.last[ended] = last
            self._begin(ended, rng)
            self._observe(shown)

    def step_or_begin(
        self, actions: NDArray[np.int64], shown: Shown, rng: np.random.Generator
    ) -> None:
        """Step the games in progress, which may end, and begin new ones where games were over.

        An action for a game that was over is ignored. If the opponent fails, all games are as they
        were.
        """
        over = games_over(self.games)
        with self._all_or_nothing():
            self._move(np.flatnonzero(~over), actions, shown, rng)
            self._begin(np.flatnonzero(over), rng)
            self._observe(shown)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        before = self.games.copy(), self.learners.copy(), self.player.memory.copy()
        try:
            yield
        except BaseException:
            # in place, as `worlds` of the environment look at these arrays
            self.games[:], self.learners[:], self.player.memory[:] = before
            raise

    def _move(
        self, rows: Rows, actions: NDArray[np.int64], shown: Shown, rng: np.random.Generator
    ) -> None:
        """The learners' actions in these rows, and what follows; nothing happens in the others."""
        moved, seats = self.games[rows], self.learners["seat"][rows]
        self.parallel_for(kernels.step, moved, actions[rows])
        self.games[rows] = moved
        earned = self.learners["earlier"][rows] + of_seats(moved["rewards"], seats)
        self.learners["earlier"][rows] = 0
        shown.rewards[:] = 0
        shown.rewards[rows] = earned + self._others_play(rng)[rows]
        shown.terminated[:] = False
        shown.terminated[rows] = games_over(self.games[rows])

    def _begin(self, rows: Rows, rng: np.random.Generator) -> None:
        """New games in these rows, up to the learner's first decision."""
        while len(rows) > 0:
            games = self.games[rows]
            if isinstance(self.seat, str):
                self.learners["seat"][rows] = drawn_seat(games["rng"], self.variant.seats)
            else:
                self.learners["seat"][rows] = self.seat
            self.parallel_for(kernels.reset, games)
            self.games[rows] = games
            self.player.forget(rows)
            self.learners["earlier"][rows] = self._others_play(rng)[rows]
            rows = rows[games_over(self.games[rows])]

    def _others_play(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Up to each learner's turn or the end; returns what it brings the learners, (B,)."""
        rewards, seats = np.zeros(len(self.games)), self.learners["seat"]
        while True:
            movers = self.games["mover"]
            rows = np.flatnonzero((movers != seats) & (movers != OVER))
            if len(rows) == 0:
                return rewards
            turns = turns_of(self.variant, self.games, rows, self.threads)
            actions = self.player.act(turns, rng)
            earned = turns.step(self.games, actions, self.threads)
            rewards[rows] += of_seats(earned, seats[rows])


def of_seats(rewards: NDArray[np.float32], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rewards, (n, S), of one seat in each game, (n,)."""
    chosen: NDArray[np.float64] = rewards[np.arange(len(rewards)), seats].astype(float)
    return chosen


def games_over(games: NDArray[Any]) -> NDArray[np.bool_]:
    """Which games have ended, (B,)."""
    terminated: NDArray[np.bool_] = games["mover"] == OVER
    return terminated
