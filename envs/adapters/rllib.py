"""A game as RLlib's action masking reads it: "observations", and the mask in float32.

    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from ray.tune.registry import register_env
    import hanamachi
    from hanamachi.adapters.rllib import for_rllib

    register_env("hanamikoji", lambda _: PettingZooEnv(for_rllib(hanamachi.make("hanamikoji"))))

Its ActionMaskingTorchRLModule takes the logarithm of the mask and wants no other names.
"""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

from hanamachi.adapters.aec import space_of
from hanamachi.errors import UserError, shown


def for_rllib(env: AECEnv) -> "ForRLlib":
    """The same environment, observed as ActionMaskingTorchRLModule of RLlib wants it.

    UserError unless its agents move one at a time, as in PettingZoo's AECEnv.
    """
    if not isinstance(env, AECEnv):
        raise UserError(
            "for_rllib takes a PettingZoo environment (AECEnv), such as "
            f'hanamachi.make("hanamikoji"), not {shown(env)}'
        )
    return ForRLlib(env)


class ForRLlib(BaseWrapper):
    """Its observations are {"observations": as they are, "action_mask": (A,) float32}."""

    def __init__(self, env: AECEnv) -> None:
        super().__init__(env)
        self.observation_spaces = {agent: renamed(env, agent) for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        return space_of(agent, self.observation_spaces)

    def clone(self) -> Self:
        """An independent copy, the game in progress included."""
        return deepcopy(self)

    def observe(self, agent: str) -> dict[str, NDArray[np.float32]]:
        seen: dict[str, Any] = self.env.observe(agent)
        mask = seen["action_mask"].astype(np.float32)
        return {"observations": seen["observation"], "action_mask": mask}


def renamed(env: AECEnv, agent: str) -> spaces.Dict:
    """The space of what an agent observes."""
    seen, actions = env.observation_space(agent), env.action_space(agent).n
    mask = spaces.Box(0, 1, (actions,), np.float32)
    return spaces.Dict({"observations": seen["observation"], "action_mask": mask})
