"""Tianshou: PPO over the legal actions, on the Gymnasium environment.

The other seat plays at random.

    pip install -e ".[train]" tianshou
"""

import argparse

import gymnasium
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net

from hanamachi import variant
from hanamachi.adapters.tianshou import for_tianshou
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = variant("hanamikoji")
SHAPE = {"state_shape": GAME.observation.size, "hidden_sizes": [256, 256]}
GAMES, BATCH = 64, 4096


class Actor(Net):
    def forward(self, seen, state=None, info=None):
        logits, state = super().forward(seen.obs, state)
        return logits.masked_fill(torch.as_tensor(seen.mask) == 0, -torch.inf), state


class Critic(Net):
    def forward(self, seen):
        return super().forward(seen.obs)[0]


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=200_000, help="decisions to learn from")
games = DummyVectorEnv([lambda: for_tianshou(gymnasium.make("hanamachi/Hanamikoji-v0"))] * GAMES)
actor, critic = Actor(action_shape=GAME.actions.size, **SHAPE), Critic(action_shape=1, **SHAPE)
policy = DiscreteActorPolicy(actor=actor, action_space=games.action_space[0])
ppo = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(5e-4), gamma=1.0)
params = OnPolicyTrainerParams(
    training_collector=Collector(ppo, games, VectorReplayBuffer(2 * BATCH, GAMES)),
    collection_step_num_env_steps=BATCH, batch_size=512, update_step_num_repetitions=4,
    max_epochs=1, epoch_num_steps=parser.parse_args().steps, show_progress=False, verbose=False,
)  # fmt: skip
ppo.run_training(params)


def learned(observations, masks):
    return actor(Batch(obs=observations, mask=masks))[0].argmax(1).numpy()


judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_tianshou: {judged.results[0]}")
