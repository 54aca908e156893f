"""Opponents: what plays the other seats of an environment that has one learner.

Notation: B games, A actions, N entries of an observation, M numbers of memory.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.engine.kernels import drawn_seat
from hanamachi.errors import IllegalAction, UserError, shown
from hanamachi.sessions.arguments import seat_number, whole_number
from hanamachi.sessions.policy_checks import Actions, Masks, Observations, memory_of
from hanamachi.sessions.session import Session


class Opponent(Protocol):
    """Anything that chooses actions for a batch of games; every policy does.

    An opponent with a memory also has `initial_memory(batch)`, the memory at the start, (B, M); one
    that searches has `with_worlds(worlds)`, which returns the opponent to ask about these games.
    An opponent is trusted: code in the same process can inspect any object (worlds.py).
    """

    def act(
        self,
        observation: NDArray[np.float32],
        mask: NDArray[np.int8],
        memory: NDArray[Any],
        rng: np.random.Generator,
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Actions (B,) for observations (B, N) with masks (B, A), and the memory (B, M) after."""


Choose = Callable[[NDArray[np.float32], NDArray[np.int8]], int]


class RandomPlay:
    """Any legal action, all with equal probability."""

    def act(
        self,
        observation: NDArray[np.float32],
        mask: NDArray[np.int8],
        memory: NDArray[Any],
        rng: np.random.Generator,
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        rank = rng.integers(mask.sum(1, dtype=np.int64))  # of the action among the legal ones
        up_to = mask.cumsum(1, dtype=np.int32)
        return (up_to > rank[:, None]).argmax(1), memory


class RowByRow:
    """A function of one game, (observation, mask) -> action, called for each row."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.name = getattr(choose, "__name__", type(choose).__name__)  # in messages

    def act(
        self,
        observation: NDArray[np.float32],
        mask: NDArray[np.int8],
        memory: NDArray[Any],
        rng: np.random.Generator,
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        return chosen_by(self.choose, observation, mask, self.name), memory


def chosen_by(choose: Choose, observations: Observations, masks: Masks, name: str) -> Actions:
    """The action that a function of one game chooses in each row, (B,).

    An array without dimensions is an action, too: stable-baselines3 predicts such. UserError for
    what is no whole number; IllegalAction unless it is legal.
    """
    actions = np.empty(len(masks), np.int64)
    for row, mask in enumerate(masks):
        action = whole_number(choose(observations[row], mask), f"an action of {name}")
        if not 0 <= action < len(mask) or mask[action] == 0:
            raise IllegalAction(
                f"{name} chose action {shown(action)}, which is not one of the "
                f"{np.count_nonzero(mask)} legal ones: choose one of numpy.flatnonzero(mask)"
            )
        actions[row] = action
    return actions


def as_opponent(opponent: Opponent | Choose | None, variant: Variant) -> Opponent:
    """A policy as it is, a function wrapped, None as random play; UserError for anything else.

    A policy for another rule set is refused, as it would misread what it sees.
    """
    if opponent is None:
        return RandomPlay()
    if isinstance(opponent, type):
        raise UserError(f"give an opponent, not its class: write {opponent.__name__}()")
    if hasattr(opponent, "act"):
        made_for = getattr(opponent, "variant", None)
        if isinstance(made_for, Variant) and not made_for.understands(variant):
            raise cannot_play("the opponent", made_for, variant)
        return opponent
    if callable(opponent):
        return RowByRow(opponent)
    raise UserError(
        "opponent must have act(observation, mask, memory, rng) or be a function "
        f"(observation, mask) -> action, not {shown(opponent)}"
    )


def cannot_play(name: str, made_for: Variant, variant: Variant) -> UserError:
    """That what is called `name` plays another game than `variant`, or other options of it."""
    if made_for.id == variant.id:
        return UserError(
            f"{name} plays {variant.id} with other options: load it with those of the game"
        )
    return UserError(f"{name} plays {made_for.id} and cannot play {variant.id}")


def initial_memory(opponent: Opponent, batch: int, seats: int) -> NDArray[Any]:
    """What the opponent remembers in each seat of a new game, (B, seats, M)."""
    if not hasattr(opponent, "initial_memory"):
        return np.zeros((batch, seats, 0))
    memory = memory_of(opponent, batch * seats)
    return memory.reshape(batch, seats, memory.shape[1])


def checked_seat(seat: Any, seats: int) -> int | str:
    """A seat number, or "random"."""
    if isinstance(seat, str) and seat == "random":
        return seat
    return seat_number(seat, seats, 'seat must be "random" or')


def learner_seat(wanted: int | str, session: Session) -> int:
    """The seat wanted in the game that has begun; "random" draws it by the game's generator."""
    if isinstance(wanted, str):
        return int(drawn_seat(np.uint64(session.generator), session.variant.seats))
    return wanted
