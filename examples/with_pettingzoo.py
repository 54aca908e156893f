"""PettingZoo: in the plain loop, a network plays against the shipped agent and imitates it.

The shipped agent chooses an action at every turn. In its own seat it plays this action; in the
network's seat the action is the label that the network learns from.

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
BATCH = 64  # decisions between two updates
network = nn.Sequential(
    nn.Linear(GAME.observation.size, 256), nn.ReLU(), nn.Linear(256, GAME.actions.size)
)


@torch.no_grad()
def learned(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The legal actions with the highest scores."""
    return np.where(masks, network(torch.from_numpy(observations)), -np.inf).argmax(1)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=40_000, help="decisions to learn from")
steps = parser.parse_args().steps
shipped = load_policy("hanamikoji")
optimiser = torch.optim.Adam(network.parameters(), 1e-3)
env, met, seat = hanamikoji_v0.env(), [], 0
while steps > 0:
    env.reset()
    memory, seat = dict.fromkeys(env.agents), 1 - seat
    for agent in env.agent_iter():
        seen, _, terminated, _, _ = env.last()
        if terminated:
            env.step(None)
            continue
        observation, mask = seen["observation"], seen["action_mask"]
        action, memory[agent] = shipped.predict(observation, memory[agent], action_masks=mask)
        if agent == env.possible_agents[seat]:
            met.append((observation, action))
            action = learned(observation[None], mask[None])[0]
        env.step(int(action))
    if len(met) >= BATCH:
        parts = zip(*met, strict=True)
        observations, actions = (torch.from_numpy(np.stack(rows)) for rows in parts)
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(observations), actions).backward()
        optimiser.step()
        steps, met = steps - len(met), []
judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_pettingzoo: {judged.results[0]}")
