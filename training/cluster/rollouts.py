"""Rollouts by Ray's actors: each plays a share of the games with the learner's policy.

A rollout begins when all actors have the policy, and ends when all have answered, so it is
on-policy. An answer holds the rollout and everything that the actor's next games depend on. If an
actor is lost, a new one continues from its last answer: the rollout is played again, and the result
is the same.

Notation: T decisions per game and rollout, B games, W workers.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch

from hanamachi.errors import UserError
from hanamachi.policies.networks.network import NetworkPolicy
from hanamachi.training.build import make_games, new_learner
from hanamachi.training.cluster import connect
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayBuffer, SelfPlayPolicy
from hanamachi.training.learner.state import Weights
from hanamachi.training.learner.vecenv import Games

State = Mapping[str, Any]  # everything that the next games of a worker depend on

APART = 1 << 16  # difference of two workers' seeds, larger than the seeds that users try


class Worker:
    """Plays its share of the games, on one processor."""

    def __init__(self, config: Config, state: State | None) -> None:
        torch.set_num_threads(1)
        self.games = make_games(config)
        self.learner = new_learner(config, games=self.games)  # it plays, and is never trained
        if state:
            self.games.set_state(state["games"])
            self.learner.generator.set_state(state["generator"])

    def rollout(
        self, weights: Weights, fixed_opponents: Sequence[Weights]
    ) -> tuple[dict[str, Any], State]:
        """A rollout of T decisions of every game, and what the next one depends on."""
        self.learner.policy.load_state_dict(weights)
        for opponent, its in zip(network_opponents(self.games), fixed_opponents, strict=True):
            opponent.network.load_state_dict(its)
        self.learner.play()
        generator = self.learner.generator.get_state()
        state = {"games": self.games.get_state(), "generator": generator}
        return self.learner.rollout_buffer.played(), state


class Actors:
    """W workers in a Ray cluster; with `states`, they continue where earlier ones stopped."""

    def __init__(self, config: Config, workers: int, states: Sequence[State] = ()) -> None:
        """Raises UserError if there are fewer games than workers."""
        self.shares = shares(config.num_games, workers)
        self.configs = [config_of(config, n, share) for n, share in enumerate(self.shares)]
        self.states: list[Any] = list(states) or [None] * workers
        self.ray = connect()
        # spread, because a lost machine may have been the only one with free processors
        self.kind = self.ray.remote(Worker).options(scheduling_strategy="SPREAD")
        self.actors = [self.begun(n) for n in range(workers)]

    def begun(self, number: int) -> Any:
        """A worker that continues from the last answer of worker `number`."""
        return self.kind.remote(self.configs[number], self.states[number])

    def play(self, policy: SelfPlayPolicy, games: Games, buffer: SelfPlayBuffer) -> None:
        """Let all workers play T decisions, and store them in the buffer."""
        sent = self.ray.put(on_cpu(policy))
        fixed_opponents = self.ray.put(
            [on_cpu(policy.network) for policy in network_opponents(games)]
        )
        asked = [actor.rollout.remote(sent, fixed_opponents) for actor in self.actors]
        buffer.reset()
        for number, (share, answer) in enumerate(zip(self.shares, asked, strict=True)):
            played, self.states[number] = self.answered(number, answer, sent, fixed_opponents)
            buffer.put(share, played)

    def answered(self, number: int, answer: Any, sent: Any, fixed_opponents: Any) -> Any:
        """A worker's answer; if the worker is lost, a new one is asked."""
        while True:
            try:
                return self.ray.get(answer)
            except self.ray.exceptions.RayTaskError as error:
                raise error.cause from None  # an error that a new worker would repeat
            except self.ray.exceptions.RayError as error:
                if getattr(error, "actor_init_failed", False):
                    raise
                self.actors[number] = self.begun(number)
                answer = self.actors[number].rollout.remote(sent, fixed_opponents)


def shares(games: int, workers: int) -> list[slice]:
    """Which games each worker plays, divided as evenly as possible."""
    if not 0 < workers <= games:
        raise UserError(f"{games} games can be played by 1 to {games} workers, not by {workers}")
    edges = [games * n // workers for n in range(workers + 1)]
    return [slice(begin, end) for begin, end in pairwise(edges)]


def config_of(config: Config, number: int, share: slice) -> Config:
    """The config of a worker's games."""
    own = {"num_games": share.stop - share.start, "seed": config.seed ^ (number + 1) * APART}
    return config.model_copy(update={**own, "device": "cpu"})


def network_opponents(games: Games) -> list[NetworkPolicy]:
    """The fixed opponents with weights, which the learner's process may have changed."""
    policies = [opponent.policy for opponent in games.fixed_opponents]
    return [policy for policy in policies if isinstance(policy, NetworkPolicy)]


def on_cpu(module: torch.nn.Module) -> Weights:
    return {name: tensor.cpu() for name, tensor in module.state_dict().items()}
