"""The Gymnasium environment of every game: one seat learns, an opponent plays all others."""

from contextlib import suppress
from math import isfinite
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hanamachi.adapters.boxes import box
from hanamachi.adapters.opponents_and_options import (
    OPPONENT_FAILED,
    Asked,
    close_if_named,
    known_options,
    opponent_for,
)
from hanamachi.adapters.rendered import rendered
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import IllegalAction, UserError, shown
from hanamachi.games.registry import variant
from hanamachi.rendering.frames import RENDER_MODES, Frame, checked_render_mode
from hanamachi.sessions.arguments import checked_render_seat, checked_seed
from hanamachi.sessions.opponent_protocol import checked_seat, learner_seat
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.saved_games import Record, record_of
from hanamachi.sessions.session import NO_GAME, Session
from hanamachi.sessions.states import checked_state
from hanamachi.sessions.worlds import Worlds, worlds_of

NOTHING_LEFT = (
    "with this state or deal the game ends before the learner decides: give reset another, or none"
)

Transition = tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]


class SeatEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One seat of a game; each step goes to its next decision, with all that it earns on the way.

    Observations are (N,) float32; the action mask, (A,) int8, is in the info and given by
    `action_masks`. What is earned before the seat's first decision comes with its first step, so
    that a game's rewards are all there. `seat` may be "random": each game then draws it, with the
    game's generator. The opponent, a policy or its name, plays with `np_random`. An illegal action
    raises IllegalAction, unless `illegal_reward` is given: then it ends the game and brings the
    learner this much, and what came before its first decision.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        *,
        seat: int | str = "random",
        opponent: Asked = None,
        illegal_reward: float | None = None,
        render_mode: str | None = None,
        render_seat: int | None = None,
        **options: Any,
    ) -> None:
        """`game` is the id of a variant, and `options` are its own, such as starter=0.

        `render` shows what the seat `render_seat` sees, by default all cards. Raises UserError for
        an id, an option, a seat, a reward or a render mode that does not exist, and for an opponent
        that cannot play the game.
        """
        self._session = Session(variant(game, **options))
        self.seat_wanted = checked_seat(seat, self.variant.seats)
        self.opponent_wanted = opponent
        self.opponent = opponent_for(opponent, self.variant)
        self.illegal_reward = checked_reward(illegal_reward)
        self.render_mode = checked_render_mode(render_mode)
        self.render_seat = checked_render_seat(render_seat, self.variant.seats)
        layout = self.variant.observation
        self.observation_space = box(layout.low, layout.high)  # type: ignore[assignment]
        self.action_space = spaces.Discrete(self.variant.actions.size)
        self.seat = 0  # of the learner in this game
        self._earlier = 0.0  # what the learner has earned before its first decision
        self._over = True  # until the first reset
        self._forfeited = False
        self._mask = np.zeros(self.variant.actions.size, np.int8)

    @property
    def variant(self) -> Variant:
        """The rule set that is played."""
        return self._session.variant

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a game; `seed` and `options` as in hanamachi.adapters.aec.AEC.reset.

        A game that ends before the learner's first decision is followed by another. UserError if
        it began from a state or a deal that leaves the learner nothing to decide.
        """
        seed = None if seed is None else checked_seed(seed)
        given = known_options(options)
        if "state" in given and checked_state(self.variant, given["state"])["mover"] == OVER:
            raise UserError(NOTHING_LEFT)
        self._session.begin(seed, given)  # first, as it refuses what does not fit
        self._over, self._forfeited = True, False  # until the opponent has played
        super().reset(seed=seed)
        self._take_seat()
        while self._session.mover == OVER:
            if given:
                raise UserError(NOTHING_LEFT)
            self._session.begin()
            self._take_seat()
        self._over = False
        return self._look()

    def _take_seat(self) -> None:
        self.seat = learner_seat(self.seat_wanted, self._session)
        self._others = SeatedPlayer(self.opponent, self.variant, games=1)
        self._earlier = self._others_play()

    def step(self, action: Any) -> Transition:
        """The learner's action, and all that happens up to its next decision or the end.

        Returns the observation, (N,) float32; the reward; whether the game is over; False, as no
        game is truncated; and the info with the action mask, (A,) int8. Raises IllegalAction, and
        leaves the game as it was, unless `illegal_reward` is given; UserError for what is no whole
        number, or if no game is in progress.
        """
        if self._over:
            raise UserError(NO_GAME)
        if self._session.mover != self.seat:
            raise UserError(OPPONENT_FAILED)
        try:
            self._session.step(action)
        except IllegalAction:
            if self.illegal_reward is None:
                raise
            return self._forfeit(self.illegal_reward)
        reward = self._earlier + self._session.rewards()[self.seat] + self._others_play()
        self._earlier = 0.0
        self._over = self._session.mover == OVER
        observation, info = self._look()
        return observation, reward, self._over, False, info

    def _forfeit(self, reward: float) -> Transition:
        """The game ends here for the learner, who may do nothing more."""
        self._over = self._forfeited = True
        observation, info = self._look()
        return observation, self._earlier + reward, True, False, info

    def _others_play(self) -> float:
        """Up to the learner's turn or the end; returns what it brings the learner."""
        reward = 0.0
        while self._session.mover not in (self.seat, OVER):
            (action,) = self._others.act(turn_of(self._session), self.np_random)
            self._session.step(action)
            reward += self._session.rewards()[self.seat]
        return reward

    def _look(self) -> tuple[NDArray[np.float32], dict[str, Any]]:
        observation, self._mask = self._session.observe(self.seat)
        if self._forfeited:
            self._mask[:] = 0
        if self.render_mode == "human":
            self.render()
        return observation, {"action_mask": self._mask.copy()}

    def worlds(self) -> Worlds:
        """What the learner may imagine; policies that search need `with_worlds(env.worlds())`.

        UserError if no game is in progress.
        """
        if self._forfeited:
            raise UserError(NO_GAME)
        return worlds_of(self._session, self.seat)

    def action_masks(self) -> NDArray[np.int8]:
        """The learner's legal actions, (A,): all zeros once the game is over."""
        return self._mask.copy()

    def render(self, seat: int | None = None) -> Frame:  # type: ignore[override]
        """The table: "human" prints it, "ansi" returns text, "rgb_array" an image.

        It is as `seat` sees it, else as `render_seat` does; without either all cards are open.
        UserError for a seat that is not there, and before the first game.
        """
        wanted = self.render_seat if seat is None else seat
        return rendered(self._session, self.render_mode, wanted, forfeited=self._forfeited)

    def _repr_svg_(self) -> str | None:
        """The table for a notebook, open as in `render`."""
        return self._session._repr_svg_()

    def close(self) -> None:
        """End the processes of an opponent that was given by its name, such as a bot."""
        close_if_named(self.opponent_wanted, self.opponent)

    def record(self) -> Record:
        """The game so far, to be saved and replayed.

        UserError before the first game, and for one that began from a given position.
        """
        return record_of(self._session)


def checked_reward(reward: Any) -> float | None:
    """What an illegal action brings; None if it raises."""
    if reward is None:
        return None
    with suppress(TypeError, ValueError, OverflowError):
        if not isinstance(reward, str) and isfinite(number := float(reward)):
            return number
    raise UserError(f"illegal_reward must be None or a finite number, not {shown(reward)}")
