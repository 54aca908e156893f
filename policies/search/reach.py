"""How likely worlds are, given what the other seats have done.

`redeal` deals worlds with the probability that chance gives them, every choice of the others
counting the same. If the others play by a policy that is known, a world's weight is the product,
over their decisions in the round in progress, of the probability with which this policy would have
taken the action that was taken, there and in that world. The weighted worlds are then a sample
from what the seat should believe.

Notation: K worlds, T decisions of the other seats, A actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.policies.policy import Masks, Observations, Policy
from hanamachi.sessions.players import observe

DOUBT = 0.4  # share of the others' decisions that is taken for random play

Weights = NDArray[np.float64]  # (K,) summing to 1


def weights(policy: Policy, worlds: NDArray[Any], seat: int, doubt: float = DOUBT) -> Weights:
    """The probability of each of these worlds of one seat, (K,), if the others play `policy`.

    A policy that is certain of its actions would rule out all worlds as soon as somebody plays
    otherwise; therefore a share of the decisions, `doubt`, counts as uniformly random.
    """
    reach = log_reach(policy, worlds, seat, doubt)
    shares = np.exp(reach - reach.max())
    return shares / shares.sum()


def log_reach(policy: Policy, worlds: NDArray[Any], seat: int, doubt: float = DOUBT) -> Weights:
    """The log-probability, (K,), that the other seats have acted in this round as they did."""
    positions, actions = decisions_of_others(policy.variant, worlds, seat)
    reach = np.zeros(positions.shape)
    seen, masks = observe(policy.variant, positions.ravel(), positions["mover"].ravel())
    open_ = np.flatnonzero(np.count_nonzero(masks, axis=1) > 1)
    chances = doubtful(policy, seen[open_], masks[open_], doubt)
    reach.ravel()[open_] = np.log(chances[np.arange(len(open_)), actions.ravel()[open_]])
    return reach.sum(1)


def decisions_of_others(
    variant: Variant, worlds: NDArray[Any], seat: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Where others than `seat` decided in this round, and how: positions and actions, (K, T)."""
    count = kernels.decisions_of_others(variant.rule_set, worlds[:1], seat)
    positions = np.empty((len(worlds), count), worlds.dtype)
    actions = np.empty((len(worlds), count), np.int64)
    kernels.parallel_for(kernels.retrace, variant.rule_set, worlds, seat, positions, actions)
    return positions, actions


def doubtful(policy: Policy, seen: Observations, masks: Masks, doubt: float) -> NDArray[np.float64]:
    """What somebody does who plays a policy, but now and then at random, (B, A).

    A policy with a memory is asked as at the beginning of a game.
    """
    if len(seen) == 0:
        return np.zeros(masks.shape)
    chances = policy.distribution(seen, masks, policy.initial_memory(len(seen)))[0]
    return (1 - doubt) * chances + doubt * masks / np.count_nonzero(masks, axis=1)[:, None]


def effective_size(weights: Weights) -> float:
    """How many equally likely worlds would tell as much (Kish)."""
    return float(1 / np.square(weights).sum())


def resampled(weights: Weights, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Worlds drawn by their weights, (count,), each at most once more or less than due.

    Systematic resampling: one random number for equally spaced points (Kitagawa 1996).
    """
    points = (rng.random() + np.arange(count)) / count
    return np.searchsorted(np.cumsum(weights), points).clip(max=len(weights) - 1)
