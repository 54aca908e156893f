"""A policy at play: it observes, imagines, remembers and chooses in any seat of many games.

    player = SeatedPlayer(policy, variant, len(games))
    while (rows := in_progress(games)).size:
        turns = turns_of(variant, games, rows)
        rewards = turns.step(games, player.act(turns, rng))

Everything that lets a policy move uses this: the environments that play the other seats,
evaluation, play in the terminal, and playouts in search.

Notation: B games, n turns, S seats, A actions, N entries of an observation, M numbers of memory.
"""

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.engine.threads import parallel_for
from hanamachi.sessions.observations import observe
from hanamachi.sessions.opponent_protocol import Opponent, initial_memory
from hanamachi.sessions.policy_checks import (
    actions_of,
    asked_about,
    checked_actions,
    checked_memory,
    distribution_of,
    name_of,
)
from hanamachi.sessions.session import Session
from hanamachi.sessions.worlds import Histories, Worlds

Rows = NDArray[np.int64]  # (n,) numbers of games in a batch
NAMED = 5  # turns in the note of an error


class Turns(NamedTuple):
    """Decisions that wait in some games of a batch, and what the seats to move observe."""

    variant: Variant
    rows: Rows  # (n,) the number of each game in the batch
    games: NDArray[Any]  # (n,)
    seats: NDArray[np.int64]  # (n,) the seats to move
    observations: NDArray[np.float32]  # (n, N)
    masks: NDArray[np.int8]  # (n, A)
    history: Histories | None = None  # of each game by its number, where somebody follows them

    def part(self, chosen: NDArray[Any]) -> "Turns":
        """Some of these turns, by their places or by a mask."""
        rows, games, seats, observations, masks = (array[chosen] for array in self[1:-1])
        return Turns(self.variant, rows, games, seats, observations, masks, self.history)

    def step(
        self, games: NDArray[Any], actions: NDArray[np.int64], threads: int | None = None
    ) -> NDArray[np.float32]:
        """Carry out an action for each turn in the batch that they come from.

        The positions of the turns change too. Returns what each action brings each seat, (n, S).
        IllegalAction, and nothing changes, if an action is not legal.
        """
        actions = checked_actions(actions, self.masks, "the player")
        rule_set = self.variant.rule_set
        parallel_for(kernels.step, rule_set, self.games, actions, threads=threads)
        games[self.rows] = self.games
        if self.history:
            for row, action in zip(self.rows.tolist(), actions.tolist(), strict=True):
                self.history(row).add_legal(action)
        return rewards_of(self.variant, self.games)

    def worlds(self) -> Worlds:
        """What the seats to move may know and imagine."""
        of_game, rows = self.history, self.rows
        history = (lambda place: of_game(int(rows[place]))) if of_game else None
        return Worlds(self.variant, self.games, self.seats, history)


P = TypeVar("P", bound=Opponent)


class SeatedPlayer(Generic[P]):
    """A policy, or any opponent, with its memory in every seat of every game of a batch."""

    def __init__(
        self,
        policy: P,
        variant: Variant,
        games: int,
        memory: NDArray[Any] | None = None,
    ) -> None:
        """`memory` (B, S, M) is what it remembers already; by default all games are new."""
        self.policy = policy
        self.seats = variant.seats
        self.memory = initial_memory(policy, games, self.seats) if memory is None else memory

    def forget(self, rows: Rows) -> None:
        """New games have begun in these rows."""
        memory = initial_memory(self.policy, len(rows), self.seats)
        self.memory[rows] = checked_memory(memory, self.memory[rows], name_of(self.policy))

    def act(self, turns: Turns, rng: np.random.Generator) -> NDArray[np.int64]:
        """An action for each turn, (n,); IllegalAction if one is not legal."""
        place = turns.rows, turns.seats
        try:
            actions, memory = actions_of(
                self._asked(turns), turns.observations, turns.masks, self.memory[place], rng
            )
        except Exception as error:
            error.add_note(self._place_of_error(turns))
            raise
        if self.memory.size:
            self.memory[place] = memory
        return actions

    def distribution(
        self, turns: Turns, remember: bool = True
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """The probability of every action, (n, A), and the values, (n,), if the policy has any.

        Only for policies. With `remember=False` it can be asked about the same turns again.
        """
        place = turns.rows, turns.seats
        try:
            probabilities, values, memory = distribution_of(
                self._asked(turns), turns.observations, turns.masks, self.memory[place]
            )
        except Exception as error:
            error.add_note(self._place_of_error(turns))
            raise
        if remember:
            self.memory[place] = memory
        return probabilities, values

    def _asked(self, turns: Turns) -> Opponent:
        """The policy as it plays in these turns: one that searches needs their worlds."""
        asked: Opponent = asked_about(self.policy, turns.worlds())
        return asked

    def _place_of_error(self, turns: Turns) -> str:
        """Which policy failed, and where; an error of its own comes through with this note."""
        asked = [*zip(turns.seats.tolist(), turns.rows.tolist(), strict=True)]
        named = [f"seat {seat} in game {row}" for seat, row in asked[:NAMED]]
        where = ", ".join([*named, *["..."] * (len(asked) > NAMED)])
        return f"the policy {name_of(self.policy)} failed for {where} of {turns.variant.id}"


# --- Turns


def turns_of(
    variant: Variant,
    games: NDArray[Any],
    rows: Rows,
    threads: int | None = None,
    history: Histories | None = None,
) -> Turns:
    """The turns in these rows of a batch of games, none of them over."""
    waiting = games[rows]
    seats = waiting["mover"].astype(np.int64)
    return Turns(variant, rows, waiting, seats, *observe(variant, waiting, seats, threads), history)


def turn_of(session: Session) -> Turns:
    """The turn of the seat to move in a single game, which is a batch of one."""
    observation, mask = session.observe(session.mover)
    game = np.zeros(1, np.int64), session.games, np.array([session.mover])
    seen = observation[None], mask[None]
    return Turns(session.variant, *game, *seen, lambda number: session.history())


def in_progress(games: NDArray[Any]) -> Rows:
    """The rows of the games that are not over."""
    return np.flatnonzero(games["mover"] >= 0)


def step(
    variant: Variant,
    games: NDArray[Any],
    rows: Rows,
    actions: NDArray[np.int64],
    threads: int | None = None,
) -> NDArray[np.float32]:
    """Carry out an action in each of these rows; returns what that brings each seat, (n, S)."""
    moved = games[rows]
    parallel_for(kernels.step, variant.rule_set, moved, actions, threads=threads)
    games[rows] = moved
    return rewards_of(variant, moved)


def rewards_of(variant: Variant, games: NDArray[Any]) -> NDArray[np.float32]:
    """What the last actions brought each seat, (n, S)."""
    rewards: NDArray[np.float32] = games["rewards"][:, : variant.seats]
    return rewards
