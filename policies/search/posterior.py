"""The posterior of worlds: how likely each is, given the actions of the other seats.

`redeal` samples worlds by the probability of the deal alone, and ignores how the others chose. If
they play a known policy, the weight of a world is the product, over their decisions in the current
round, of the probability that this policy takes the action taken, in that world. The weighted
worlds are a sample from the posterior of the seat.

Notation: K worlds, T decisions of the other seats, A actions.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.engine.threads import parallel_for
from hanamachi.policies.arrays import Masks, Observations
from hanamachi.policies.policy import Policy
from hanamachi.sessions.observations import observe
from hanamachi.sessions.policy_checks import distribution_of, memory_of

NEEDED_TO_WEIGH = "redeal", "rewind", "next_event"  # of a game, to sample and weigh its worlds
RANDOM_SHARE = 0.4  # of the others' decisions that searches assume to be uniformly random

Weights = NDArray[np.float64]  # (K,) summing to 1


def posterior(policy: Policy, worlds: NDArray[Any], seat: int, random_share: float) -> Weights:
    """The probability of each of these worlds of one seat, (K,), if the others play `policy`.

    A deterministic policy would rule out all worlds as soon as a seat deviates from it. So
    `random_share` of the decisions is assumed to be uniformly random.
    """
    return posteriors(policy, [worlds], [seat], random_share)[0]


def posteriors(
    policy: Policy,
    worlds: Sequence[NDArray[Any]],
    seats: Sequence[int],
    random_share: float,
) -> list[Weights]:
    """As `posterior`, for the worlds of several seats in one call of the policy."""
    pairs = zip(worlds, seats, strict=True)
    decided = [decisions_of_others(policy.variant, *pair) for pair in pairs]
    edges = np.cumsum([0, *(actions.size for _, actions in decided)])
    positions = np.concatenate([positions.ravel() for positions, _ in decided])
    taken = np.concatenate([actions.ravel() for _, actions in decided])
    logs = log_probabilities(policy, positions, taken, random_share)
    places = zip(pairwise(edges), (actions.shape for _, actions in decided), strict=True)
    return [softmax(logs[begin:end].reshape(shape).sum(1)) for (begin, end), shape in places]


def log_probabilities(
    policy: Policy, positions: NDArray[Any], actions: NDArray[np.int64], random_share: float
) -> NDArray[np.float64]:
    """The log-probability of the action taken in each position, (T,); 0 where it was forced."""
    logs = np.zeros(len(positions))
    seen, masks = observe(policy.variant, positions, positions["mover"].astype(np.int64))
    open_ = np.flatnonzero(np.count_nonzero(masks, axis=1) > 1)
    probabilities = smoothed(policy, seen[open_], masks[open_], random_share)
    logs[open_] = np.log(probabilities[np.arange(len(open_)), actions[open_]])
    return logs


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Probabilities proportional to exp(scores), each (n,)."""
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()


def decisions_of_others(
    variant: Variant, worlds: NDArray[Any], seat: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The decisions of the other seats in this round: positions and actions, each (K, T)."""
    count = kernels.count_others_decisions(variant.rule_set, worlds[:1], seat)
    positions = np.empty((len(worlds), count), worlds.dtype)
    actions = np.empty((len(worlds), count), np.int64)
    parallel_for(kernels.retrace, variant.rule_set, worlds, seat, positions, actions)
    return positions, actions


def smoothed(
    policy: Policy, seen: Observations, masks: Masks, random_share: float
) -> NDArray[np.float64]:
    """The policy's probabilities mixed with uniform play, (B, A); its memory is the initial one."""
    if len(seen) == 0:
        return np.zeros(masks.shape)
    probabilities = distribution_of(policy, seen, masks, memory_of(policy, len(seen)))[0]
    uniform = masks / np.count_nonzero(masks, axis=1)[:, None]
    return (1 - random_share) * probabilities + random_share * uniform


def resampled(weights: NDArray[Any], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices of worlds drawn by their weights, (count,), which may have any sum above 0.

    Systematic resampling: one random number for equally spaced points (Kitagawa 1996). Each world
    is drawn at most once more or less often than expected, and none of weight 0.
    """
    edges = np.cumsum(weights)
    points = (np.arange(count) + rng.random()) * edges[-1] / count
    return np.minimum(np.searchsorted(edges, points, side="right"), np.flatnonzero(weights)[-1])
