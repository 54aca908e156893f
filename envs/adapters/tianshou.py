"""One seat of a game as Tianshou's algorithms read it: "obs" with its "mask".

    import gymnasium
    from hanamachi.adapters.tianshou import for_tianshou

    env = for_tianshou(gymnasium.make("hanamachi/Hanamikoji-v0"))

Its buffer keeps what is observed, but not the info that an action was chosen by; its Q-learners
mask what they read under these names by themselves. A game with all seats loads by Tianshou's own
PettingZooEnv(env).
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.errors import UserError, shown


def for_tianshou(env: gymnasium.Env[NDArray[np.float32], np.int64]) -> "ForTianshou":
    """The same environment, made by gymnasium.make, observed as Tianshou wants it.

    UserError for an environment of anything else.
    """
    if not isinstance(getattr(env, "unwrapped", None), SeatEnv):
        raise UserError(
            "for_tianshou takes one of these games, made by gymnasium.make, such as "
            f'gymnasium.make("hanamachi/Hanamikoji-v0"), not {shown(env)}'
        )
    return ForTianshou(env)


class ForTianshou(gymnasium.ObservationWrapper[dict[str, Any], np.int64, NDArray[np.float32]]):
    """Its observations are {"obs": as they are, "mask": (A,) int8, zeros after the end}."""

    def __init__(self, env: gymnasium.Env[NDArray[np.float32], np.int64]) -> None:
        super().__init__(env)
        assert isinstance(env.unwrapped, SeatEnv)
        self._seat: SeatEnv = env.unwrapped
        legal = spaces.MultiBinary(self._seat.variant.actions.size)
        self.observation_space = spaces.Dict({"obs": env.observation_space, "mask": legal})

    def observation(self, observation: NDArray[np.float32]) -> dict[str, Any]:
        return {"obs": observation, "mask": self._seat.action_masks()}
