"""Games in words, for language models: prompts in, replies out.

    game = TextGame("hanamikoji", prompt="deductions")
    seat, prompt = game.reset(seed=0)
    while not game.over:
        reply = ask_your_model(game.messages(seat))  # or ask_your_model(prompt)
        seat, prompt, reward, done, info = game.step(reply)

A prompt holds only what its seat may know. Two positions that a seat cannot tell apart give it the
same transcript. No library is needed.
"""

from typing import Any, NamedTuple

import numpy as np

from hanamachi.adapters.aec import ILLEGAL_REWARD
from hanamachi.adapters.opponents_and_options import Asked, opponent_for
from hanamachi.engine.contract import OVER
from hanamachi.errors import UserError, shown, unknown
from hanamachi.games.registry import variant
from hanamachi.rendering.parts import render_part
from hanamachi.sessions.arguments import checked_flag, checked_seed, seat_number
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.prompts import PROMPTS, Message, refusal, rules_prompt, turn_prompt
from hanamachi.sessions.replies import action_named, retries_of
from hanamachi.sessions.session import NO_GAME, Session
from hanamachi.sessions.views import choices


class Step(NamedTuple):
    """What follows a reply."""

    seat: int | None  # to move; None once the game is over
    prompt: str  # for that seat; the result once the game is over
    reward: float  # what the reply brought the seat that gave it
    done: bool
    info: dict[str, Any]  # "action", "illegal", "rewards" of all seats, "returns" so far


class TextGame:
    """One game in words."""

    def __init__(
        self,
        id: str,
        /,
        *,
        seed: int | None = None,
        prompt: str = "bare",
        illegal: str = "retry:2",
        legal_list: bool = True,
        **options: Any,
    ) -> None:
        """A variant with its options, such as TextGame("hanabi:3p", starter=0).

        `prompt` is "bare" (the rules once, the table, what happened since the seat's last turn),
        "deductions" (also what the seat can work out of the cards that it has not seen) or "memory"
        (both, and all that the seat has heard since the game began). `illegal` says what a reply
        without a legal action leads to: "retry:N" asks again, N times, then the seat forfeits;
        "forfeit" does so at once; "random" plays a random legal action. A seat that forfeits ends
        the game with a return of -1, opponents with 1, and partners with 0.
        `legal_list` adds all legal actions to each prompt. Raises UserError for other settings.
        """
        if not isinstance(prompt, str) or prompt not in PROMPTS:
            raise unknown("prompt", prompt, PROMPTS)
        self.retries = retries_of(illegal)
        self.variant = variant(id, **options)
        self.prompt, self.illegal = prompt, illegal
        self.legal_list = checked_flag(legal_list, "legal_list")
        self.seed = None if seed is None else checked_seed(seed)
        self.session = Session(self.variant)
        self.forfeited = False

    # --- Play

    def reset(self, seed: int | None = None) -> tuple[int, str]:
        """Begin a game; returns the seat to move and its prompt.

        The same seed and the same replies give the same game. Without a seed the one of the
        constructor counts for the first game; later ones keep the generator.
        """
        self.session.begin(self.seed if seed is None else seed)
        self.seed = None
        self.rng = np.random.default_rng(self.session.generator)  # for random replacements
        self.returns = [0.0] * self.variant.seats
        self.talk: list[list[Message]] = [[] for _ in range(self.variant.seats)]
        self.forfeited, self.refused = False, 0
        return self.session.mover, self._ask()

    @property
    def over(self) -> bool:
        return self.forfeited or self.session.mover == OVER

    def step(self, reply: str) -> Step:
        """Carry out the action that a reply names; the reply may be prose around it.

        A reply that names none is answered as `illegal` says. Raises UserError if no game is in
        progress.
        """
        if self.over:
            raise UserError(NO_GAME)
        seat = self.session.mover
        self._tell(seat, "assistant", reply if isinstance(reply, str) else "")
        try:
            action = self.parse(reply)
        except UserError as mistake:
            return self._after_illegal(seat, str(mistake))
        return self._play(seat, action, None)

    def _play(self, seat: int, action: int, mistake: str | None) -> Step:
        self.refused = 0
        self.session.step(action)
        rewards = self.session.rewards()
        self.returns = [a + b for a, b in zip(self.returns, rewards, strict=True)]
        return self._step(seat, rewards, action, mistake)

    def _after_illegal(self, seat: int, mistake: str) -> Step:
        if self.illegal == "random":
            legal = list(self.legal())
            return self._play(seat, legal[int(self.rng.integers(len(legal)))], mistake)
        self.refused += 1
        if self.refused <= self.retries:
            prompt = refusal(mistake)
            self._tell(seat, "user", prompt)
            return Step(
                seat, prompt, 0.0, False, self._info(None, mistake, [0.0] * len(self.returns))
            )
        self.forfeited = True
        ends = [ILLEGAL_REWARD if other == seat else 0.0 for other in range(self.variant.seats)]
        if not self.variant.game.cooperative:
            ends = [end or -ILLEGAL_REWARD for end in ends]
        rewards = [end - earned for end, earned in zip(ends, self.returns, strict=True)]
        self.returns = ends
        return self._step(seat, rewards, None, mistake)

    def _step(
        self, seat: int, rewards: list[float], action: int | None, mistake: str | None
    ) -> Step:
        info = self._info(action, mistake, rewards)
        if self.over:
            return Step(None, self.result(), rewards[seat], True, info)
        return Step(self.session.mover, self._ask(), rewards[seat], False, info)

    def _info(
        self, action: int | None, mistake: str | None, rewards: list[float]
    ) -> dict[str, Any]:
        return {
            "action": action,
            "illegal": mistake,
            "rewards": rewards,
            "returns": list(self.returns),
        }

    # --- Prompts

    def messages(self, seat: int) -> list[Message]:
        """All that a seat was told and has replied, as chat APIs take it; the rules come first."""
        seat = self._seat_in_game(seat)
        rules = {"role": "system", "content": rules_prompt(self.variant, seat)}
        return [rules, *(message.copy() for message in self.talk[seat])]

    def _ask(self) -> str:
        """The prompt of the seat to move, which is also the next message to it."""
        seat = self.session.mover
        first = not self.talk[seat]
        turn = self.turn(seat)
        self._tell(seat, "user", turn)
        return f"{rules_prompt(self.variant, seat)}\n\n{turn}" if first else turn

    def _tell(self, seat: int, role: str, content: str) -> None:
        self.talk[seat].append({"role": role, "content": content})

    def turn(self, seat: int) -> str:
        """What a seat reads at its turn: events, table, deductions and legal actions."""
        seat = self._seat_in_game(seat)
        return turn_prompt(self.session.history(), seat, self.prompt, self.legal_list)

    def result(self) -> str:
        """How the game ended, or stands."""
        self.session.check_begun()
        if self.forfeited:
            return f"player {self.session.mover} has forfeited the game by illegal replies"
        return str(render_part(self.variant, "status")(self.variant, self.session.games[0], None))

    def _seat_in_game(self, seat: Any) -> int:
        self.session.check_begun()
        return seat_number(seat, self.variant.seats)

    # --- Replies

    def legal(self) -> dict[int, str]:
        """The legal actions of the seat to move, in words; none once the game is over."""
        return {} if self.over else choices(self.session, self.session.mover)

    def parse(self, reply: str) -> int:
        """The legal action that a reply names, as `replies.action_named` finds it.

        UserError, which says what to write, if it names none.
        """
        if not (legal := self.legal()):
            raise UserError(NO_GAME)
        return action_named(reply, legal, self.variant.actions.words)


class ScriptedModel:
    """Replies as a policy plays, in any seat of one game: an opponent, a partner, or a yardstick.

        model = ScriptedModel("expert", game)
        game.step(model.reply())

    After each reset another one is needed, as a policy may remember the game.
    """

    def __init__(
        self, policy: Asked, game: TextGame, rng: np.random.Generator | None = None
    ) -> None:
        """A policy or its name; `rng` draws its actions. UserError if it cannot play the game."""
        if not isinstance(game, TextGame):
            raise UserError(f"a model replies in a TextGame, not in {shown(game)}")
        if not isinstance(rng, np.random.Generator | None):
            raise UserError(f"rng must be a generator of numpy.random, not {shown(rng)}")
        self.game = game
        self.rng = rng or np.random.default_rng()
        self.player = SeatedPlayer(opponent_for(policy, game.variant), game.variant, games=1)

    def reply(self) -> str:
        """What the policy does for the seat to move; UserError if no game is in progress."""
        if self.game.over:
            raise UserError(NO_GAME)
        (action,) = self.player.act(turn_of(self.game.session), self.rng)
        return f"<action>{self.game.legal()[int(action)]}</action>"
