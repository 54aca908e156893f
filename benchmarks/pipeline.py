"""PettingZoo's tutorial with MaskablePPO, as a baseline for our training."""

from typing import Any

import gymnasium
from stable_baselines3.common.logger import Logger

from hanamachi.training.benchmark.measure import Work
from hanamachi.training.benchmark.training import UNLOGGED

SETTINGS: dict[str, Any] = {}  # of MaskablePPO; all others have their defaults


class MoverEnv(gymnasium.Env[Any, Any]):
    """An AEC environment as a Gymnasium environment in which the agent to move acts."""

    def __init__(self, aec: Any) -> None:
        self.aec = aec
        agent = aec.possible_agents[0]
        self.observation_space = aec.observation_space(agent)["observation"]
        self.action_space = aec.action_space(agent)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.aec.reset(seed=seed, options=options)
        return self.aec.observe(self.aec.agent_selection)["observation"], {}

    def step(self, action: Any) -> Any:
        self.aec.step(int(action))
        view, reward, terminated, truncated, info = self.aec.last()
        return view["observation"], reward, terminated, truncated, info

    def action_masks(self) -> Any:
        return self.aec.observe(self.aec.agent_selection)["action_mask"]


def pipeline() -> Work:
    """MaskablePPO with its default settings, on one environment."""
    from pettingzoo.classic.connect_four import connect_four
    from sb3_contrib import MaskablePPO

    games = MoverEnv(connect_four.env())
    learner = MaskablePPO("MlpPolicy", games, seed=0, device="cpu", **SETTINGS)
    learner.set_logger(Logger(None, []))

    def play() -> int:
        learner.learn(learner.n_steps, log_interval=UNLOGGED, reset_num_timesteps=False)
        return learner.n_steps

    shape = f"{learner.n_epochs} epochs in batches of {learner.batch_size}, layers of 64 and 64"
    return Work(play, f"1 environment, {shape}")
