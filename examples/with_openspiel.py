"""OpenSpiel: its own PPO learns our game as OpenSpiel sees it, where chance is a player.

The learner sits in seat 0 of eight games, and the other plays at random. What it observes is
what the engine shows, so that it can be judged outside of OpenSpiel.

    pip install -e ".[train,openspiel]"
"""

import argparse

import numpy as np
import torch
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import Environment, ObservationType, TimeStep
from open_spiel.python.vector_env import SyncVectorEnv

from hanamachi.openspiel import load
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = load("hanamikoji")
LEARNER, GAMES, ROLLOUT = 0, 8, 256


class OneSeat(Environment):
    """Each step goes to the learner's next decision: the other plays at random, as chance does."""

    def reset(self) -> TimeStep:
        return self.to_the_learner(super().reset())

    def step(self, actions: list[int]) -> TimeStep:
        return self.to_the_learner(super().step(actions))

    def to_the_learner(self, now: TimeStep) -> TimeStep:
        while not now.last() and now.current_player() != LEARNER:
            legal = now.observations["legal_actions"][now.current_player()]
            now = super().step([np.random.choice(legal)])
        return now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000, help="decisions to learn from")
    steps = parser.parse_args().steps
    seen = ObservationType.OBSERVATION
    games = SyncVectorEnv([OneSeat(GAME, observation_type=seen) for _ in range(GAMES)])
    ppo = PPO(
        (GAME.variant.observation.size,), GAME.num_distinct_actions(), 2, LEARNER, GAMES,
        steps_per_batch=ROLLOUT, learning_rate=1e-3, gamma=1.0, agent_fn=PPOAgent,
    )  # fmt: skip
    now = games.reset()
    for step in range(1, -(-steps // GAMES) + 1):
        now, rewards, over, _ = games.step(ppo.step(now), reset_if_done=True)
        ppo.post_step([each[LEARNER] for each in rewards], over)
        if step % ROLLOUT == 0:
            ppo.learn(now)

    def learned(observations, masks):
        legal = torch.from_numpy(masks)
        return ppo.get_action_and_value(torch.from_numpy(observations), legal)[-1].argmax(1).numpy()

    judged = evaluate([BatchPolicy(learned, GAME.variant)], "hanamikoji", 2_000, opponents=["random"])
    print(f"with_openspiel: {judged.results[0]}")


if __name__ == "__main__":
    main()
