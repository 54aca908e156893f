"""The base class of all policies: observations in, a probability for every action out.

Notation: B observations, N entries of an observation, A actions, M entries of a memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.random_numbers import scatter
from hanamachi.engine.threads import DECISIONS_PER_THREAD, parallel_for
from hanamachi.errors import UserError, shown
from hanamachi.policies.entry_point import refused_arguments
from hanamachi.sessions.arguments import checked_seed, checked_variant
from hanamachi.sessions.opponent_protocol import chosen_by
from hanamachi.sessions.policy_checks import checked_actions, distribution_of, memory_of
from hanamachi.sessions.worlds import Worlds

Observations = NDArray[np.float32]  #: (B, N)
Masks = NDArray[np.int8]  #: (B, A) 1 where an action is legal; at least one in every row
Probabilities = NDArray[np.float32]  #: (B, A) summing to 1, zero where an action is illegal
Scores = NDArray[np.float32]  #: (B, A) higher is better; -inf where an action is illegal
Values = NDArray[np.float32]  #: (B,) the expected result for the seat to move
Memory = NDArray[Any]  #: (B, M) carried from one decision of a seat to its next in the same game

NO_ACTION = -1  # in place of a sampled action
POLICY = "a Policy or a function (observation, mask) -> action"  # in messages
TIE = 1e-6  # scores closer than this count as equal: they differ only by rounding


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


def numbers_in(given: Any, what: str) -> NDArray[Any]:
    """What the caller of `predict` gives, as an array of numbers."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError):  # the last for a tensor with a gradient
        array = np.empty(0, object)
    if array.dtype.kind not in "fiub":
        raise UserError(f"predict takes {what} as an array of numbers, not {shown(given)}")
    return array


class RandomPolicy(Policy):
    """Every legal action is equally likely."""

    name = "random"

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        return uniform(mask), None, memory


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


class RulePolicy(Policy):
    """Plays the action that a kernel `score(tables, observations, masks, scores)` scores highest.

    The kernel writes the score of every legal action; tied actions are equally likely. If the
    policy has values, scores are expected results. Rule sets in the tables are arrays (1,), which a
    call hands over ten times as fast as a record.
    """

    is_stochastic = False

    def __init__(self, variant: Variant, score: Callable[..., None], tables: Any) -> None:
        super().__init__(variant)
        self.score = score
        self.tables = tables

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values | None, Memory]:
        scores, memory = self.scores(observation, mask, memory)
        return best(scores), scores.max(1).clip(-1, 1) if self.has_values else None, memory

    def scores(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Scores, Memory]:
        """The scores, and the new memory."""
        rows, scores = readable(self.variant, observation, mask), unscored(mask)
        self.write(*rows, scores)
        return scores, memory

    def write(self, *arrays: NDArray[Any]) -> None:
        """Let the kernel read these, the scores last, which it writes.

        UserError if no game shows the observations.
        """
        try:
            parallel_for(self.score, self.tables, *arrays, at_least=DECISIONS_PER_THREAD)
        except ZeroDivisionError:  # by a number of cards that can never be 0 in a game
            raise never_shown(self.variant) from None
        if np.isnan(arrays[-1]).any():  # as when more cards are seen than there are
            raise never_shown(self.variant)


# --- What compiled code may read


def readable(
    variant: Variant, observation: Observations, mask: Masks
) -> tuple[Observations, Masks]:
    """Observations (B, N) and masks (B, A) as compiled code reads them, of float32 and int8.

    UserError if their shapes do not fit, or an entry lies outside the bounds of the layout.
    """
    low, high = variant.observation.low, variant.observation.high
    rows = np.ascontiguousarray(observation, np.float32)
    masks = np.ascontiguousarray(mask, np.int8)
    if rows.shape != (len(masks), len(low)) or masks.shape != (len(rows), variant.actions.size):
        raise UserError(
            f"{variant.id} has observations of {len(low)} entries and masks of "
            f"{variant.actions.size} actions, a row for each; these have the shapes {rows.shape} "
            f"and {masks.shape}"
        )
    if not lie_between(rows, low, high):
        raise never_shown(variant)
    return rows, masks


def never_shown(variant: Variant) -> UserError:
    return UserError(
        f"no game of {variant.id} shows such an observation: pass it as the environment gives it"
    )


def readable_memory(
    memory: Memory, rows: int, width: int, dtype: type[np.integer[Any]] = np.int32
) -> Memory:
    """A copy of a memory, (rows, width), that compiled code may write; UserError if it is none."""
    copy = np.array(memory, dtype, order="C")
    if copy.shape != (rows, width):
        raise UserError(
            f"a memory of shape {copy.shape} does not belong to {rows} games: give back what the "
            "policy returned for them, or its initial_memory where they begin"
        )
    return copy


@kernel
def lie_between(rows: Observations, low: Observations, high: Observations) -> bool:
    """Whether the entries of all rows, (B, N), lie within their bounds, (N,); NaN lies nowhere."""
    for b in range(len(rows)):
        outside = 0
        for i in range(rows.shape[1]):
            outside += not low[i] <= rows[b, i] <= high[i]
        if outside:
            return False
    return True


# --- From scores and probabilities to actions


def unscored(mask: Masks) -> Scores:
    """The scores, (B, A), before any legal action has one."""
    scores = np.empty(np.shape(mask), np.float32)
    scores.fill(-np.inf)
    return scores


def sample(probabilities: Probabilities, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sample an action for each row, (B,), by inverting its CDF at a number in [0, 1).

    UserError if a row has no probability above 0.
    """
    actions = np.empty(len(probabilities), np.int64)
    inverse_cdf(np.ascontiguousarray(probabilities, np.float32), uniforms, actions)
    if (actions == NO_ACTION).any():
        raise nothing_to_draw()
    return actions


def uniforms(streams: NDArray[np.uint64], count: int) -> NDArray[np.float64]:
    """The number from [0, 1) that belongs to each stream and count, (n,)."""
    bits = scatter(scatter(streams) + np.uint64(count))
    return (bits >> np.uint64(12)) / 2.0**52


def nothing_to_draw() -> UserError:
    return UserError(
        "no action has a probability above 0, as the network's weights are too large; "
        "where it is being trained, lower ppo.learning_rate"
    )


@kernel
def inverse_cdf(
    probabilities: Probabilities, uniforms: NDArray[np.float64], actions: NDArray[np.int64]
) -> None:
    """Write the sampled actions, NO_ACTION where no probability is above 0, as with NaNs.

    If rounding leaves a rest, the last possible action gets it.
    """
    for b in range(len(actions)):
        actions[b], left = NO_ACTION, uniforms[b]
        for action in range(probabilities.shape[1]):
            if probabilities[b, action] > 0:
                actions[b] = action
                left -= probabilities[b, action]
                if left < 0:
                    break


def uniform(mask: Masks) -> Probabilities:
    """Every legal action is equally likely."""
    probabilities = np.asarray(mask, np.float32)
    return probabilities / probabilities.sum(1, keepdims=True)


def best(scores: Scores) -> Probabilities:
    """All probability on the highest score of each row, shared evenly where several tie."""
    tied = scores >= scores.max(1, keepdims=True) - TIE
    return (tied / tied.sum(1, keepdims=True)).astype(np.float32)
