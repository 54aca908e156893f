"""Your own learner: PPO in PyTorch that learns from the decisions of both seats.

128 games run in compiled code. Each row shows the seat to move, whichever it is, and one network
plays them all. The next decision is often the opponent's, so advantages take its value with the
opposite sign.

    pip install -e ".[train]" torch
"""

import argparse
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from hanamachi import variant
from hanamachi.policies import BatchPolicy
from hanamachi.training import SelfPlayVecEnv, evaluate, mover_signed_advantages

GAME = variant("hanamikoji")
GAMES = 128  # at the same time
ROLLOUT = 64  # decisions in each, between two updates
EPOCHS = 4  # over each rollout
MINIBATCH = 512
GAMMA, GAE_LAMBDA = 1.0, 0.95  # no discount: a game is short, and only its result counts
CLIP = 0.2
ENTROPY = 0.01
LEARNING_RATE = 5e-4


class Network(nn.Module):
    """Logits of the legal actions, and the expected result of the seat to move."""

    def __init__(self, entries: int, actions: int, width: int = 256) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(entries, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.actor, self.critic = nn.Linear(width, actions), nn.Linear(width, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)  # at first every action is about as likely

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        hidden = self.trunk(observations)
        logits = self.actor(hidden).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.critic(hidden).squeeze(-1)


class Batch(NamedTuple):
    """Decisions to learn from, (T * B, ...)."""

    observations: Tensor
    masks: Tensor
    actions: Tensor
    log_probabilities: Tensor
    advantages: Tensor
    returns: Tensor


@torch.no_grad()
def play(network: Network, games: SelfPlayVecEnv) -> Batch:
    """Play a rollout; the arrays of `games` are written anew at each decision, so copy them."""
    chosen, outcomes = [], []
    for _ in range(ROLLOUT):
        seen = torch.tensor(games.observations), torch.tensor(games.masks)
        choices, values = network(*seen)
        actions = choices.sample()
        games.advance(actions.numpy())
        chosen.append((*seen, actions, choices.log_prob(actions), values))
        outcomes.append((games.rewards.copy(), games.terminated.copy(), games.signs.copy()))
    observations, masks, actions, log_probabilities, values = map(
        torch.stack, zip(*chosen, strict=True)
    )
    rewards, terminated, signs = map(np.array, zip(*outcomes, strict=True))
    _, following = network(torch.tensor(games.observations), torch.tensor(games.masks))
    all_values = torch.cat([values, following[None]]).numpy()  # (T + 1, B)
    advantages = torch.from_numpy(
        mover_signed_advantages(rewards, all_values, terminated, signs, GAMMA, GAE_LAMBDA)
    )
    batch = observations, masks, actions, log_probabilities, advantages, advantages + values
    return Batch(*(rows.flatten(0, 1) for rows in batch))


def learn(network: Network, optimiser: torch.optim.Optimizer, batch: Batch) -> None:
    """Improve the network by PPO's clipped objective."""
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(batch.actions)).split(MINIBATCH):
            some = Batch(*(each[rows] for each in batch))
            choices, values = network(some.observations, some.masks)
            ratio = (choices.log_prob(some.actions) - some.log_probabilities).exp()
            gain = (some.advantages - some.advantages.mean()) / (some.advantages.std() + 1e-8)
            clipped = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
            error = (values - some.returns).square().mean()
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
    games = SelfPlayVecEnv(GAME, GAMES, seed=0)
    games.reset()
    for _ in range(-(-steps // (GAMES * ROLLOUT))):
        learn(network, optimiser, play(network, games))

    @torch.no_grad()
    def sampled(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return network(torch.from_numpy(observations), torch.from_numpy(masks))[0].sample().numpy()

    judged = evaluate([BatchPolicy(sampled, GAME)], GAME.id, 2_000, opponents=["random"])
    print(f"with_own_learner: {judged.results[0]}")


if __name__ == "__main__":
    main()
