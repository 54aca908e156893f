"""From scores to probabilities, and from probabilities to actions.

Notation: B observations, A actions.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import kernel
from hanamachi.engine.random_numbers import scatter
from hanamachi.errors import UserError
from hanamachi.policies.arrays import Masks, Probabilities, Scores

NO_ACTION = -1  # in place of a sampled action
TIE = 1e-6  # scores closer than this count as equal: they differ only by rounding


def uniform(mask: Masks) -> Probabilities:
    """Every legal action is equally likely."""
    probabilities = np.asarray(mask, np.float32)
    return probabilities / probabilities.sum(1, keepdims=True)


def best(scores: Scores) -> Probabilities:
    """All probability on the highest score of each row, shared evenly where several tie."""
    tied = scores >= scores.max(1, keepdims=True) - TIE
    return (tied / tied.sum(1, keepdims=True)).astype(np.float32)


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
