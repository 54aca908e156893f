"""Gymnasium: masked PPO on the VectorEnv, written in PyTorch alone.

128 games run in compiled code, and the network plays all seats of each. One seat learns; the same
network plays the other seats as the environment's opponent. The masks come in the infos.

    pip install -e ".[train]" gymnasium
"""

import argparse
from typing import NamedTuple

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from hanamachi import variant
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = variant("hanamikoji")
GAMES = 128  # at the same time
ROLLOUT = 32  # decisions in each, between two updates
EPOCHS = 4  # over each rollout
MINIBATCH = 512
GAE_LAMBDA = 0.95  # without a discount: a game is short, and only its result counts
CLIP = 0.2
ENTROPY = 0.01
LEARNING_RATE = 5e-4


class Network(nn.Module):
    """Logits of the legal actions, and the expected result."""

    def __init__(self, entries: int, actions: int, width: int = 256) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(entries, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.actor, self.critic = nn.Linear(width, actions), nn.Linear(width, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)  # at first every action is about as likely

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        seen = self.trunk(observations)
        logits = self.actor(seen).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.critic(seen).squeeze(-1)


class Decision(NamedTuple):
    """One decision in every game, or after `stack` a rollout of them, (T, B)."""

    observations: Tensor
    masks: Tensor
    actions: Tensor
    chances: Tensor  # their logarithms
    values: Tensor
    rewards: Tensor
    terminated: Tensor


class Games:
    """Games in progress, which the network plays."""

    def __init__(self, network: Network, seed: int = 0) -> None:
        self.network = network
        itself = BatchPolicy(self.sampled, GAME)
        self.env = gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=GAMES, opponent=itself)
        observations, infos = self.env.reset(seed=seed)
        self.now = torch.from_numpy(observations), torch.from_numpy(infos["action_mask"])

    @torch.no_grad()
    def sampled(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        seen = torch.from_numpy(observations), torch.from_numpy(masks)
        return self.network(*seen)[0].sample().numpy()

    @torch.no_grad()
    def rollout(self) -> tuple[Decision, Tensor]:
        """The next decisions, and the values after the last."""
        decisions = []
        for _ in range(ROLLOUT):
            choices, values = self.network(*self.now)
            actions = choices.sample()
            observations, rewards, terminated, _, infos = self.env.step(actions.numpy())
            earned = torch.from_numpy(rewards).float(), torch.from_numpy(terminated)
            taken = actions, choices.log_prob(actions), values
            decisions.append(Decision(*self.now, *taken, *earned))
            self.now = torch.from_numpy(observations), torch.from_numpy(infos["action_mask"])
        return Decision(*map(torch.stack, zip(*decisions, strict=True))), self.network(*self.now)[1]


def advantages(rollout: Decision, following: Tensor) -> Tensor:
    """How much better each decision was than expected, (T, B); by GAE."""
    found, ahead = torch.zeros_like(rollout.values), torch.zeros_like(following)
    for t in reversed(range(ROLLOUT)):
        goes_on = (~rollout.terminated[t]).float()
        surprise = rollout.rewards[t] + goes_on * following - rollout.values[t]
        found[t] = ahead = surprise + GAE_LAMBDA * goes_on * ahead
        following = rollout.values[t]
    return found


def update(network: Network, optimiser: torch.optim.Optimizer, games: Games) -> None:
    """Play a rollout and learn from it."""
    rollout, following = games.rollout()
    better = advantages(rollout, following).flatten()
    results = better + rollout.values.flatten()
    batch = Decision(*(rows.flatten(0, 1) for rows in rollout))
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(better)).split(MINIBATCH):
            choices, values = network(batch.observations[rows], batch.masks[rows])
            ratio = (choices.log_prob(batch.actions[rows]) - batch.chances[rows]).exp()
            gain = (better[rows] - better[rows].mean()) / (better[rows].std() + 1e-8)
            clipped = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
            error = (values - results[rows]).square().mean()
            loss = error / 2 - clipped.mean() - ENTROPY * choices.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimiser.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300_000, help="decisions to learn from")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    network = Network(GAME.observation.size, GAME.actions.size)
    optimiser = torch.optim.Adam(network.parameters(), LEARNING_RATE, eps=1e-5)
    games = Games(network)
    for _ in range(-(-steps // (GAMES * ROLLOUT))):
        update(network, optimiser, games)
    learned = BatchPolicy(games.sampled, GAME)
    judged = evaluate([learned], GAME.id, 2_000, opponents=["random"])
    print(f"with_gymnasium: {judged.results[0]}")


if __name__ == "__main__":
    main()
