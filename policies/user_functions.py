"""A user's function as a policy.

Notation: B observations.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.entry_point import refused_arguments
from hanamachi.policies.policy import Policy
from hanamachi.sessions.opponent_protocol import chosen_by
from hanamachi.sessions.policy_checks import checked_actions

POLICY = "a Policy or a function (observation, mask) -> action"  # in messages


class Chosen(Policy):
    """Plays the choice of a user's function with probability 1."""

    is_stochastic = False

    def __init__(self, function: Callable[[Any, Any], Any], variant: Variant) -> None:
        """UserError for what cannot be called."""
        super().__init__(variant)
        if not callable(function):
            raise UserError(f"a policy calls a function, not {shown(function)}")
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    @abstractmethod
    def choices(self, observation: Observations, mask: Masks) -> NDArray[Any]:
        """A legal action in each game, (B,)."""

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        probabilities = np.zeros(mask.shape, np.float32)
        probabilities[np.arange(len(mask)), self.choices(observation, mask)] = 1
        return probabilities, None, memory


class FunctionPolicy(Chosen):
    """A user's function `(observation, mask) -> action`, called for one game at a time.

    UserError if it returns no whole number, IllegalAction if the action is illegal.
    """

    def choices(self, observation: Observations, mask: Masks) -> NDArray[np.int64]:
        return chosen_by(self.function, observation, mask, self.name)


class BatchPolicy(Chosen):
    """A user's function `(observations, masks) -> actions`, called for a batch of games.

    With it, the learner of any library can be evaluated or take the other seats of an environment.
    IllegalAction if it returns an illegal action.
    """

    def choices(self, observation: Observations, mask: Masks) -> NDArray[Any]:
        return checked_actions(self.function(observation, mask), mask, self.name)


def as_policy(candidate: Any, variant: Variant) -> Policy:
    """Wrap a function `(observation, mask) -> action` as a policy; return a policy unchanged.

    UserError for anything else, and for a policy that lacks its variant.
    """
    if isinstance(candidate, type):
        raise UserError(f"give a policy, not its class: write {candidate.__name__}(variant)")
    if isinstance(candidate, Policy):
        if not isinstance(getattr(candidate, "variant", None), Variant):
            kind = type(candidate).__name__
            raise UserError(
                f"{kind} has no variant: call super().__init__(variant) in its __init__"
            )
        return candidate
    if callable(candidate):
        policy = FunctionPolicy(candidate, variant)
        if problem := refused_arguments(candidate, "observation", "mask"):
            raise UserError(
                f"{policy.name} must take (observation, mask): {problem}; if it makes a policy, "
                "give what it returns"
            )
        return policy
    raise UserError(f"give {POLICY}, not {shown(candidate)}")
