"""PettingZoo: the plain loop, in which a network learns from the agent that ships with the game.

The network plays every seat itself; after each of its decisions it is told what the shipped agent
thinks of the same position, and learns to choose as that would.

    pip install -e ".[train]" pettingzoo
"""

import argparse

import numpy as np
import torch
from torch import nn

from hanamachi import hanamikoji_v0, variant
from hanamachi.policies import BatchPolicy, load_policy
from hanamachi.training import evaluate

GAME = variant("hanamikoji")
BATCH = 256  # decisions between two updates
network = nn.Sequential(
    nn.Linear(GAME.observation.size, 256), nn.ReLU(), nn.Linear(256, GAME.actions.size)
)


@torch.no_grad()
def learned(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """What the network thinks best, among the legal actions."""
    return np.where(masks, network(torch.from_numpy(observations)), -np.inf).argmax(1)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=20_000, help="decisions to learn from")
steps = parser.parse_args().steps
teacher = load_policy("hanamikoji")
nothing = teacher.initial_memory(BATCH)  # it needs no memory
optimiser = torch.optim.Adam(network.parameters(), 2e-3)
env, met = hanamikoji_v0.env(), []
while steps > 0:
    env.reset()
    for _ in env.agent_iter():
        seen, _, over, _, _ = env.last()
        if over:
            env.step(None)
            continue
        met.append((seen["observation"], seen["action_mask"]))
        env.step(int(learned(*(rows[None] for rows in met[-1]))[0]))
        if len(met) == BATCH:
            observations, masks = map(np.stack, zip(*met, strict=True))
            wanted, *_ = teacher.distribution(observations, masks, nothing)
            logits = network(torch.from_numpy(observations))
            optimiser.zero_grad()
            nn.functional.cross_entropy(logits, torch.from_numpy(wanted)).backward()
            optimiser.step()
            steps, met = steps - BATCH, []
judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_pettingzoo: {judged.results[0]}")
