"""Ray: rollouts by two workers beside one, training beside the plain trainer, and what is moved."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.training.benchmark.measure import (
    Comparison,
    Contest,
    Figure,
    LeftOut,
    Side,
    Work,
    compare,
)
from hanamachi.training.benchmark.training import SETTINGS, learning, quiet_learner
from hanamachi.training.cluster import connect
from hanamachi.training.cluster.rollouts import Actors, on_cpu
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayPPO

SECONDS = 3.0  # of each side in a round, at least
WORKERS = 2
# what there is to do at each decision, beside the game: nothing but the network, or as much as for
# the agents that ship
LIGHT: dict[str, Any] = {}
HEAVY: dict[str, Any] = {"network": {"features": ["advice"]}, "critic": "all"}


def figures(games: Sequence[Variant], rounds: int) -> Iterator[Comparison | LeftOut | Figure]:
    try:
        ray = connect()
    except UserError as error:
        yield LeftOut(f"the cluster is left out: {error}")
        return
    for variant in games:
        for work in (LIGHT, HEAVY):
            config = Config.from_dict({"game": variant.id, **SETTINGS, **work})
            for contest in contests(config):
                yield from compare(contest, rounds, SECONDS)
            yield from moving(ray, config, rounds)


def contests(config: Config) -> list[Contest]:
    two, one = (partial(rollouts, config, workers) for workers in (WORKERS, 1))
    name = described(config)
    together = Side(f"{name}, rollouts by {WORKERS} workers", two)
    with_ray = Side(f"{name}, training by {WORKERS} workers", partial(training, config, WORKERS))
    return [
        Contest(together, [Side("rollouts by 1 worker", one)]),
        Contest(with_ray, [Side("training without Ray", partial(training, config, 0))]),
    ]


def described(config: Config) -> str:
    return " with ".join([config.game, *config.network.features])


def rollouts(config: Config, workers: int) -> Work:
    """From weights to a full buffer."""
    learner, actors = quiet_learner(config), Actors(config, workers)
    decisions = config.num_games * config.ppo.n_steps

    def play() -> int:
        actors.play(learner.policy, learner.env, learner.rollout_buffer)  # type: ignore[arg-type]
        return decisions

    return Work(play, f"{config.num_games:,} games, {workers} processes of one thread")


def training(config: Config, workers: int) -> Work:
    learner: SelfPlayPPO = quiet_learner(config)
    learner.workers = Actors(config, workers) if workers else None
    return learning(learner, config)


def moving(ray: Any, config: Config, rounds: int) -> Iterator[Figure]:
    """How large weights and rollouts are, and how long they take through Ray's store."""
    learner = quiet_learner(config)
    decisions = config.num_games * config.ppo.n_steps
    there: Mapping[str, Mapping[str, Any]] = {
        "the weights": on_cpu(learner.policy),
        f"{decisions:,} decisions": learner.rollout_buffer.played(),
    }
    for what, things in there.items():
        name, size = f"{described(config)}, {what}", sum(thing.nbytes for thing in things.values())
        yield Figure(name, "size", "MiB", [size / 2**20])
        yield Figure(name, "moved", "ms", [1000 * seconds(ray, things) for _ in range(rounds)])


def seconds(ray: Any, things: Mapping[str, Any]) -> float:
    begun = time.perf_counter()
    ray.get(ray.put(things))
    return time.perf_counter() - begun
