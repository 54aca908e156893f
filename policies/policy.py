"""The base class of all policies: observations in, a probability for every action out.

Notation: B observations, N entries of an observation, A actions, M entries of a memory.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities, Scores, Values
from hanamachi.policies.compiled_inputs import numbers_in, readable
from hanamachi.policies.sampling import sample
from hanamachi.sessions.arguments import checked_seed, checked_variant
from hanamachi.sessions.policy_checks import distribution_of, memory_of
from hanamachi.sessions.worlds import Worlds


class Policy(ABC):
    """Chooses actions in one variant, for a batch of games.

    Rows are independent of each other and depend only on the arguments.
    """

    name: str  # what results and messages call it; by default its class

    def __init__(self, variant: Variant) -> None:
        self.variant = checked_variant(variant)
        if not hasattr(self, "name"):
            self.name = type(self).__name__
        self.set_random_seed(None)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} for {self.variant.id}>"

    is_stochastic: bool = True  # whether it mixes between actions of different scores
    has_values: bool = False  # whether `distribution` and `values` return values

    @abstractmethod
    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values | None, Memory]:
        """The probability of every action, the values if the policy has any, the new memory."""

    def with_worlds(self, worlds: Worlds) -> Self:
        """The policy for these games. A search samples worlds from them; others ignore them.

        The owner of the games calls this before `distribution`, `act` or `predict`; their rows are
        then the rows of `worlds`.
        """
        return self

    def initial_memory(self, batch: int) -> Memory:
        """The memory at the start of a game, (B, M); most policies need none, so M is 0."""
        return np.zeros((batch, 0), np.float32)

    def scores(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Scores, Memory]:
        """A score to rank each action by, here its log-probability; and the new memory."""
        probabilities, _, memory = distribution_of(self, observation, mask, memory)
        with np.errstate(divide="ignore"):
            return np.log(probabilities), memory

    def values(self, observation: Observations, mask: Masks, memory: Memory) -> Values:
        """The expected results for the seats to move, (B,), at the start of a round.

        By default the values that come with the distribution. Only for policies with `has_values`.
        """
        values = distribution_of(self, observation, mask, memory)[1]
        if values is None:
            raise UserError(f"{self.name} sets has_values, but its distribution returns no values")
        return values

    def act(
        self,
        observation: Observations,
        mask: Masks,
        memory: Memory,
        rng: np.random.Generator,
        deterministic: bool = False,
    ) -> tuple[NDArray[np.int64], Memory]:
        """Actions (B,), sampled or the most likely ones; and the new memory."""
        probabilities, _, memory = distribution_of(self, observation, mask, memory)
        if deterministic:
            return probabilities.argmax(1), memory
        return sample(probabilities, rng.random(len(probabilities))), memory

    # --- The interface of stable-baselines3

    def set_random_seed(self, seed: int | None) -> None:
        """Seed the generator of `predict`; None draws a seed."""
        self.rng = np.random.default_rng(None if seed is None else checked_seed(seed))

    def predict(
        self,
        observation: NDArray[Any],
        state: Memory | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[np.int64], Memory]:
        """The actions for one observation (N,) or several (B, N), and the state for the next call.

        Observations are as the environments give them, of int8 too. `action_masks` has a row for
        each observation. UserError if it is missing, or if anything does not fit the variant.
        """
        if action_masks is None:
            raise UserError(
                "predict needs the legal actions: pass action_masks=, with info['action_mask'] of "
                "Gymnasium or observation['action_mask'] of PettingZoo"
            )
        rows, masks = self._checked(observation, action_masks)
        fresh = memory_of(self, len(rows))
        memory = fresh if state is None else self._checked_state(state, fresh)
        if episode_start is not None:
            if np.size(episode_start) != len(rows):
                raise UserError(f"episode_start needs one bool for each of {len(rows)} games")
            memory = np.where(np.reshape(episode_start, (-1, 1)), fresh, memory)
        actions, memory = self.act(rows, masks, memory, self.rng, deterministic)
        return actions.reshape(np.shape(observation)[:-1]), memory

    def _checked(self, observation: Any, action_masks: Any) -> tuple[Observations, Masks]:
        """Observations (B, N) and masks (B, A) that compiled code may read; else UserError."""
        layout, count = self.variant.observation, self.variant.actions.size
        given = np.atleast_2d(numbers_in(observation, "observations"))
        masks = np.atleast_2d(numbers_in(action_masks, "masks"))
        if not np.isfinite(masks).all():
            raise UserError("predict takes masks of 0 and 1, not of numbers that are not finite")
        mask = masks != 0
        if given.shape != (len(mask), layout.size) or mask.shape != (len(given), count):
            raise UserError(
                f"{self.name} plays {self.variant.id}: it needs observations of {layout.size} "
                f"entries and masks of {count} actions, a row for each; these have the shapes "
                f"{given.shape} and {mask.shape}"
            )
        if not mask.any(1).all():
            raise UserError("predict was asked about a game without legal actions: it is over")
        rows = given / layout.units if given.dtype == np.int8 else given
        return readable(self.variant, rows.astype(np.float32), mask.astype(np.int8))

    def _checked_state(self, state: Any, fresh: Memory) -> Memory:
        """The memory that a caller gives back; UserError unless it is like a fresh one."""
        memory = numbers_in(state, "a state")
        if memory.shape != fresh.shape or not np.can_cast(memory.dtype, fresh.dtype, "same_kind"):
            raise UserError(
                f"the state of {self.name} is of {fresh.dtype} and shape {fresh.shape}: give back "
                "what predict returned for the same games, or None where they begin"
            )
        return memory.astype(fresh.dtype)  # a copy, which the policy may write to
