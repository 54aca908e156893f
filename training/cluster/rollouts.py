"""Rollouts by Ray's actors: each plays some of the games with the policy that it is sent.

A rollout begins when all have the policy, and ends when all have answered, so it is on-policy. An
answer holds what the games brought and all that their future depends on. Where an actor is lost,
another goes on from there: it costs that actor's rollout, and changes nothing in what comes out.

Notation: T decisions a game and rollout, B games, W workers.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch

from hanamachi.errors import UserError
from hanamachi.policies.networks.network import NetworkPolicy
from hanamachi.training.cluster import connect
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayBuffer, SelfPlayPolicy
from hanamachi.training.learner.vecenv import Games
from hanamachi.training.run import make_games, new_learner

Weights = Mapping[str, torch.Tensor]
State = Mapping[str, Any]  # all that the coming games of a worker depend on

APART = 1 << 16  # seeds between those of two workers: more than a user tries


class Worker:
    """Plays its share of the games, on one processor."""

    def __init__(self, settings: Config, state: State | None) -> None:
        torch.set_num_threads(1)
        self.games = make_games(settings)
        self.learner = new_learner(settings, games=self.games)  # which never learns
        if state:
            self.games.set_state(state["games"])
            self.learner.generator.set_state(state["generator"])

    def rollout(
        self, weights: Weights, fixed_opponents: Sequence[Weights]
    ) -> tuple[dict[str, Any], State]:
        """What T decisions of every game brought, and what the next depend on."""
        self.learner.policy.load_state_dict(weights)
        for opponent, its in zip(learned(self.games), fixed_opponents, strict=True):
            opponent.network.load_state_dict(its)
        self.learner.play()
        generator = self.learner.generator.get_state()
        state = {"games": self.games.get_state(), "generator": generator}
        return self.learner.rollout_buffer.played(), state


class Actors:
    """W workers in a Ray cluster; with `states`, they go on where others were."""

    def __init__(self, config: Config, workers: int, states: Sequence[State] = ()) -> None:
        """Raises UserError if there are fewer games than workers."""
        self.shares = shares(config.num_games, workers)
        self.settings = [settings(config, n, share) for n, share in enumerate(self.shares)]
        self.states: list[Any] = list(states) or [None] * workers
        self.ray = connect()
        # wherever there is room: a machine that is lost may have been the only one with some left
        self.kind = self.ray.remote(Worker).options(scheduling_strategy="SPREAD")
        self.actors = [self.begun(n) for n in range(workers)]

    def begun(self, number: int) -> Any:
        """A worker that goes on from the last answer of its number."""
        return self.kind.remote(self.settings[number], self.states[number])

    def play(self, policy: SelfPlayPolicy, games: Games, buffer: SelfPlayBuffer) -> None:
        """Let all play T decisions, and put what came of it into the buffer."""
        sent = self.ray.put(on_cpu(policy))
        fixed_opponents = self.ray.put([on_cpu(opponent.network) for opponent in learned(games)])
        asked = [actor.rollout.remote(sent, fixed_opponents) for actor in self.actors]
        buffer.reset()
        for number, (share, answer) in enumerate(zip(self.shares, asked, strict=True)):
            played, self.states[number] = self.answered(number, answer, sent, fixed_opponents)
            buffer.put(share, played)

    def answered(self, number: int, answer: Any, sent: Any, fixed_opponents: Any) -> Any:
        """A worker's answer; it is asked of another if the first was lost with it."""
        while True:
            try:
                return self.ray.get(answer)
            except self.ray.exceptions.RayTaskError as error:
                raise error.cause from None  # a mistake, which another would make as well
            except self.ray.exceptions.RayError as error:
                if getattr(error, "actor_init_failed", False):
                    raise
                self.actors[number] = self.begun(number)
                answer = self.actors[number].rollout.remote(sent, fixed_opponents)


def shares(games: int, workers: int) -> list[slice]:
    """Which of the games each worker plays, as evenly as they can be divided."""
    if not 0 < workers <= games:
        raise UserError(f"{games} games can be played by 1 to {games} workers, not by {workers}")
    edges = [games * n // workers for n in range(workers + 1)]
    return [slice(begin, end) for begin, end in pairwise(edges)]


def settings(config: Config, number: int, share: slice) -> Config:
    """Of the learner that a worker plays for."""
    own = {"num_games": share.stop - share.start, "seed": config.seed ^ (number + 1) * APART}
    return config.model_copy(update={**own, "device": "cpu"})


def learned(games: Games) -> list[NetworkPolicy]:
    """The guests whose weights may change during a run."""
    policies = [opponent.policy for opponent in games.fixed_opponents]
    return [policy for policy in policies if isinstance(policy, NetworkPolicy)]


def on_cpu(module: torch.nn.Module) -> Weights:
    return {name: tensor.cpu() for name, tensor in module.state_dict().items()}
