"""A table: one game, who sits in its seats, and what each seat may know of it.

Nothing here waits or knows a socket: `table_server.py` calls a table from one thread. Whatever
happens is written to the store before anybody sees it.
"""

import json
from collections.abc import Mapping, Sequence, Set
from copy import deepcopy
from secrets import randbelow, token_urlsafe
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.policies.policy import Policy
from hanamachi.policies.thoughts import choice, judgement, recalled, thought_of
from hanamachi.sessions.arguments import SEEDS
from hanamachi.sessions.players import SeatedPlayer
from hanamachi.sessions.saved_games import record_of
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import round_end_picture, seat_picture, situation_of
from hanamachi.training.serve.offers import HUMAN
from hanamachi.training.serve.protocol import Act
from hanamachi.training.serve.replays import text_of
from hanamachi.training.serve.store import Event, Store

KEY_BYTES = 24


def new_key() -> str:
    """A random key of KEY_BYTES bytes, as text that a URL can hold."""
    return token_urlsafe(KEY_BYTES)


class Choice(NamedTuple):
    """What a policy plays after this many actions of a game, which may be another one meanwhile."""

    game: int
    number: int
    action: int
    memory: NDArray[Any]  # (M,) what it remembers once the action is taken


class Table:
    """`seats` names who sits where; `policies` are the policies among them, by seat."""

    def __init__(
        self,
        id: str,
        variant: Variant,
        seats: Sequence[str],
        policies: Mapping[int, Policy],
        store: Store,
    ) -> None:
        self.id, self.variant, self.seats, self.store = id, variant, seats, store
        self.players = {
            seat: SeatedPlayer(policy, variant, games=1) for seat, policy in policies.items()
        }
        self.session = Session(variant)
        self.earned = np.zeros(variant.seats)  # (S,)
        self.luck = 0  # the seed of the policies' choices
        self.game = 0  # how many games were played here before this one
        self.replay: str | None = None  # where everybody can look at the game once it is over
        self.last_replay: str | None = None  # the same of the game before

    # --- Beginning

    def begin(self, seed: int | None = None) -> dict[str, Any]:
        """Deal a game; returns what `restore` needs to deal it again."""
        self.session.begin(randbelow(SEEDS) if seed is None else seed)
        self.luck = randbelow(SEEDS) if seed is None else seed
        self._complete_history()
        return {"generator": f"{self.session.generator:#018x}", "deal": [], "luck": self.luck}

    def again(self, given_up: bool = False) -> None:
        """Another game in the same seats; this one must be over, or given up.

        Its seed is new: the last game shows what its generator would deal next.
        """
        if not self.over and not given_up:
            raise UserError("another game can begin when this one is over")
        last = self.replay or kept(self.session, self.store)
        fresh = Table(self.id, self.variant, self.seats, {}, self.store)
        begun = fresh.begin() | {"last": last}
        self.store.begin_again(self.id, Event(self.game + 1, 0, "begin", begun))
        self.session, self.luck, self.earned = fresh.session, fresh.luck, fresh.earned
        self.game, self.replay, self.last_replay = self.game + 1, None, last
        for player in self.players.values():
            player.forget(np.zeros(1, np.int64))

    def restore(self) -> None:
        """Continue the game that the store has; UserError if it cannot be continued here."""
        begun, *events = self.store.events(self.id)
        self.session.begin_dealt(int(begun.body["generator"], 16), begun.body["deal"])
        for event in events:
            if event.kind == "act":
                self._carry_out(event.body)
            else:
                self.replay = event.body
        self.game, self.luck = begun.game, begun.body["luck"]
        self.last_replay = begun.body.get("last")
        self._remember(self.store.memories(self.id))
        self._complete_history()

    def _remember(self, memories: Mapping[int, bytes]) -> None:
        for seat, content in memories.items():
            memory = self.players[seat].memory[0, seat]
            if len(content) == memory.nbytes:  # else another version of the policy remembers
                memory[:] = np.frombuffer(content, memory.dtype)

    # --- Moves

    @property
    def over(self) -> bool:
        return self.session.mover == OVER

    @property
    def policy_to_move(self) -> bool:
        return self.session.mover in self.players

    @property
    def people(self) -> list[int]:
        return [seat for seat, name in enumerate(self.seats) if name == HUMAN]

    def expect(self, number: int) -> None:
        """UserError unless this many actions have been taken and another one can follow."""
        taken = len(self.session.actions)
        if number != taken:
            when = "late" if number < taken else "early"
            raise UserError(f"too {when}: {taken} actions have been taken, not {number}")
        if self.over:
            raise UserError("the game is over")

    def expect_from(self, seat: int | None, number: int) -> None:
        """UserError unless it is also this seat's turn; to say more would tell of others' hands."""
        self.expect(number)
        if seat is not None and seat != self.session.mover:
            raise UserError("it is not your turn")

    def act(self, seat: int, message: Act) -> None:
        """A person's move."""
        self.expect_from(seat, message.number)
        action = meant(message, self.session)
        _, mask = self.session.observe(seat)
        if action >= len(mask) or not mask[action]:
            raise UserError("this is not one of your legal actions")
        self._step(action)

    def choose(self) -> Choice:
        """What the policy in the seat to move plays; the same after a restart."""
        game, number, seat = self.game, len(self.session.actions), self.session.mover
        policy, memory = self.players[seat].policy, self.players[seat].memory.copy()
        player = SeatedPlayer(policy, self.variant, games=1, memory=memory)
        probabilities, _ = judgement(player, self.session)
        rng = np.random.default_rng((self.luck, number))
        return Choice(game, number, choice(self.variant, probabilities, rng), memory[0, seat])

    def play(self, chosen: Choice) -> None:
        """A policy's move, as `choose` gave it; UserError if the game has gone on since."""
        if chosen[:2] != (self.game, len(self.session.actions)):
            raise UserError("the game has gone on while the policy thought")
        seat = self.session.mover
        self._step(chosen.action, chosen.memory)
        self.players[seat].memory[0, seat] = chosen.memory

    def _step(self, action: int, memory: NDArray[Any] | None = None) -> None:
        """An action, written down first, and with it the end if it ends the game.

        `memory` (M,) is what a policy that chose it remembers then. IllegalAction or UserError, and
        nothing has changed, if the action is not legal or cannot be kept.
        """
        seat, number = self.session.mover, len(self.session.actions) + 1
        after = deepcopy(self.session)
        after.step(action)
        replay = (new_key(), text_of(record_of(after))) if after.mover == OVER else None
        remembered = (seat, memory.tobytes()) if memory is not None and memory.size else None
        self.store.add_action(self.id, Event(self.game, number, "act", action), remembered, replay)
        self._carry_out(action)
        self._complete_history()
        self.replay = replay and replay[0]

    def _carry_out(self, action: int) -> None:
        self.session.step(action)
        self.earned += self.session.rewards()

    def _complete_history(self) -> None:
        """Add what happened to the events, so that policies in other threads only read them."""
        history = self.session.history()
        for seat in (None, *range(self.variant.seats)):
            history.heard(seat)

    # --- What a seat may know

    def hint(self, seat: int | None, number: int, adviser: Policy) -> dict[str, Any]:
        """What the adviser would do in the place of the seat to move, which must be this one."""
        self.expect_from(seat, number)
        mover = self.session.mover
        player = recalled(adviser, self.session, [mover])
        thought = thought_of(self.session, *judgement(player, self.session, remember=False))
        return {"type": "hint", "number": number, **thought._asdict()}

    def positions(
        self, seats: Set[int | None], here: Set[int], failed: str | None = None
    ) -> dict[int | None, str]:
        """What to send to each of these seats, as JSON.

        `here` are the people who are connected; `failed` says why a policy did not move.
        """
        return {seat: json.dumps(self._position(seat, here, failed)) for seat in seats}

    def _position(self, seat: int | None, here: Set[int], failed: str | None) -> dict[str, Any]:
        viewer, history = None if self.over else seat, self.session.history()
        competed = self.over and not self.variant.game.cooperative
        # at the end, too, a seat is told all since its own move, and what came of the last one
        since = min(history.last_turn(seat), history.last_turn(None)) if self.over else None
        return {
            "type": "position",
            "game": self.game,
            "number": len(self.session.actions),
            "view": situation_of(history, viewer, since),
            "picture": seat_picture(self.session, viewer, near=seat),
            "round_end": round_end_picture(history, viewer),
            "outcome": outcome_of(seat, self.earned) if competed and seat is not None else None,
            "players": [self._player(other, seat, here) for other in range(self.variant.seats)],
            "log": [{"by": one.by, "words": one.words} for one in history.heard(viewer)],
            "open": viewer is None,
            "replay": self.replay,
            "last_replay": self.last_replay,
            "failed": failed,
        }

    def _player(self, seat: int, viewer: int | None, here: Set[int]) -> dict[str, Any]:
        name, human = self.seats[seat], self.seats[seat] == HUMAN
        name = "you" if seat == viewer else name
        return {"seat": seat, "name": name, "human": human, "here": not human or seat in here}


def kept(session: Session, store: Store) -> str:
    """Keep the game as it is; returns where it can be looked at."""
    replay = new_key()
    store.add_replay(replay, text_of(record_of(session)))
    return replay


def meant(message: Act, session: Session) -> int:
    """The action that a message names by its number or in words."""
    if message.action is not None:
        return message.action
    assert message.words is not None
    try:
        return int(session.variant.actions.parse(message.words, session.games[0]))
    except ValueError:
        raise UserError("these words are not one of your legal actions") from None


def outcome_of(seat: int, earned: NDArray[np.float64]) -> str:
    """How a competitive game ended for a seat; `earned` (S,)."""
    mine, others = earned[seat], np.delete(earned, seat).max()
    return "won" if mine > others else "lost" if mine < others else "drawn"
