"""A Gymnasium environment in words: prompts are observations, replies are actions.

env = TextEnv("hanamikoji", opponent="expert")
prompt, info = env.reset(seed=0)
prompt, reward, terminated, _, info = env.step(ask_your_model(info["messages"]))
"""

import string
from typing import Any

import gymnasium
from gymnasium import spaces

from hanamachi.adapters.opponents_and_options import (
    OPPONENT_FAILED,
    Asked,
    close_if_named,
    known_options,
    opponent_for,
)
from hanamachi.adapters.text import ScriptedModel, Step, TextGame
from hanamachi.errors import UserError
from hanamachi.limits import LINE
from hanamachi.sessions.arguments import checked_seed
from hanamachi.sessions.opponent_protocol import checked_seat, learner_seat
from hanamachi.sessions.session import NO_GAME

LONGEST = 100_000  # characters of a prompt
CHARACTERS = frozenset(string.printable + "·■▲▼○●")  # of prompts

Transition = tuple[str, float, bool, bool, dict[str, Any]]


class TextEnv(gymnasium.Env[str, str]):
    """One seat of a TextGame; an opponent, a policy or its name, plays all others.

    A reply may hold any characters, more than the action space says. The info has "messages", all
    that the seat was told and has replied as chat APIs take it; "seat", which changes from game to
    game if `seat` is "random"; and "illegal", None or what was wrong with the last reply. After an
    illegal reply the next observation asks again, or the game ends, as `illegal` says.
    """

    def __init__(
        self,
        game: str,
        *,
        seat: int | str = "random",
        opponent: Asked = None,
        **settings: Any,
    ) -> None:
        """`settings` are those of TextGame, and the options of the game."""
        self.game = TextGame(game, **settings)
        self.seat_wanted = checked_seat(seat, self.game.variant.seats)
        self.opponent_wanted = opponent
        self.opponent = opponent_for(opponent, self.game.variant)
        self.observation_space = spaces.Text(LONGEST, charset=CHARACTERS)
        self.action_space = spaces.Text(LINE, charset=string.printable)
        self.seat = 0  # in this game
        self._earlier = 0.0  # what the seat has earned before its first decision
        self._over = True  # until the first reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin a game; returns the seat's first prompt, with the rules.

        The same seed and the same replies give the same game. Without a seed the one of the
        constructor counts for the first game.
        """
        if known_options(options):
            raise UserError("a game in words begins with a deal of its own: leave out the options")
        seed = self.game.seed if seed is None else seed  # the opponent's, too
        seed = None if seed is None else checked_seed(seed)
        super().reset(seed=seed)
        self._over = True
        while self._over:  # again, if it ends before the seat's first decision
            seat, prompt = self.game.reset(seed)
            self.seat = learner_seat(self.seat_wanted, self.game.session)
            self._others = ScriptedModel(self.opponent, self.game, self.np_random)
            prompt, self._earlier = self._until_asked(Step(seat, prompt, 0.0, False, {}))
            seed, self._over = None, self.game.over
        return prompt, self._info(None)

    def step(self, action: str) -> Transition:
        """The seat's reply, and all that happens up to its next prompt or the end."""
        if self._over:
            raise UserError(NO_GAME)
        if self.game.session.mover != self.seat:
            raise UserError(OPPONENT_FAILED)
        step = self.game.step(action)
        reward, self._earlier = self._earlier + step.reward, 0.0
        prompt, later = self._until_asked(step)
        self._over = self.game.over
        return prompt, reward + later, self._over, False, self._info(step.info["illegal"])

    def _until_asked(self, step: Step) -> tuple[str, float]:
        """The others play; returns what the seat reads next, and what it earned meanwhile."""
        reward = 0.0
        while not self.game.over and step.seat != self.seat:
            step = self.game.step(self._others.reply())
            reward += step.info["rewards"][self.seat]
        return step.prompt, reward

    def close(self) -> None:
        """End the processes of an opponent that was given by its name, such as a bot."""
        close_if_named(self.opponent_wanted, self.opponent)

    def _info(self, illegal: str | None) -> dict[str, Any]:
        return {"messages": self.game.messages(self.seat), "seat": self.seat, "illegal": illegal}
