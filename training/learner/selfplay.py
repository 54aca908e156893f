"""Self-play learning: MaskablePPO with the credit that turn-based games need.

Each game gives one stream of decisions, made by all seats in turn. V is the value for the seat to
move, r is the reward of the seat that moved until the next decision, and sgn is +1 if the next seat
to move is on its side, else -1. Fixed opponents may move in between: e is the number of decisions
until the next one of the learner, and 1 without them:

    delta[t] = r[t] + gamma^e[t] * sgn[t] * V[t+1] * alive[t] - V[t]
    A[t]     = delta[t] + gamma^e[t] * lambda * sgn[t] * alive[t] * A[t+1]

So the loser's last decision gets its -1 through the winner's last decision, and an opponent's high
value counts as a low one. In a cooperative game every sgn is +1 and r is the reward that all share.
The rest is PPO (Schulman et al. 2017) over the legal actions.

On a CPU, minibatches of 512 rows or more are split in two, on two threads if there are two; results
do not depend on the threads. On a GPU they stay whole, and rollouts are kept there.

Notation: T decisions per game and rollout, B games, M rows of a minibatch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from torch import Tensor

from hanamachi.errors import UserError, shown
from hanamachi.policies.networks.legal_softmax import LegalDistribution
from hanamachi.training.learner.critic import values_of
from hanamachi.training.learner.magnet import MovingAverage, SlowCopy
from hanamachi.training.learner.precision import HIGHEST, matmul_precision
from hanamachi.training.learner.rollout_buffer import Minibatch, NetworkInputs, SelfPlayBuffer
from hanamachi.training.learner.selfplay_policy import Draw, SelfPlayPolicy
from hanamachi.training.learner.shards import halves, map_on_threads, one_thread_each
from hanamachi.training.learner.state import RunState
from hanamachi.training.learner.turn_based import TurnBasedVecEnv


class RolloutWorkers(Protocol):
    """Play a learner's games in other processes."""

    states: list[Any]  # of each worker, everything that its next games depend on

    def play(self, policy: SelfPlayPolicy, games: Any, buffer: SelfPlayBuffer) -> None:
        """Fill the buffer with T decisions of every game, with the fixed opponents of `games`."""


# Settings of MaskablePPO that are not read, with their defaults; advantages are normalised always
UNREAD = {"clip_range_vf": None, "normalize_advantage": True, "target_kl": None}


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over the decisions of all seats, with mover-signed advantages.

    `env` is a TurnBasedVecEnv. `entropy_schedule` gives the entropy coefficient from the share of
    the run that is left (1 at the start); `kl_schedule` gives the coefficient of the divergence
    from `magnet`, which must then be set. `average`, if it is set, follows the policy, and may be
    the magnet too. `workers`, if it is set, plays the games. The other settings are MaskablePPO's,
    except `clip_range_vf`, `normalize_advantage` and `target_kl`, which are not read: UserError if
    one of them is given another value than its default. `gamma` is 1 by default.

    Only this class and TurnBasedVecEnv use private attributes of stable-baselines3.
    """

    env: TurnBasedVecEnv
    policy: SelfPlayPolicy
    rollout_buffer: SelfPlayBuffer  # type: ignore[assignment]
    batch_size: int
    clips = True  # the loss of the policy has PPO's clip

    def __init__(
        self,
        policy: type[SelfPlayPolicy],
        env: TurnBasedVecEnv,
        *,
        entropy_schedule: Callable[[float], float] | None = None,
        kl_schedule: Callable[[float], float] | None = None,
        buffer: type[SelfPlayBuffer] = SelfPlayBuffer,
        compact: bool | None = None,
        value_decisions: int = 0,
        precision: str = HIGHEST,
        gamma: float = 1.0,
        **kwargs: Any,
    ) -> None:
        """`compact` says whether the buffer is packed; by default it is, except on a CPU.

        From the first `value_decisions` only values learn: the policy stays as it is. `precision`
        is that of matrix products.
        """
        if not (isinstance(policy, type) and issubclass(policy, SelfPlayPolicy)):
            raise UserError(f"SelfPlayPPO trains a SelfPlayPolicy, not {shown(policy)}")
        for name, default in UNREAD.items():
            if kwargs.get(name, default) != default:
                raise UserError(f"SelfPlayPPO does not read {name}: leave it out")
        self.entropy_schedule, self.kl_schedule = entropy_schedule, kl_schedule
        self.magnet: SlowCopy | None = None
        self.average: MovingAverage | None = None
        self.workers: RolloutWorkers | None = None
        self.run_state = RunState()
        self.compact, self.value_decisions, self.precision = compact, value_decisions, precision
        kind: Any = buffer  # no RolloutBuffer, whose arrays are not needed
        super().__init__(policy, env, rollout_buffer_class=kind, gamma=gamma, **kwargs)

    @staticmethod
    def _wrap_env(env: Any, verbose: int = 0, monitor_wrapper: bool = True) -> Any:
        """The games as they are, as the learner reads their arrays."""
        if not isinstance(env, TurnBasedVecEnv):
            raise UserError(
                "SelfPlayPPO learns from a SelfPlayVecEnv or an AECSelfPlayVecEnv without a "
                f"wrapper, not from a {type(env).__name__}; MaskablePPO learns from any VecEnv"
            )
        return env

    def _setup_model(self) -> None:
        super()._setup_model()
        self.generator = torch.Generator().manual_seed(self.seed or 0)
        if self.env is not None:  # a saved learner needs no games to predict
            self.rollout_buffer.prepare(self.env, bool(self.policy.critic), self.compact)

    def _setup_learn(self, *arguments: Any, **settings: Any) -> Any:
        if self.env is None:
            raise UserError("there are no games to learn from: give some with set_env(games)")
        if self.env.fixed_opponents and self.env.gamma != self.gamma:
            raise UserError(
                f"the learner discounts by gamma {self.gamma:g}, and its games what other policies "
                f"earn it by {self.env.gamma:g}: give both the same gamma"
            )
        if self.kl_schedule and not self.magnet:
            raise UserError("kl_schedule needs a magnet: set it, as it is not part of a save")
        if not self.rollout_buffer.packings:
            self.rollout_buffer.prepare(self.env, bool(self.policy.critic), self.compact)
        return super()._setup_learn(*arguments, **settings)

    def _excluded_save_params(self) -> list[str]:
        others = "generator", "magnet", "average", "workers"
        return [*super()._excluded_save_params(), *others, "_last_obs"]  # which the games have

    @property
    def share_left(self) -> float:
        """The share of the run that is left, 1 at the start."""
        return float(self._current_progress_remaining)

    @property
    def updates(self) -> int:
        """How many rollouts the policy has been trained on."""
        return self._n_updates // self.n_epochs

    # --- The loop: `begin`, then `collect` and `improve` by turns; or `learn`, which does the same

    def begin(self, decisions: int) -> None:
        """Prepare to learn until the policy has learned from this many decisions in all."""
        self._setup_learn(decisions - self.num_timesteps, reset_num_timesteps=False)

    def begin_games(self) -> None:
        """Begin new games in all rows."""
        self.env.reset()
        self._last_obs = self.env.observations

    def collect(self, on_step: Callable[[], bool] = lambda: True) -> bool:
        """Fill the buffer with a rollout of the policy as it is; False if `on_step` stops it."""
        if self.workers:
            self.workers.play(self.policy, self.env, self.rollout_buffer)
            self.num_timesteps += self.n_steps * self.env.num_envs
            complete = on_step()
        else:
            complete = self.play(on_step)
        if complete:
            self.rollout_buffer.finish()
        return complete

    def improve(self) -> None:
        """Train the policy on the rollout; `dump_logs` then writes the log of this update."""
        self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        self.train()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Let PyTorch compute on one thread and with this learner's precision."""
        with one_thread_each(), matmul_precision(self.precision, self.device):
            yield

    def collect_rollouts(  # type: ignore[override]
        self,
        env: TurnBasedVecEnv,
        callback: BaseCallback,
        rollout_buffer: SelfPlayBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """`collect`, as `learn` asks for it."""
        callback.on_rollout_start()
        complete = self.collect(callback.on_step)
        if complete:
            callback.on_rollout_end()
        return complete

    def play(self, on_step: Callable[[], bool] = lambda: True) -> bool:
        """Make T decisions in every game; stop if `on_step`, called after each, returns False."""
        env, buffer = self.env, self.rollout_buffer
        buffer.reset()
        with self.computing():
            for _ in range(buffer.buffer_size):
                env.advance(self.choose(env, buffer))
                buffer.credit(env)
                self.num_timesteps += env.num_envs
                if not on_step():
                    return False
            beyond = self._decide(buffer.unpacked(buffer.packed(env)))
        buffer.values[-1] = beyond.values
        return True

    def choose(self, env: TurnBasedVecEnv, buffer: SelfPlayBuffer) -> NDArray[np.int64]:
        """Choose an action in every game, (B,), and store its log-probability and value."""
        drawn = self._decide(buffer.store(env))
        t = buffer.pos
        buffer.actions[t], buffer.log_probabilities[t] = drawn.actions, drawn.log_probabilities
        buffer.values[t], buffer.expected[t] = drawn.values, drawn.expected
        actions: NDArray[np.int64] = drawn.actions.numpy(force=True)
        return actions

    def _decide(self, seen: NetworkInputs) -> Draw:
        """Draw an action in every game."""
        uniforms = torch.rand(len(seen.masks), generator=self.generator, dtype=torch.float64)
        *parts, their_uniforms = (halves(rows, self.device) for rows in (*seen, uniforms))
        shards = zip(map(NetworkInputs, *parts), their_uniforms, strict=True)
        drawn = map_on_threads(lambda shard: self.policy.sample(*shard), shards)
        return Draw(*map(torch.cat, zip(*drawn, strict=True)))

    def train(self) -> None:
        """Improve the policy on the last rollout: several epochs of gradient steps."""
        self._update_learning_rate(self.policy.optimizer)
        if self.num_timesteps <= self.value_decisions:
            self.policy.freeze_policy()
        scheduled = self.scheduled(self.share_left)
        buffer, steps = self.rollout_buffer, 0
        totals: dict[str, Tensor] = {}
        with self.computing():
            if self.kl_schedule:
                assert self.magnet
                self.magnet.before_update(self.policy.network, self.num_timesteps)
                self.magnet.store_log_probs(buffer, self.batch_size)
            for _ in range(self.n_epochs):
                order = buffer.shuffled(self.generator)
                for decisions in order.tensor_split(ceil(len(order) / self.batch_size)):
                    parts = self.descend(decisions, scheduled)
                    totals = {name: totals.get(name, 0) + part for name, part in parts.items()}
                    steps += 1
                self._n_updates += 1
        means = {name: float(total) / steps for name, total in totals.items()}
        explained = self.rollout_buffer.explained_variance
        if not np.isnan(explained):  # returns do not vary, or no value was asked for, as in a clone
            means["explained_variance"] = explained
        for name, value in (means | scheduled).items():
            self.logger.record(f"train/{name}", value)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")

    def descend(self, decisions: Tensor, scheduled: Mapping[str, float]) -> dict[str, Tensor]:
        """Make one gradient step on these decisions, (M,); returns the parts of the loss."""
        weights = self.policy.weights()

        def gradient(shard: Tensor) -> tuple[Sequence[Tensor], dict[str, Tensor]]:
            loss, parts = self.loss(self.rollout_buffer.select(shard), scheduled)
            share = len(shard) / len(decisions)
            parts = {name: share * part for name, part in parts.items()}
            return torch.autograd.grad(share * loss, weights), parts

        shards = map_on_threads(gradient, halves(decisions, self.device))
        gradients, parts = zip(*shards, strict=True)
        for weight, *of_shards in zip(weights, *gradients, strict=True):
            # fused Adam reads a gradient as if it lay in memory as the weight does
            weight.grad = sum_of(of_shards).contiguous()
        for net in self.policy.networks():  # apart, as the critic's gradient may be large
            torch.nn.utils.clip_grad_norm_(net.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()
        if self.average:
            self.average.after_step(self.policy.network)
        return {name: sum_of([part[name] for part in parts]) for name in parts[0]}

    def scheduled(self, left: float) -> dict[str, float]:
        """The scheduled settings, where this share of the run is left."""
        entropy = self.entropy_schedule(left) if self.entropy_schedule else self.ent_coef
        clip = {"clip_range": self.clip_range(left)} if self.clips else {}  # type: ignore[operator]
        now = clip | {"entropy_coefficient": entropy}
        return now | ({"kl_coefficient": self.kl_schedule(left)} if self.kl_schedule else {})

    def loss(
        self, batch: Minibatch, scheduled: Mapping[str, float]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss on a minibatch, and the parts of it that are logged."""
        chances, values = self.policy.network(batch.observations, batch.masks)
        critic = self.policy.critic
        known = critic(batch.observations, batch.centralised, values) if critic else values
        policy_loss, parts = self.policy_loss(chances, known.detach(), batch, scheduled)
        value_loss = self.rollout_buffer.value_error(values, batch.returns)
        log_probabilities = chances.log_probabilities
        entropy = -(log_probabilities.exp() * log_probabilities).sum() / len(values)
        loss = policy_loss + self.vf_coef * value_loss - scheduled["entropy_coefficient"] * entropy
        parts |= {"value_loss": value_loss.detach(), "entropy": entropy.detach()}
        if critic:
            of_actions = values_of(known, batch.actions)
            critic_loss = self.rollout_buffer.value_error(of_actions, batch.returns)
            loss = loss + self.vf_coef * critic_loss
            parts["critic_loss"] = critic_loss.detach()
        if self.kl_schedule:
            kl = divergence(chances, batch.magnet_log_probs)
            loss = loss + scheduled["kl_coefficient"] * kl
            parts["kl_to_magnet"] = kl.detach()
        return loss, parts

    def policy_loss(
        self,
        chances: LegalDistribution,
        values: Tensor,
        batch: Minibatch,
        scheduled: Mapping[str, float],
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """PPO's clipped surrogate, negative; and the parts of it that are logged.

        `values` are the critic's, (M,) or (M, A), without a gradient; PPO has the advantages.
        """
        clip_range = scheduled["clip_range"]
        log_ratio = chances.of(batch.actions) - batch.log_probabilities
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
        loss = -torch.minimum(batch.advantages * ratio, batch.advantages * clipped).mean()
        with torch.no_grad():
            parts = {
                "policy_gradient_loss": loss.detach(),
                "approx_kl": (ratio - 1 - log_ratio).mean(),
                "clip_fraction": ((ratio - 1).abs() > clip_range).float().mean(),
            }
        return loss, parts


def divergence(chances: LegalDistribution, magnet_log_probs: Tensor) -> Tensor:
    """KL(policy || magnet), its mean over a minibatch.

    This direction, as in piKL (Jacob et al. 2022) and in learning from human feedback, costs much
    where the policy does what the magnet would never do, and little where it drops an action.
    """
    log_probabilities = chances.log_probabilities
    difference = log_probabilities - magnet_log_probs[chances.rows, chances.actions]
    return (log_probabilities.exp() * difference).sum() / len(magnet_log_probs)


def sum_of(tensors: Sequence[Tensor]) -> Tensor:
    """Their sum, added in order."""
    first, *others = tensors
    return sum(others, first)
