"""The one door for what policies answer: it is checked here before anything uses it.

Environments, training, evaluation, searches, exact solving and play in the terminal ask policies
only through these functions, so that no kernel ever meets an illegal action, a NaN, or
probabilities that do not sum to 1, from any policy.

Notation: B observations, N entries of an observation, A actions, M entries of a memory.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.arrays import Float32s
from hanamachi.engine.compiled import kernel
from hanamachi.errors import IllegalAction, UserError
from hanamachi.sessions.worlds import Worlds

Observations = NDArray[np.float32]  # (B, N)
Masks = NDArray[np.int8]  # (B, A)
Memory = NDArray[Any]  # (B, M)
Actions = NDArray[np.int64]  # (B,)

ROUNDING = 1e-3  # by which probabilities may miss a sum of 1
FINE = -1  # no row is wrong


def distribution_of(
    policy: Any, observations: Observations, masks: Masks, memory: Memory
) -> tuple[Float32s, Float32s | None, Memory]:
    """`policy.distribution`: probabilities (B, A), values (B,) or None, the memory (B, M) after.

    UserError unless every row is a distribution over its legal actions, and values are finite.
    """
    answer = policy.distribution(*copies(observations, masks, memory))
    if not isinstance(answer, tuple) or len(answer) != 3:
        raise UserError(
            f"{name_of(policy)}: distribution must return (probabilities, values, memory)"
        )
    probabilities = checked_distribution(answer[0], masks, name_of(policy))
    values = None if answer[1] is None else checked_values(answer[1], len(masks), name_of(policy))
    return probabilities, values, checked_memory(answer[2], memory, name_of(policy))


def actions_of(
    opponent: Any,
    observations: Observations,
    masks: Masks,
    memory: Memory,
    rng: np.random.Generator,
) -> tuple[Actions, Memory]:
    """`opponent.act`: actions (B,) and the memory (B, M) after.

    UserError unless there is one whole number for each row; IllegalAction if one is not legal.
    """
    answer = opponent.act(*copies(observations, masks, memory), rng)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise UserError(f"{name_of(opponent)}: act must return (actions, memory)")
    actions = checked_actions(answer[0], masks, name_of(opponent))
    return actions, checked_memory(answer[1], memory, name_of(opponent))


def scores_of(
    policy: Any, observations: Observations, masks: Masks, memory: Memory
) -> tuple[Float32s, Memory]:
    """`policy.scores`: a score for each action (B, A), -inf where illegal, and the memory after.

    UserError unless each row has a finite score of a legal action. Illegal actions must have -inf,
    and legal ones may.
    """
    answer = policy.scores(*copies(observations, masks, memory))
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise UserError(f"{name_of(policy)}: scores must return (scores, memory)")
    scores = as_floats(answer[0], masks.shape, "scores", name_of(policy))
    scored = np.isfinite(scores) & (masks != 0)
    if not (scored | np.isneginf(scores)).all() or not scored.any(1).all():
        raise UserError(
            f"{name_of(policy)} must give legal actions finite scores, and illegal ones -inf"
        )
    return scores, checked_memory(answer[1], memory, name_of(policy))


def values_of(policy: Any, observations: Observations, masks: Masks, memory: Memory) -> Float32s:
    """`policy.values`: the expected results, (B,); UserError unless they are finite."""
    values = policy.values(*copies(observations, masks, memory))
    return checked_values(values, len(masks), name_of(policy))


def memory_of(policy: Any, rows: int) -> Memory:
    """`policy.initial_memory`: a memory of its own for each row, (B, M).

    UserError unless it holds numbers in this shape.
    """
    given = as_array(policy.initial_memory(rows), "memory", name_of(policy))
    memory = given.copy()  # what is written to it stays here
    if memory.ndim != 2 or len(memory) != rows or memory.dtype.kind not in "fiub":
        raise UserError(
            f"{name_of(policy)}: initial_memory({rows}) must return numbers of shape ({rows}, M), "
            f"not {memory.dtype} of shape {memory.shape}"
        )
    return memory


def asked_about(policy: Any, worlds: Worlds) -> Any:
    """`policy.with_worlds`: the policy for these games; UserError if it is none.

    An opponent that does not search needs no `with_worlds`.
    """
    searching = getattr(policy, "with_worlds", None)
    asked = policy if searching is None else searching(worlds)
    if not callable(getattr(asked, "act", None)):
        raise UserError(f"{name_of(policy)}: with_worlds must return a policy, not {asked!r}")
    return asked


def copies(
    observations: Observations, masks: Masks, memory: Memory
) -> tuple[Observations, Masks, Memory]:
    """What a policy is given: it may write there, and callers use the originals afterwards."""
    return observations.copy(), masks.copy(), memory.copy()


# --- Checks


def checked_distribution(probabilities: Any, masks: Masks, name: str) -> Float32s:
    """Probabilities as float32, (B, A); UserError unless rows are distributions over `masks`."""
    rows = as_floats(probabilities, masks.shape, "probabilities", name)
    if fault := fault_in(rows, masks):
        raise UserError(f"{name} {fault}")
    return rows


def fault_in(rows: Float32s, masks: Masks) -> str:
    """What is wrong where a row, (B, A), is no distribution over `masks`, as said after a name."""
    row = faulty_row(rows, np.ascontiguousarray(masks, np.int8))
    if row == FINE:
        return ""
    if not np.isfinite(rows[row]).all():
        return "gives probabilities that are not finite"
    if (rows[row][masks[row] == 0] != 0).any():
        return "gives an illegal action a probability other than 0"
    if (rows[row] < 0).any():
        return "gives an action a probability below 0"
    return f"gives probabilities that sum to {rows[row].sum(dtype=np.float64):g}, not to 1"


def checked_actions(actions: Any, masks: Masks, name: str, of: str = "row") -> Actions:
    """Actions as int64, (B,); UserError or IllegalAction unless each is legal in its row.

    `of` is what a row stands for; those that a policy is asked about are not all of its games.
    """
    rows = as_array(actions, "actions", name)
    if rows.shape != (len(masks),) or rows.dtype.kind not in "iu":
        raise UserError(
            f"{name} must choose {len(masks)} whole numbers, one for each {of}, "
            f"not {rows.dtype} of shape {rows.shape}"
        )
    chosen: Actions = rows.astype(np.int64)
    row = illegal_row(chosen, np.ascontiguousarray(masks, np.int8))
    if row != FINE:
        raise IllegalAction(
            f"{name} chose action {rows[row]} in {of} {row} of {len(rows)}, "
            f"where {int(masks[row].sum())} others are legal"
        )
    return chosen


def checked_values(values: Any, rows: int, name: str) -> Float32s:
    """Values as float32, (B,); UserError unless all are finite."""
    checked = as_floats(values, (rows,), "values", name)
    if not all_finite(checked):
        raise UserError(f"{name} gives values that are not finite")
    return checked


def checked_memory(after: Any, before: Memory, name: str) -> Memory:
    """The memory after a decision; UserError unless it fits where the one before came from."""
    memory = as_array(after, "memory", name)
    if memory.shape == before.shape and memory.dtype == before.dtype:
        return memory
    if memory.shape != before.shape or not np.can_cast(memory.dtype, before.dtype, "same_kind"):
        raise UserError(
            f"{name} must return a memory like the one it was given, {before.dtype} of shape "
            f"{before.shape}, not {memory.dtype} of shape {memory.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return memory.astype(before.dtype, copy=False)


def as_array(answer: Any, what: str, name: str) -> NDArray[Any]:
    """The answer as an array of any type; UserError if numpy cannot make one of it."""
    try:
        return np.asarray(answer)
    except (TypeError, ValueError, RuntimeError) as error:
        has_gradient = isinstance(error, RuntimeError)  # as a tensor of PyTorch
        hint = ": call its detach()" if has_gradient else ""
        raise UserError(f"{name} must give {what} as an array of numbers{hint}") from error


def as_floats(array: Any, shape: tuple[int, ...], what: str, name: str) -> Float32s:
    """The array as contiguous float32; UserError unless it holds numbers in this shape."""
    given = as_array(array, what, name)
    if given.shape != shape or given.dtype.kind not in "fiub":
        raise UserError(
            f"{name} must return {what} of shape {shape}, not {given.dtype} of shape {given.shape}"
        )
    if given.dtype == np.float32:
        return np.ascontiguousarray(given)
    with np.errstate(over="ignore"):  # a number too large for float32 is found to be infinite
        return np.ascontiguousarray(given, np.float32)


def name_of(policy: Any) -> str:
    """What messages call a policy or opponent."""
    return str(getattr(policy, "name", None) or type(policy).__name__)


@kernel
def all_finite(values: Float32s) -> bool:
    """Whether no value is infinite or NaN; for a few values, in a fifth of NumPy's time."""
    faults = 0
    for i in range(len(values)):
        faults += not np.isfinite(values[i])
    return faults == 0


@kernel
def illegal_row(actions: Actions, masks: Masks) -> int:
    """The first row whose action is not legal, or FINE."""
    for b in range(len(actions)):
        action = actions[b]
        if action < 0 or action >= masks.shape[1] or masks[b, action] == 0:
            return b
    return FINE


@partial(kernel, fastmath={"reassoc"})
def faulty_row(probabilities: Float32s, masks: Masks) -> int:
    """The first row that is no distribution over its legal actions, or FINE; a NaN is a fault.

    No branch inside the loop over actions: so compilers make vectors of it.
    """
    for b in range(len(probabilities)):
        total, faulty = np.float32(0), False
        for action in range(probabilities.shape[1]):
            probability = probabilities[b, action]
            total += probability
            faulty |= (probability < 0) | ((masks[b, action] == 0) & (probability != 0))
        if faulty or not abs(total - 1) < ROUNDING:
            return b
    return FINE
