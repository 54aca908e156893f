"""Ray's cost: rollouts and training with two workers, and moving weights and rollouts."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.training.benchmark.measure import (
    Case,
    Comparison,
    Figure,
    Omission,
    Side,
    Work,
    compare,
)
from hanamachi.training.benchmark.training import SETTINGS, learning, quiet_learner
from hanamachi.training.cluster import connect
from hanamachi.training.cluster.rollouts import Workers, on_cpu
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayPPO

SECONDS = 3.0  # of each side in a round, at least
WORKERS = 2
LIGHT: dict[str, Any] = {}  # the network's own work for a decision
HEAVY: dict[str, Any] = {"network": {"features": ["advice"]}, "critic": "all"}  # as agents train


def figures(variants: Sequence[Variant], rounds: int) -> Iterator[Comparison | Omission | Figure]:
    try:
        ray = connect()
    except UserError as error:
        yield Omission(f"cluster: not measured, {error}")
        return
    for variant in variants:
        for work in (LIGHT, HEAVY):
            config = Config.from_dict({"game": variant.id, "device": "cpu", **SETTINGS, **work})
            for case in cases(config):
                yield from compare(case, rounds, SECONDS)
            yield from moving(ray, config, rounds)


def cases(config: Config) -> list[Case]:
    two, one = (partial(rollouts, config, workers) for workers in (WORKERS, 1))
    name = described(config)
    together = Side(f"{name}, rollouts by {WORKERS} workers", two)
    with_ray = Side(f"{name}, training by {WORKERS} workers", partial(training, config, WORKERS))
    return [
        Case(together, [Side("rollouts by 1 worker", one)]),
        Case(with_ray, [Side("training without Ray", partial(training, config, 0))]),
    ]


def described(config: Config) -> str:
    return " with ".join([config.game, *config.network.features])


def rollouts(config: Config, workers: int) -> Work:
    """Each call sends the weights to the workers and fills the buffer with their rollouts."""
    learner, shared = quiet_learner(config), Workers(config, workers)
    decisions = config.num_games * config.ppo.n_steps

    def play() -> int:
        shared.play(learner.policy, learner.env, learner.rollout_buffer)  # type: ignore[arg-type]
        return decisions

    return Work(play, f"{config.num_games:,} games, {workers} processes of one thread")


def training(config: Config, workers: int) -> Work:
    learner: SelfPlayPPO = quiet_learner(config)
    learner.workers = Workers(config, workers) if workers else None
    return learning(learner, config)


def moving(ray: Any, config: Config, rounds: int) -> Iterator[Figure]:
    """The size of weights and rollouts, and the time to move them through Ray's object store."""
    learner = quiet_learner(config)
    decisions = config.num_games * config.ppo.n_steps
    moved: Mapping[str, Mapping[str, Any]] = {
        "the weights": on_cpu(learner.policy),
        f"{decisions:,} decisions": learner.rollout_buffer.played(),
    }
    for what, arrays in moved.items():
        name, size = f"{described(config)}, {what}", sum(array.nbytes for array in arrays.values())
        yield Figure(name, "size", "MiB", [size / 2**20])
        yield Figure(
            name, "time to move", "ms", [1000 * seconds(ray, arrays) for _ in range(rounds)]
        )


def seconds(ray: Any, arrays: Mapping[str, Any]) -> float:
    begun = time.perf_counter()
    ray.get(ray.put(arrays))
    return time.perf_counter() - begun
