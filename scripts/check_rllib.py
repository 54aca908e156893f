"""RLlib's own check of environments, on every variant."""

from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

import hanamachi
from hanamachi.adapters.rllib import for_rllib

for id in hanamachi.VARIANTS:
    check_multiagent_environments(PettingZooEnv(for_rllib(hanamachi.make(id))))
    print(f"{id}: RLlib finds nothing to say against it")
