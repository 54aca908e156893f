"""Training: our learner beside its bare network, and beside a pipeline that others know."""

from functools import cache, partial
from typing import Any

import gymnasium
import torch

from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.measure import Contest, Side, Work
from hanamachi.training.build import new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayPPO

SETTINGS: dict[str, Any] = {"device": "cpu"}  # of our learner, apart from the game
UNLOGGED = 2  # rollouts from log to log, when one is made at a time
PIPELINE: dict[str, Any] = {}  # of the other's, apart from its defaults


def contests(variant: Variant, peers: bool) -> list[Contest]:
    config = Config.from_dict({"game": variant.id, **SETTINGS})
    learner = cache(partial(quiet_learner, config))
    ours = Side(f"{variant.id}, training", lambda: learning(learner(), config))
    others = [Side("its bare network", lambda: bare_network(learner(), config))]
    if peers:
        zoo = "PettingZoo's classic games"
        others.append(Side("PettingZoo connect_four with MaskablePPO", pipeline, zoo))
    return [Contest(ours, others)]


def quiet_learner(config: Config) -> SelfPlayPPO:
    learner = new_learner(config)
    learner.set_logger(quiet())
    return learner


def learning(learner: SelfPlayPPO, config: Config) -> Work:
    """One rollout and its update."""
    rollout = config.num_games * config.ppo.n_steps

    def play() -> int:
        learner.learn(rollout, log_interval=UNLOGGED, reset_num_timesteps=False)
        return rollout

    shape = " and ".join(map(str, config.network.hidden))
    gives = f"{config.num_games:,} games, {config.ppo.n_epochs} epochs in batches of"
    return Work(play, f"{gives} {config.ppo.batch_size:,}, layers of {shape}")


def bare_network(learner: Any, config: Config) -> Work:
    """One forward pass for each decision, and a forward and a backward pass in each epoch.

    Over the decisions of the learner's last rollout.
    """
    network, optimizer = learner.policy.network, learner.policy.optimizer
    buffer = learner.rollout_buffer
    rows, masks = (torch.from_numpy(x).flatten(0, 1) for x in (buffer.observations, buffer.masks))

    def in_batches(size: int) -> Any:
        return zip(rows.split(size), masks.split(size), strict=True)

    def play() -> int:
        with torch.no_grad():
            for few in in_batches(config.num_games):
                network(*few)
        for _ in range(config.ppo.n_epochs):
            for batch in in_batches(config.ppo.batch_size):
                chances, values = network(*batch)
                optimizer.zero_grad()
                ((chances.log_probabilities.sum() + values.sum()) * 0).backward()
        return len(rows)

    return Work(play, f"1 forward, {config.ppo.n_epochs} forward and backward passes")


# --- PettingZoo's tutorial with stable-baselines3, in its shape


class WhoeverMoves(gymnasium.Env[Any, Any]):
    """An AEC environment as one of Gymnasium's, in which the agent to move always acts."""

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
        view, reward, terminated, cut, info = self.aec.last()
        return view["observation"], reward, terminated, cut, info

    def action_masks(self) -> Any:
        return self.aec.observe(self.aec.agent_selection)["action_mask"]


def pipeline() -> Work:
    """MaskablePPO as it comes, on one environment."""
    from pettingzoo.classic.connect_four import connect_four
    from sb3_contrib import MaskablePPO

    games = WhoeverMoves(connect_four.env())
    learner = MaskablePPO("MlpPolicy", games, seed=0, device="cpu", **PIPELINE)
    learner.set_logger(quiet())

    def play() -> int:
        learner.learn(learner.n_steps, log_interval=UNLOGGED, reset_num_timesteps=False)
        return learner.n_steps

    shape = f"{learner.n_epochs} epochs in batches of {learner.batch_size}, layers of 64 and 64"
    return Work(play, f"1 environment, {shape}")
