"""Cloning: train a network to copy a given policy, the teacher, before self-play begins.

A student that only copies a good player's games never sees the positions after its own errors. So
the student plays, and the teacher labels every decision with what it would do there (DAgger, Ross
et al. 2011). The policy learns the labels by cross-entropy; the value head learns the returns.

Notation: T decisions per game and rollout, B games, S seats, A actions, M rows of a minibatch.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.policies.policy import Policy, sample
from hanamachi.sessions.players import SeatedPlayer
from hanamachi.training.learner.rollout_buffer import SelfPlayBuffer
from hanamachi.training.learner.selfplay import SelfPlayPolicy, SelfPlayPPO
from hanamachi.training.learner.vecenv import Games

GUIDED = 0.5  # share of the phase in which the teacher plays some games, all of them at first


class Teacher:
    """A policy that watches every seat and says how it would play there."""

    def __init__(self, policy: Policy, games: Games) -> None:
        self.policy = policy
        self.player = SeatedPlayer(policy, games.variant, games.num_envs)

    def labels(self, games: Games) -> NDArray[np.float32]:
        """Its distribution for the seats to move, (B, A); call it once for each decision."""
        self.player.forget(np.flatnonzero(games.terminated))
        distribution, _ = self.player.distribution(games.turns)
        return distribution


# --- The rollout buffer


class Labelled(NamedTuple):
    """A minibatch of decisions with their labels."""

    observations: Tensor  # (M, N)
    masks: Tensor  # (M, A) bool
    labels: Tensor  # (M, A)
    returns: Tensor  # (M,)


class LabelledBuffer(SelfPlayBuffer):
    """T decisions in each of B games, with the teacher's labels."""

    minibatch = Labelled

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.labels = self.room(int(self.action_space.n))  # type: ignore[attr-defined]


# --- The learner


class Cloning(SelfPlayPPO):
    """Learns to act as the teacher does, in games that the teacher and then the student play.

    The teacher plays all games at first, so that the student also sees long games, which it would
    lose early.
    """

    rollout_buffer: LabelledBuffer

    def __init__(
        self, policy: type[SelfPlayPolicy], env: Games, *, teacher: Policy, **kwargs: Any
    ) -> None:
        super().__init__(policy, env, buffer=LabelledBuffer, **kwargs)
        self.teacher = Teacher(teacher, env)
        self.rng = np.random.default_rng(self.seed)

    def choose(self, env: Any, buffer: Any) -> NDArray[np.int64]:
        labels = self.teacher.labels(env)
        buffer.labels[buffer.pos] = torch.from_numpy(labels)
        actions = super().choose(env, buffer)
        taught = round(len(actions) * guided(self.share_left))  # games
        actions[:taught] = sample(labels[:taught], self.rng.random(taught))
        return actions

    def scheduled(self, left: float) -> dict[str, float]:
        return {"guided": guided(left)}

    def loss(self, batch: Any, scheduled: Mapping[str, float]) -> tuple[Tensor, dict[str, Tensor]]:
        chances, values = self.policy.network(batch.observations, batch.masks)
        labels = batch.labels[chances.rows, chances.actions]
        cross_entropy = -(labels * chances.log_probabilities).sum() / len(values)
        value_loss = self.value_error(values, batch.returns)
        most_likely = chances.table(batch.masks).argmax(-1, keepdim=True)
        agrees = batch.labels.gather(-1, most_likely) == batch.labels.amax(-1, keepdim=True)
        parts = {
            "cross_entropy": cross_entropy.detach(),
            "value_loss": value_loss.detach(),
            "agreement": agrees.float().mean(),
        }
        return cross_entropy + self.vf_coef * value_loss, parts


def guided(left: float) -> float:
    """The share of the games that the teacher plays, where this share of the phase is left."""
    return max(0.0, 1 - (1 - left) / GUIDED)
