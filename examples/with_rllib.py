"""RLlib: PPO by self-play, with action masks.

All agents of the PettingZoo environment share one module, RLlib's own for masked actions; for_rllib
renames the keys of observations for it.

    pip install -e ".[train]" "ray[rllib]"
"""

import argparse

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import hanamachi
from hanamachi.adapters.rllib import for_rllib
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = hanamachi.variant("hanamikoji")
NETWORK = {"fcnet_hiddens": [256, 256], "fcnet_activation": "relu"}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=100_000, help="decisions to learn from")
steps = parser.parse_args().steps
register_env(GAME.id, lambda _: PettingZooEnv(for_rllib(hanamachi.make(GAME.id))))
shared = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=NETWORK)
config = (
    PPOConfig()
    .environment(GAME.id)
    .env_runners(num_env_runners=0)
    .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
    .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": shared}))
    .training(train_batch_size_per_learner=4_000, minibatch_size=500, num_epochs=5)
    .training(lr=1e-3, gamma=1.0, lambda_=0.95, entropy_coeff=0.01)
)
ray.init("local", include_dashboard=False)  # whatever cluster else may run
algorithm = config.build_algo()
for _ in range(-(-steps // 4_000)):
    algorithm.train()
module = algorithm.get_module("shared")


@torch.no_grad()
def learned(observations, masks):
    seen = {"observations": observations, "action_mask": masks.astype("float32")}
    batch = {"obs": {name: torch.from_numpy(rows) for name, rows in seen.items()}}
    return module.forward_inference(batch)["action_dist_inputs"].argmax(1).numpy()


judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_rllib: {judged.results[0]}")
