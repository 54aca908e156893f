"""Bots as policies: `process:COMMAND` plays by a program of its own, in any language."""

import math
import os
import shlex
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np

from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.limits import BOT_GAMES
from hanamachi.policies.arrays import Masks, Probabilities
from hanamachi.policies.external.bot import START, Bot, Limits
from hanamachi.policies.external.protocol import (
    ActionProbabilities,
    check_ready,
    end,
    goodbye,
    hello,
    move,
    probabilities_in,
)
from hanamachi.policies.names import PROCESS
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.sessions.events import History
from hanamachi.sessions.policy_checks import fault_in
from hanamachi.sessions.views import choices
from hanamachi.sessions.worlds import Worlds
from hanamachi.storage.reading import may_name_a_file

Word = str | os.PathLike[str]  # of a command


def load_process(spec: str, variant: Variant) -> "ProcessPolicy":
    """The policy that "process:COMMAND" names."""
    try:
        program = shlex.split(spec.removeprefix(PROCESS))
    except ValueError as error:
        raise UserError(f"{spec} is no command: {error}") from None
    return ProcessPolicy(variant, program, name=spec)


def checked_program(program: Any) -> list[str]:
    """A program and its arguments, as the system takes them; UserError if they are none."""
    if not program or program == [""]:
        raise UserError("process: needs a command, such as process:./mybot")
    words = program if isinstance(program, list | tuple) else [program]
    for word in words:
        if not isinstance(word, str | os.PathLike) or not may_name_a_file(word):
            raise UserError(f"a bot is a command, or a list of its words, not {shown(program)}")
    return [text_of(word) for word in words]


def text_of(word: Word) -> str:
    """The word as the system takes it.

    The system looks a bare name up on PATH. A `Path` means the current folder, so it gets "./".
    """
    return os.path.join(os.curdir, word) if isinstance(word, os.PathLike) else word


class NotReady(UserError):
    """A bot that did not become ready; it is not started again until `ask_again` or `close`."""


class ProcessPolicy(ViewPolicy):
    """Asks a bot. Each seat has a process of its own, so that no bot sees two seats' cards.

    Processes start when they are first asked. One that fails ends, and the next question starts
    another; a bot that does not become ready is not started again until `ask_again` or `close`.
    """

    def __init__(
        self,
        variant: Variant,
        program: Word | Sequence[Word],
        limits: Limits | None = None,
        name: str | None = None,
    ) -> None:
        """`program` is the bot, or a list of it and its arguments; UserError if it is none."""
        super().__init__(variant)
        self.program, self.limits = checked_program(program), limits or Limits()
        self.name = name or PROCESS + shlex.join(self.program)
        self._bots = Bots()

    def probabilities(self, worlds: Worlds, mask: Masks) -> Probabilities:
        rows = [self._of_seat(worlds.history(row)) for row in range(len(worlds))]
        return np.stack(rows)

    def start(self) -> None:
        """Start the bot of the first seat before it is asked; NotReady if that fails."""
        with self._seated(0) as player:
            player.ready()

    def _of_seat(self, history: History) -> ActionProbabilities:
        with self._seated(int(history.games["mover"][0])) as player:
            return player.probabilities(history)

    @contextmanager
    def _seated(self, seat: int) -> Iterator["SeatedBot"]:
        """The bot in a seat; its errors get its name."""
        bots = self._bots
        with bots.lock:
            try:
                if bots.never_ready:
                    raise NotReady(bots.never_ready)
                if seat not in bots.in_seats:
                    bots.in_seats[seat] = SeatedBot(self, seat)
                yield bots.in_seats[seat]
            except UserError as error:
                what = str(error)
                if isinstance(error, NotReady):
                    bots.never_ready, what = what, f"is not ready: it {what}"
                raise type(error)(f"{self.name} {what}") from None

    def ask_again(self) -> None:
        """Forget failures: what could not be decided may be asked again."""
        with self._bots.lock:
            self._bots.never_ready = ""
            for player in self._bots.in_seats.values():
                player.forget_failures()

    def close(self) -> None:
        """End all processes; the next decision starts them again."""
        with self._bots.lock:
            close(self._bots.in_seats)
            self._bots.never_ready = ""


class Bots:
    """The processes of a policy, by seat; copies of the policy share them. They end with it."""

    def __init__(self) -> None:
        self.in_seats: dict[int, SeatedBot] = {}
        self.never_ready = ""  # why, once one of them was not
        self.lock = RLock()  # of several threads, one asks at a time
        weakref.finalize(self, close, self.in_seats)
        ALIVE.add(self)

    def __reduce__(self) -> Any:
        return Bots, ()  # a process stays where it is: a copy elsewhere starts its own


ALIVE: "weakref.WeakSet[Bots]" = weakref.WeakSet()


def leave_to_parent() -> None:
    """A process that was forked starts bots of its own; these belong to the one it came from."""
    for bots in ALIVE:
        for player in bots.in_seats.values():
            player.leave()
        bots.in_seats.clear()
        bots.lock = RLock()  # another thread may have held it in the parent


if hasattr(os, "register_at_fork"):  # Windows forks no processes
    os.register_at_fork(after_in_child=leave_to_parent)


def close(in_seats: "dict[int, SeatedBot]") -> None:
    for player in in_seats.values():
        player.close()
    in_seats.clear()


class OpenGame:
    """A game that a bot plays, and its last answer there, in case it is asked again."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.decision = 0  # how many actions came before the last question
        self.used = 0.0  # seconds of its clock
        self.answer: ActionProbabilities | UserError | None = None  # if it must be asked again


class SeatedBot:
    """A bot in one seat, and the games that it plays there."""

    def __init__(self, policy: ProcessPolicy, seat: int) -> None:
        self.variant, self.program, self.limits = policy.variant, policy.program, policy.limits
        self.seat = seat
        self.games = 0  # so far
        self._bot: Bot | None = None
        self._open: dict[History, OpenGame] = {}

    def probabilities(self, history: History) -> ActionProbabilities:
        """The probability of each action, (A,); UserError if the bot fails to answer.

        Asked about the same position again, it answers the same, without asking the bot.
        """
        self._tell_ends()
        game = self._game(history)
        if game.answer is None or game.decision != history.decisions:
            try:
                game.answer = self._ask(history, game)
            except UserError as error:
                game.answer = error
            game.decision = history.decisions
        if isinstance(game.answer, UserError):
            raise type(game.answer)(str(game.answer))
        return game.answer

    def forget_failures(self) -> None:
        for game in self._open.values():
            if isinstance(game.answer, UserError):
                game.answer = None

    def ready(self) -> Bot:
        """The bot, which is started if it is not there; NotReady if it does not become ready."""
        if self._bot is None:
            try:
                self._bot = self._started()
            except UserError as error:
                raise NotReady(str(error)) from None
        return self._bot

    def _started(self) -> Bot:
        """A new bot that has answered hello; one that does not is ended."""
        bot = Bot(self.program, self.limits)
        try:
            greeting = hello(self.variant, self.seat, self.limits)
            check_ready(bot.ask(greeting, max(START, self.limits.seconds)))
        except BaseException:
            bot.end()
            raise
        return bot

    def _ask(self, history: History, game: OpenGame) -> ActionProbabilities:
        bot = self.ready()
        question = move(history, self.seat, game.number, self.limits)
        try:
            answer = self._timed(bot, question, game)
            legal = choices(history, self.seat)
            return checked(probabilities_in(answer, history, legal), legal)
        except BaseException:
            # The next question goes to a new bot, even after an illegal action: a late answer of
            # this one would be taken for the answer to that question.
            self._bot = None
            bot.end()
            raise

    def _timed(self, bot: Bot, question: bytes, game: OpenGame) -> bytes:
        """The bot's answer; its time counts against the clock of the game, even if it fails."""
        left = (self.limits.clock or math.inf) - game.used
        began = time.monotonic()
        try:
            return bot.ask(question, self.limits.seconds, left)
        finally:
            game.used += time.monotonic() - began

    def _game(self, history: History) -> OpenGame:
        if history not in self._open:
            if len(self._open) == BOT_GAMES:  # the oldest was broken off long ago
                del self._open[next(iter(self._open))]
            self._open[history] = OpenGame(self.games)
            self.games += 1
        return self._open[history]

    def _tell_ends(self) -> None:
        """Tell the bot of the games that have ended since."""
        over = [history for history in self._open if history.games["mover"][0] == OVER]
        for history in over:
            game = self._open.pop(history)
            if self._bot:
                self._bot.tell(end(history, self.seat, game.number))

    def leave(self) -> None:
        """Let go of the bot, and let it live."""
        if self._bot:
            self._bot.end.detach()
            self._bot = None

    def close(self) -> None:
        self._tell_ends()
        if self._bot:
            self._bot.tell(goodbye())
            self._bot.end()
            self._bot = None


def checked(probabilities: ActionProbabilities, legal: dict[int, str]) -> ActionProbabilities:
    """The probabilities, (A,), if they are a distribution over the legal actions; else UserError.

    Its sentence follows the bot's name.
    """
    mask = np.zeros((1, len(probabilities)), np.int8)
    mask[0, list(legal)] = 1
    if fault := fault_in(probabilities[None], mask):
        raise UserError(fault)
    return probabilities
