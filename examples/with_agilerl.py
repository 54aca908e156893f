"""AgileRL: its PPO on the Gymnasium VectorEnv, whose infos give it the masks.

AgileRL 2.58 needs PettingZoo below 1.27 and tensordict 0.13, so it needs its own virtual
environment. It imports peft without requiring it. Its multi-agent algorithms need agents that act
at the same time; in these games agents take turns.

    pip install -e ".[train]" agilerl peft
"""

import argparse

import gymnasium
import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.training.train_on_policy import train_on_policy

from hanamachi import variant
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = variant("hanamikoji")
GAMES, ROLLOUT = 64, 64

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=400_000, help="decisions to learn from")
steps = parser.parse_args().steps
torch.manual_seed(0)
games = gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=GAMES)
ppo = PPO(
    games.single_observation_space,
    games.single_action_space,
    num_envs=GAMES,
    learn_step=GAMES * ROLLOUT,
    batch_size=512,
    lr=2.5e-4,
    gamma=1.0,
    net_config={"encoder_config": {"hidden_size": [256]}, "latent_dim": 128},
)
train_on_policy(games, GAME.id, "PPO", [ppo], max_steps=steps, evo_steps=steps, verbose=False)
ppo.set_training_mode(False)


@torch.no_grad()
def learned(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    seen = ppo.actor.extract_features(torch.from_numpy(observations))
    return np.where(masks, ppo.actor.head_net.wrapped(seen), -np.inf).argmax(1)


judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_agilerl: {judged.results[0]}")
