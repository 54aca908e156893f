"""OpenSpiel: its own PPO learns the game, with chance as a player.

The learner plays seat 0 of eight games, reads the engine's observation, and meets random play.

    pip install -e ".[train]" open-spiel
"""

import argparse

import numpy as np
import torch
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import Environment, ObservationType, TimeStep
from open_spiel.python.vector_env import SyncVectorEnv

from hanamachi.adapters.openspiel import load
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = load("hanamikoji")
LEARNER, GAMES, ROLLOUT, LUCK = 0, 8, 256, np.random.default_rng(0)


class OneSeat(Environment):
    """Each step ends at the learner's next decision: the other seat and chance play at random."""

    def reset(self) -> TimeStep:
        return self.to_the_learner(super().reset())

    def step(self, actions: list[int]) -> TimeStep:
        return self.to_the_learner(super().step(actions))

    def to_the_learner(self, now: TimeStep) -> TimeStep:
        while not now.last() and now.current_player() != LEARNER:
            now = super().step([LUCK.choice(now.observations["legal_actions"][1 - LEARNER])])
        return now


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=100_000, help="decisions to learn from")
steps = parser.parse_args().steps
seen = ObservationType.OBSERVATION
games = SyncVectorEnv([OneSeat(GAME, observation_type=seen) for _ in range(GAMES)])
sizes = (GAME.variant.observation.size,), GAME.num_distinct_actions()
ppo = PPO(*sizes, 2, LEARNER, GAMES, ROLLOUT, learning_rate=1e-3, gamma=1.0, agent_fn=PPOAgent)
now = games.reset()
for step in range(1, -(-steps // GAMES) + 1):
    now, rewards, terminated, _ = games.step(ppo.step(now), reset_if_done=True)
    ppo.post_step([each[LEARNER] for each in rewards], terminated)
    if step % ROLLOUT == 0:
        ppo.learn(now)


def learned(observations, masks):
    seen = torch.from_numpy(observations), torch.from_numpy(masks)
    return ppo.get_action_and_value(*seen)[-1].argmax(1).numpy()


judged = evaluate([BatchPolicy(learned, GAME.variant)], "hanamikoji", 2_000, opponents=["random"])
print(f"with_openspiel: {judged.results[0]}")
