"""Cloning: train a network to copy a policy or the games of a dataset, before self-play begins.

The policy learns labels by cross-entropy; the value head learns the returns. A student that only
copies a good player's games (`BehaviourCloning`) never sees the positions after its own errors. So
where the teacher itself can be asked (`Cloning`), the student plays, and the teacher labels every
decision with what it would do there (DAgger, Ross et al. 2011).

Notation: T decisions per game and rollout, B games, S seats, A actions, N entries of an observation
with its features, M rows of a minibatch, n decisions of a dataset.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import sample
from hanamachi.sessions.players import SeatedPlayer
from hanamachi.training.learner.rollout_buffer import SelfPlayBuffer
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.vecenv import HanamachiVecEnv

GUIDED = 0.5  # share of the phase in which the teacher plays some games, all of them at first


class Teacher:
    """A policy that watches every seat and says how it would play there."""

    def __init__(self, policy: Policy, games: HanamachiVecEnv) -> None:
        self.player = SeatedPlayer(policy, games.variant, games.num_envs)

    def forget(self, games: HanamachiVecEnv) -> None:
        """Forget the games that ended with the last decision."""
        self.player.forget(np.flatnonzero(games.terminated))

    def memory(self, games: HanamachiVecEnv) -> NDArray[Any]:
        """A copy of what it remembers of the games in progress, (B, S, M)."""
        self.forget(games)
        return self.player.memory.copy()

    def labels(self, games: HanamachiVecEnv) -> NDArray[np.float32]:
        """Its distribution for the seats to move, (B, A); call it once for each decision."""
        self.forget(games)
        distribution, _ = self.player.distribution(games.turns)
        return distribution


# --- The rollout buffer


class LabelledMinibatch(NamedTuple):
    """A minibatch of decisions with their labels."""

    observations: Tensor  # (M, N)
    masks: Tensor  # (M, A) bool
    labels: Tensor  # (M, A)
    returns: Tensor  # (M,)


class LabelledBuffer(SelfPlayBuffer):
    """T decisions in each of B games, with the teacher's labels."""

    minibatch = LabelledMinibatch

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.labels = self.room(int(self.action_space.n))  # type: ignore[attr-defined]

    def fill(self, name: str, rows: NDArray[Any]) -> None:
        """Store a field of all decisions at once, (T * B, ...)."""
        packed = self.packings[name].pack(rows) if name in self.packings else torch.from_numpy(rows)
        setattr(self, name, packed.unflatten(0, (self.buffer_size, self.n_envs)).to(self.device))


# --- The learners


class Imitation(SelfPlayPPO):
    """Learns to act as the labels say, and the returns of the games."""

    rollout_buffer: LabelledBuffer

    def __init__(self, policy: type[SelfPlayPolicy], env: HanamachiVecEnv, **kwargs: Any) -> None:
        super().__init__(policy, env, buffer=LabelledBuffer, **kwargs)

    def loss(self, batch: Any, scheduled: Mapping[str, float]) -> tuple[Tensor, dict[str, Tensor]]:
        chances, values = self.policy.network(batch.observations, batch.masks)
        labels = batch.labels[chances.rows, chances.actions]
        cross_entropy = -(labels * chances.log_probabilities).sum() / len(values)
        value_loss = self.rollout_buffer.value_error(values, batch.returns)
        most_likely = chances.table(batch.masks).argmax(-1, keepdim=True)
        agrees = batch.labels.gather(-1, most_likely) == batch.labels.amax(-1, keepdim=True)
        parts = {
            "cross_entropy": cross_entropy.detach(),
            "value_loss": value_loss.detach(),
            "agreement": agrees.float().mean(),
        }
        return cross_entropy + self.vf_coef * value_loss, parts


class Cloning(Imitation):
    """Learns to act as the teacher does, in games that the teacher and then the student play.

    The teacher plays all games at first, so that the student also sees long games, which it would
    lose early.
    """

    def __init__(
        self, policy: type[SelfPlayPolicy], env: HanamachiVecEnv, *, teacher: Policy, **kwargs: Any
    ) -> None:
        super().__init__(policy, env, **kwargs)
        self.teacher = Teacher(teacher, env)
        self.rng = np.random.default_rng(self.seed)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "teacher"]

    def choose(self, env: Any, buffer: Any) -> NDArray[np.int64]:
        labels = self.teacher.labels(env)
        buffer.labels[buffer.pos] = torch.from_numpy(labels)
        actions = super().choose(env, buffer)
        taught = round(len(actions) * guided(self.share_left))  # games
        # the buffer keeps the student's own choice where the teacher moves: imitation reads neither
        # actions nor their log-probabilities
        actions[:taught] = sample(labels[:taught], self.rng.random(taught))
        return actions

    def scheduled(self, left: float) -> dict[str, float]:
        return {"guided": guided(left)}


def guided(left: float) -> float:
    """The share of the games that the teacher plays, where this share of the phase is left."""
    return max(0.0, 1 - (1 - left) / GUIDED)


# --- From a dataset


class Lessons(NamedTuple):
    """The decisions of a dataset, as a network learns from them."""

    observation: NDArray[np.int8]  # (n, N less the features) in units
    units: NDArray[np.float32]  # (N less the features,)
    features: NDArray[np.float32]  # (n, features)
    masks: NDArray[np.int8]  # (n, A)
    labels: NDArray[np.float32]  # (n, A)
    returns: NDArray[np.float32]  # (n,)


class BehaviourCloning(Imitation):
    """Learns from the decisions of a dataset; no game is played.

    Each pass over the dataset has an order of its own. A rollout is the next T * B decisions.
    """

    def __init__(
        self, policy: type[SelfPlayPolicy], env: HanamachiVecEnv, *, lessons: Lessons, **kwargs: Any
    ) -> None:
        super().__init__(policy, env, **kwargs)
        self.lessons = lessons
        self.rng = np.random.default_rng(self.seed)
        self.to_come = np.zeros(0, np.int64)  # the rest of this pass
        variance = float(lessons.returns.var(dtype=np.float64))
        self.rollout_buffer.value_scale = max(1.0, variance)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "lessons"]

    def collect(self, on_step: Callable[[], bool] = lambda: True) -> bool:
        """Fill the buffer with the next decisions of the dataset; False if `on_step` stops it."""
        buffer, lessons = self.rollout_buffer, self.lessons
        rows = self.next_rows(buffer.buffer_size * buffer.n_envs)
        seen = lessons.observation[rows] / lessons.units
        seen = np.hstack([seen, lessons.features[rows]])
        buffer.fill("observations", seen)
        buffer.fill("masks", lessons.masks[rows] != 0)
        buffer.fill("labels", lessons.labels[rows])
        buffer.fill("returns", lessons.returns[rows])
        self.num_timesteps += len(rows)
        return on_step()

    def next_rows(self, count: int) -> NDArray[np.int64]:
        """The places of the next decisions, (count,)."""
        decisions = len(self.lessons.returns)
        passes = -(-(count - len(self.to_come)) // decisions)
        orders = [self.rng.permutation(decisions) for _ in range(passes)]
        rows, self.to_come = np.split(np.concatenate([self.to_come, *orders]), [count])
        return rows

    def scheduled(self, left: float) -> dict[str, float]:
        return {}
