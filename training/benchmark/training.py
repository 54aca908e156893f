"""Training speed: our learner against the forward and backward passes of its network alone."""

from functools import cache, partial
from typing import Any

import torch

from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.measure import Case, Side, Work
from hanamachi.training.build import new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayPPO

SETTINGS: dict[str, Any] = {"device": "cpu"}  # all others have their defaults
UNLOGGED = 2  # rollouts between two logs; each call makes one, so nothing is logged


def cases(variant: Variant) -> list[Case]:
    config = Config.from_dict({"game": variant.id, **SETTINGS})
    learner = cache(partial(quiet_learner, config))
    passes = Side("forward-backward", lambda: forward_backward(learner(), config))
    return [Case(Side(f"{variant.id}, training", lambda: learning(learner(), config)), [passes])]


def quiet_learner(config: Config) -> SelfPlayPPO:
    learner = new_learner(config)
    learner.set_logger(quiet())
    return learner


def learning(learner: SelfPlayPPO, config: Config) -> Work:
    """Each call makes one rollout and its update."""
    rollout = config.num_games * config.ppo.n_steps

    def play() -> int:
        learner.learn(rollout, log_interval=UNLOGGED, reset_num_timesteps=False)
        return rollout

    shape = " and ".join(map(str, config.network.hidden))
    gives = f"{config.num_games:,} games, {config.ppo.n_epochs} epochs in batches of"
    return Work(play, f"{gives} {config.ppo.batch_size:,}, layers of {shape}")


def forward_backward(learner: Any, config: Config) -> Work:
    """The learner's passes over its last rollout, without games and without optimizer steps.

    One forward pass for each decision, then a forward and a backward pass in each epoch.
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
