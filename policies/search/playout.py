"""Games played on by a policy in all seats, many at once.

Notation: K worlds, B = K * J games, S seats, M entries of a memory.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi import kernels
from hanamachi.policies.policy import Memory, Policy, sample, views


def play_out(
    policy: Policy,
    games: NDArray[Any],
    actions: NDArray[np.int64],
    rng: np.random.Generator,
    memory: Memory | None = None,
    alike: int = 1,
) -> NDArray[np.float64]:
    """What each seat earns, (B, S), from these actions, (B,), to the end of the games.

    Games and memory, (B, S, M), are brought up to date in place; without one the policy knows of
    no earlier decision. Each `alike` games in a row have the same luck.
    """
    variant = policy.variant
    earned = np.zeros((len(games), variant.seats))
    if memory is None:
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
        luck = rng.random(len(games) // alike)
        actions = sample(chances, luck[going // alike])
    return earned
