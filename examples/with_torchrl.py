"""TorchRL: PPO over the legal actions, on a batch of games.

GymWrapper loads the games, ActionMask and MaskedCategorical apply the masks, and GAE and
ClipPPOLoss learn. The other seat plays at random.

    pip install -e ".[train]" torchrl
"""

import argparse

import gymnasium
import numpy as np
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from hanamachi import variant
from hanamachi.adapters.torchrl import for_torchrl
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = variant("hanamikoji")
SHAPE = {"in_features": GAME.observation.size, "num_cells": [256, 256], "activation_class": nn.ReLU}
GAMES, BATCH, EPOCHS, MINIBATCH = 64, 4096, 4, 512

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=200_000, help="decisions to learn from")
steps = parser.parse_args().steps
games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=GAMES))
env = TransformedEnv(GymWrapper(games, categorical_action_encoding=True), ActionMask())
logits = TensorDictModule(MLP(out_features=GAME.actions.size, **SHAPE), ["observation"], ["logits"])
actor = ProbabilisticActor(
    logits, {"logits": "logits", "mask": "action_mask"}, return_log_prob=True,
    distribution_class=lambda logits, mask: MaskedCategorical(logits=logits, mask=mask.bool()),
)  # fmt: skip
critic = ValueOperator(MLP(out_features=1, **SHAPE), ["observation"])
gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5)
optimiser = torch.optim.Adam(loss.parameters(), lr=5e-4, eps=1e-5)
for data in Collector(env, actor, frames_per_batch=BATCH, total_frames=steps):
    decisions = gae(data).reshape(-1)
    for rows in torch.cat([torch.randperm(BATCH) for _ in range(EPOCHS)]).split(MINIBATCH):
        parts = loss(decisions[rows])
        optimiser.zero_grad()
        (parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]).backward()
        optimiser.step()


@torch.no_grad()
def learned(observations, masks):
    return np.where(masks, logits.module(torch.from_numpy(observations)), -np.inf).argmax(1)


judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_torchrl: {judged.results[0]}")
