"""Games played on by a policy in all seats, many at once.

Notation: K worlds, B = K * J games, S seats.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi import kernels
from hanamachi.policies.policy import Policy, sample, views


def play_out(
    policy: Policy, games: NDArray[Any], actions: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """What each seat earns, (B, S), from these actions, (B,), to the end of the games.

    The games are played on in place. The policy knows of no earlier decision of theirs.
    """
    variant = policy.variant
    earned = np.zeros((len(games), variant.seats))
    memory = policy.initial_memory(earned.size).reshape(*earned.shape, -1)
    going = np.arange(len(games))
    while going.size:
        on = games[going]
        kernels.spread(kernels.step, variant.rules, on, actions)
        games[going] = on
        earned[going] += on["rewards"][:, : variant.seats]
        going = going[on["mover"] >= 0]
        seats = games["mover"][going].astype(np.int64)
        seen = views(variant, games[going], seats)
        chances, _, memory[going, seats] = policy.distribution(*seen, memory[going, seats])
        actions = sample(chances, rng.random(len(going)))
    return earned
