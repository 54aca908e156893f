"""TorchRL's own check of environments, on every variant: all seats, and one seat of many games."""

import gymnasium
from torchrl.envs import ActionMask, GymWrapper, PettingZooWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

import hanamachi
from hanamachi.adapters.registration import gymnasium_id
from hanamachi.adapters.torchrl import for_torchrl

for id in hanamachi.VARIANTS:
    check_env_specs(PettingZooWrapper(hanamachi.make(id), use_mask=True, categorical_actions=True))
    games = gymnasium.make_vec(gymnasium_id(id), num_envs=3)
    many = GymWrapper(for_torchrl(games), categorical_action_encoding=True)
    check_env_specs(TransformedEnv(many, ActionMask()))
    print(f"{id}: TorchRL finds nothing to say against it")
