"""Training speed: our learner against the forward and backward passes of its network alone."""

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.measure import Case, Side, Work
from hanamachi.training.build import check_device, new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.learner.rollout_buffer import NetworkInputs
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.shards import halves, map_on_threads

SETTINGS: dict[str, Any] = {}  # all settings have their defaults
ON_A_GPU: dict[str, Any] = {"num_games": 8192, "ppo": {"batch_size": 8192}}  # except there
UNLOGGED = 2  # rollouts between two logs; each call makes one, so nothing is logged


def cases(variant: Variant, device: str) -> list[Case]:
    check_device(device)
    settings = SETTINGS if device == "cpu" else ON_A_GPU
    config = Config.from_dict({"game": variant.id, "device": device, **settings})
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
    where = f"on {learner.device.type}"
    return Work(play, f"{gives} {config.ppo.batch_size:,}, layers of {shape}, {where}")


def forward_backward(learner: SelfPlayPPO, config: Config) -> Work:
    """The learner's passes over its last rollout, without games and without optimizer steps.

    One forward pass for each decision, then a forward and a backward pass in each epoch.
    """
    network, buffer = learner.policy.network, learner.rollout_buffer
    weights = list(network.parameters())
    kept = NetworkInputs(*(getattr(buffer, name).flatten(0, 1) for name in NetworkInputs._fields))
    count = len(kept.masks)

    def asked(places: Tensor) -> Any:
        rows, masks, _ = buffer.unpacked(NetworkInputs(*(each[places] for each in kept)))
        return network(rows, masks)

    @torch.no_grad()
    def forward(places: Tensor) -> Any:
        return asked(places)

    def backward(places: Tensor) -> Any:
        chances, values = asked(places)
        return torch.autograd.grad(chances.log_probabilities.sum() + values.sum(), weights)

    def play() -> int:
        decisions = torch.arange(count, device=learner.device)
        with learner.computing():
            for batch in decisions.split(config.num_games):
                map_on_threads(forward, halves(batch, learner.device))
            for _ in range(config.ppo.n_epochs):
                for batch in decisions.split(config.ppo.batch_size):
                    map_on_threads(backward, halves(batch, learner.device))
        if learner.device.type == "cuda":
            torch.cuda.synchronize()
        return count

    return Work(play, f"1 forward, {config.ppo.n_epochs} forward and backward passes")
