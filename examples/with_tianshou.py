"""Tianshou: DQN in one seat of its PettingZooEnv, against its random agent.

In Tianshou's buffer the step after a decision is the other agent's, so returns reach to the end of
the game instead of one step: its last reward counts, whoever made the last decision.

    pip install -e ".[train]" tianshou
"""

import argparse

import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import hanamachi
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = hanamachi.variant("hanamikoji")
GAMES, LONGEST = 16, 100  # decisions in a game


def make() -> PettingZooEnv:
    return PettingZooEnv(hanamachi.make(GAME.id))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=150_000, help="decisions of both agents")
steps = parser.parse_args().steps
env, sizes = make(), (GAME.observation.size, GAME.actions.size)
network = Net(state_shape=sizes[0], action_shape=sizes[1], hidden_sizes=[256, 256])
policy = DiscreteQLearningPolicy(model=network, action_space=env.action_space, eps_training=0.1)
dqn = DQN(policy=policy, optim=AdamOptimizerFactory(1e-3), gamma=1.0, n_step_return_horizon=LONGEST)
other = MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space)
both = MultiAgentOffPolicyAlgorithm(algorithms=[dqn, other], env=env)
buffer = VectorReplayBuffer(40_000, GAMES)
games = Collector(both, DummyVectorEnv([make] * GAMES), buffer, exploration_noise=True)
both.run_training(
    OffPolicyTrainerParams(
        training_collector=games, max_epochs=1, epoch_num_steps=steps, batch_size=512,
        collection_step_num_env_steps=256, update_step_num_gradient_steps_per_sample=1 / 32,
        show_progress=False, verbose=False,
    )
)  # fmt: skip


@torch.no_grad()
def learned(observations, masks):
    return np.where(masks, network(observations)[0], -np.inf).argmax(1)


judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_tianshou: {judged.results[0]}")
