"""TorchRL: PPO over the legal actions, on many games at once.

GymWrapper reads the games, ActionMask and MaskedCategorical keep to the rules, and GAE and
ClipPPOLoss learn. The other seat plays at random.

    pip install -e ".[train]" torchrl
"""

import argparse

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from hanamachi import variant
from hanamachi.policies import BatchPolicy
from hanamachi.torchrl import for_torchrl
from hanamachi.training import evaluate

GAME = variant("hanamikoji")
GAMES, ROLLOUT, EPOCHS, MINIBATCH = 64, 64, 4, 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000, help="decisions to learn from")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=GAMES))
    env = TransformedEnv(GymWrapper(games, categorical_action_encoding=True), ActionMask())
    shape = {"in_features": GAME.observation.size, "num_cells": [256, 256], "activation_class": nn.ReLU}
    logits = TensorDictModule(MLP(out_features=GAME.actions.size, **shape), ["observation"], ["logits"])
    actor = ProbabilisticActor(
        logits,
        {"logits": "logits", "mask": "action_mask"},
        distribution_class=lambda logits, mask: MaskedCategorical(logits=logits, mask=mask.bool()),
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(out_features=1, **shape), ["observation"])
    gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5)
    optimiser = torch.optim.Adam(loss.parameters(), lr=5e-4, eps=1e-5)
    batch = GAMES * ROLLOUT
    for data in Collector(env, actor, frames_per_batch=batch, total_frames=max(steps, batch)):
        with torch.no_grad():
            gae(data)
        decisions = data.reshape(-1)
        for _ in range(EPOCHS):
            for rows in torch.randperm(batch).split(MINIBATCH):
                losses = loss(decisions[rows])
                optimiser.zero_grad()
                sum(losses[part] for part in losses.keys() if part.startswith("loss_")).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimiser.step()

    @torch.no_grad()
    def learned(observations, masks):
        found = logits.module(torch.from_numpy(observations))
        return found.masked_fill(torch.from_numpy(masks) == 0, -torch.inf).argmax(1).numpy()

    judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
    print(f"with_torchrl: {judged.results[0]}")


if __name__ == "__main__":
    main()
