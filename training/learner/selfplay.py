"""Self-play learning: MaskablePPO with the credit that turn-based games need.

Each game gives one stream of decisions, made by all seats in turn. V is the value for the seat to
move, r is the reward of the seat that moved until the next decision, and sgn is +1 if the next seat
to move is on its side, else -1:

    delta[t] = r[t] + gamma * sgn[t] * V[t+1] * alive[t] - V[t]
    A[t]     = delta[t] + gamma * lambda * sgn[t] * alive[t] * A[t+1]

So the loser's last decision gets its -1 through the winner's last decision, and an opponent's high
value counts as a low one. In a cooperative game every sgn is +1 and r is the reward that all share.
The rest is PPO (Schulman et al. 2017) over the legal actions.

Notation: T decisions per game and rollout, B games, A actions, N entries of an observation, M rows
of a minibatch, K entries of what a centralised critic sees in addition.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.buffers import BaseBuffer
from stable_baselines3.common.callbacks import BaseCallback
from torch import Tensor, nn
from torch.nn import functional as F

from hanamachi.policies.networks.head import Head, entry_bounds, plain_head
from hanamachi.policies.networks.legal_softmax import LegalDistribution
from hanamachi.policies.networks.network import Network
from hanamachi.policies.policy import sample
from hanamachi.training.learner.critic import Critic
from hanamachi.training.learner.magnet import MovingAverage, SlowCopy
from hanamachi.training.learner.state import RunState
from hanamachi.training.learner.vecenv import TurnBasedVecEnv


def mover_signed_advantages(
    rewards: NDArray[Any],  # (T, B)
    values: NDArray[Any],  # (T + 1, B)
    terminated: NDArray[np.bool_],  # (T, B)
    signs: NDArray[Any],  # (T, B)
    gamma: float,
    gae_lambda: float,
) -> NDArray[Any]:
    """The generalised advantage of each decision for the seat that made it, (T, B)."""
    advantages = np.zeros_like(rewards)
    carry = gamma * signs * ~terminated
    following = np.zeros_like(rewards[0])
    with np.errstate(over="ignore", invalid="ignore"):  # weights so large are found where they play
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + carry[t] * values[t + 1] - values[t]
            following = delta + gae_lambda * carry[t] * following
            advantages[t] = following
    return advantages


# --- The policy as stable-baselines3 holds it


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """Our network as stable-baselines3 holds a policy: one forward pass, one log-softmax.

    `critic` is the centralised critic, if there is one; only training uses it.
    """

    critic: Critic | None

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Callable[[float], float],
        *,
        hidden: tuple[int, ...] = (256, 256),
        head: Head | None = None,
        feature_sets: tuple[str, ...] = (),
        centralised: spaces.Box | None = None,
        **kwargs: Any,
    ) -> None:
        """`head` describes the actions; without it the network knows only their number.

        The observations end with the features of `feature_sets`. `centralised` is the space of what
        all other seats see; if it is given, a centralised critic is trained too.
        """
        bound = entry_bounds(observation_space.low, observation_space.high)
        described = head or plain_head(int(action_space.n))
        self.make_network = lambda: Network(bound, described, hidden, feature_sets)
        self.make_critic: Callable[[], Critic | None] = lambda: None
        if centralised is not None:
            whole = np.concatenate((bound, entry_bounds(centralised.low, centralised.high)))
            self.make_critic = lambda: Critic(whole, hidden, described.advice)
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        self.network = self.make_network()
        self.critic = self.make_critic()
        self.first_learning_rate = lr_schedule(1)

    @cached_property
    def optimizer(self) -> torch.optim.Optimizer:  # type: ignore[override]
        """Made when first asked for: PyTorch's takes seconds to import, and workers need none."""
        weights = [weight for part in self.networks() for weight in part.parameters()]
        return torch.optim.Adam(weights, lr=self.first_learning_rate, eps=1e-5, fused=True)

    def networks(self) -> list[nn.Module]:
        """The networks that are trained."""
        return [self.network, self.critic] if self.critic else [self.network]

    def sample(
        self, observation: Tensor, mask: Tensor, centralised: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions (B,) drawn from the policy, their log-probabilities (B,), values (B,)."""
        chances, values = self.network(observation, mask)
        if self.critic:
            values = self.critic(observation, centralised, values)
        drawn = torch.rand(len(mask), generator=generator, dtype=torch.float64)
        actions = sample(chances.table(mask).cpu().numpy(), drawn.numpy())
        taken = torch.from_numpy(actions).to(self.device)
        return taken, chances.of(taken), values

    def _predict(
        self, observation: Any, deterministic: bool = False, action_masks: Any = None
    ) -> Tensor:
        shape = (len(observation), int(self.action_space.n))  # type: ignore[attr-defined]
        legal = np.ones(shape) if action_masks is None else np.asarray(action_masks).reshape(shape)
        mask = torch.as_tensor(legal, dtype=torch.bool, device=self.device)
        probabilities = self.network(observation, mask)[0].table(mask)
        if deterministic:
            return probabilities.argmax(-1)
        return torch.multinomial(probabilities, 1).squeeze(-1)


def value_error(values: Tensor, returns: Tensor) -> Tensor:
    """The mean squared error, divided by the variance of the returns if that is above 1.

    Without the division, errors of large scores would outweigh the policy's loss.
    """
    return F.mse_loss(values, returns) / returns.var(correction=0).clamp(min=1)


# --- The rollout buffer


class Minibatch(NamedTuple):
    observations: Tensor  # (M, N)
    masks: Tensor  # (M, A) bool
    actions: Tensor  # (M,)
    log_probabilities: Tensor  # (M,)
    advantages: Tensor  # (M,)
    returns: Tensor  # (M,)
    magnet_log_probs: Tensor  # (M, A) where legal; (M, 0) without a magnet
    centralised: Tensor  # (M, K) what the other seats see; (M, 0) without a centralised critic


PLAYED = (
    "observations", "masks", "actions", "log_probabilities", "rewards", "terminated", "signs",
    "values", "centralised",
)  # fmt: skip


class SelfPlayBuffer(BaseBuffer):
    """T decisions in each of B games, in the order in which they were made.

    Minibatches come from `get`, with a generator of random numbers.
    """

    observation_space: spaces.Box
    action_space: spaces.Discrete
    minibatch: type[Any] = Minibatch

    def __init__(
        self, *args: Any, gamma: float = 1, gae_lambda: float = 0.95, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.gamma, self.gae_lambda = gamma, gae_lambda
        decisions = (self.buffer_size, self.n_envs)
        size, actions = self.observation_space.shape[0], int(self.action_space.n)
        self.observations = np.zeros((*decisions, size), np.float32)
        self.masks = np.zeros((*decisions, actions), np.bool_)
        self.actions = np.zeros(decisions, np.int64)
        self.log_probabilities = np.zeros(decisions, np.float32)
        self.rewards = np.zeros(decisions, np.float32)
        self.terminated = np.zeros(decisions, np.bool_)
        self.signs = np.zeros(decisions, np.float32)
        self.values = np.zeros((self.buffer_size + 1, self.n_envs), np.float32)
        self.magnet_log_probs = np.zeros((*decisions, 0), np.float32)
        self.centralised = np.zeros((*decisions, 0), np.float32)

    def view(self, env: TurnBasedVecEnv) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Store what the seats to move see, and return it: (B, N), (B, A)."""
        self.observations[self.pos] = env.observations
        self.masks[self.pos] = env.masks
        return self.observations[self.pos], self.masks[self.pos]

    def played(self) -> dict[str, NDArray[Any]]:
        """The rollout by field, (T, B, ...) each, except `values`, (T + 1, B)."""
        return {name: getattr(self, name) for name in PLAYED}

    def put(self, games: slice, played: Mapping[str, NDArray[Any]]) -> None:
        """Store the rollout of some of the games, as `played` gives it."""
        for name, array in played.items():
            getattr(self, name)[:, games] = array

    def credit(self, env: TurnBasedVecEnv) -> None:
        """Store the rewards of the decisions just made."""
        self.rewards[self.pos] = env.rewards
        self.terminated[self.pos] = env.terminated
        self.signs[self.pos] = env.signs
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def finish(self) -> None:
        """Compute advantages and returns once all values are known."""
        self.advantages = mover_signed_advantages(
            self.rewards, self.values, self.terminated, self.signs, self.gamma, self.gae_lambda
        )
        self.returns = self.advantages + self.values[:-1]

    def get(self, batch_size: int | None, generator: torch.Generator) -> Iterator[Minibatch]:
        """All decisions in random order, in minibatches or, with None, in one."""
        count = self.buffer_size * self.n_envs
        batch_size = batch_size or count
        flat = [torch.from_numpy(a.reshape(count, *a.shape[2:])) for a in self.arrays()]
        order = torch.randperm(count, generator=generator)
        for start in range(0, count, batch_size):
            rows = order[start : start + batch_size]
            yield self.minibatch(*(tensor.index_select(0, rows).to(self.device) for tensor in flat))

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays of a minibatch's fields, in their order."""
        return (
            self.observations, self.masks, self.actions, self.log_probabilities,
            self.advantages, self.returns, self.magnet_log_probs, self.centralised,
        )  # fmt: skip

    def _get_samples(self, batch_inds: Any, env: Any = None) -> Any:
        raise NotImplementedError("minibatches come from get")


# --- The learner


class RolloutWorkers(Protocol):
    """Play a learner's games in other processes."""

    states: list[Any]  # of each worker, everything that its next games depend on

    def play(self, policy: SelfPlayPolicy, games: Any, buffer: SelfPlayBuffer) -> None:
        """Fill the buffer with T decisions of every game, with the fixed opponents of `games`."""


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over the decisions of all seats, with mover-signed advantages.

    `env` is a TurnBasedVecEnv. `entropy_schedule` gives the entropy coefficient from the share of
    the run that is left (1 at the start); `kl_schedule` gives the coefficient of the divergence
    from `magnet`, which must then be set. `average`, if it is set, follows the policy, and may be
    the magnet too. `workers`, if it is set, plays the games. The other settings are MaskablePPO's.

    Only this class uses private attributes of stable-baselines3.
    """

    env: TurnBasedVecEnv
    policy: SelfPlayPolicy
    rollout_buffer: SelfPlayBuffer  # type: ignore[assignment]

    def __init__(
        self,
        policy: type[SelfPlayPolicy],
        env: TurnBasedVecEnv,
        *,
        entropy_schedule: Callable[[float], float] | None = None,
        kl_schedule: Callable[[float], float] | None = None,
        buffer: type[SelfPlayBuffer] = SelfPlayBuffer,
        **kwargs: Any,
    ) -> None:
        self.entropy_schedule, self.kl_schedule = entropy_schedule, kl_schedule
        self.magnet: SlowCopy | None = None
        self.average: MovingAverage | None = None
        self.workers: RolloutWorkers | None = None
        self.run_state = RunState()
        kind: Any = buffer  # no RolloutBuffer, whose arrays are not needed
        super().__init__(policy, env, rollout_buffer_class=kind, **kwargs)

    def _setup_model(self) -> None:
        super()._setup_model()
        self.generator = torch.Generator().manual_seed(self.seed or 0)
        if self.policy.critic:
            buffer, size = self.rollout_buffer, self.env.centralised_space.shape[0]
            buffer.centralised = np.zeros((buffer.buffer_size, buffer.n_envs, size), np.float32)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "generator", "magnet", "average", "workers"]

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
        """Write the log, and train the policy on the rollout."""
        self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        self.dump_logs()
        self.train()

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
        for _ in range(buffer.buffer_size):
            env.advance(self.choose(env, buffer))
            buffer.credit(env)
            self.num_timesteps += env.num_envs
            if not on_step():
                return False
        beyond = env.observations, env.masks != 0, self._centralised(env)
        buffer.values[-1] = self._decide(*beyond)[2]
        return True

    def choose(self, env: TurnBasedVecEnv, buffer: SelfPlayBuffer) -> NDArray[np.int64]:
        """Choose an action in every game, (B,), and store its log-probability and value."""
        t, (observations, masks) = buffer.pos, buffer.view(env)
        centralised = buffer.centralised[t] = self._centralised(env)
        actions, log_probabilities, values = self._decide(observations, masks, centralised)
        buffer.actions[t] = actions
        buffer.log_probabilities[t] = log_probabilities
        buffer.values[t] = values
        return actions

    def _centralised(self, env: TurnBasedVecEnv) -> NDArray[np.float32]:
        """What the centralised critic sees in addition to the observations, (B, K)."""
        if self.policy.critic is None:
            return np.zeros((env.num_envs, 0), np.float32)
        return env.centralised_observations()

    @torch.no_grad()
    def _decide(
        self, observations: NDArray[Any], masks: NDArray[Any], centralised: NDArray[Any]
    ) -> list[NDArray[Any]]:
        """Actions, their log-probabilities and values, (B,) each."""
        seen, legal, hidden = (
            torch.from_numpy(x).to(self.device) for x in (observations, masks, centralised)
        )
        return [x.cpu().numpy() for x in self.policy.sample(seen, legal, hidden, self.generator)]

    def train(self) -> None:
        """Improve the policy on the last rollout: several epochs of clipped policy gradient."""
        self._update_learning_rate(self.policy.optimizer)
        scheduled = self.scheduled(self.share_left)
        if self.kl_schedule:
            self._ask_magnet()
        sums: dict[str, Tensor] = {}
        steps = 0
        for _ in range(self.n_epochs):
            for batch in self.rollout_buffer.get(self.batch_size, self.generator):
                loss, parts = self.loss(batch, scheduled)
                self.policy.optimizer.zero_grad()
                loss.backward()
                for net in self.policy.networks():  # apart, as the critic's gradient may be large
                    torch.nn.utils.clip_grad_norm_(net.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                if self.average:
                    self.average.after_step(self.policy.network)
                for name, part in parts.items():
                    sums[name] = sums.get(name, torch.zeros(())) + part
                steps += 1
            self._n_updates += 1
        self._record(sums, steps, scheduled)

    @torch.no_grad()
    def _ask_magnet(self) -> None:
        """Store the magnet's log-probabilities at every decision of the rollout."""
        assert self.magnet, "kl_schedule needs a magnet"
        self.magnet.before_update(self.policy.network, self.num_timesteps)
        buffer = self.rollout_buffer
        views = zip(*map(torch.from_numpy, (buffer.observations, buffer.masks)), strict=True)
        legal_log_probs = [
            self.magnet.network(seen.to(self.device), legal.to(self.device))[0].log_probabilities
            for seen, legal in views
        ]
        buffer.magnet_log_probs = np.zeros(buffer.masks.shape, np.float32)
        buffer.magnet_log_probs[buffer.masks] = torch.cat(legal_log_probs).cpu().numpy()

    def scheduled(self, left: float) -> dict[str, float]:
        """The scheduled settings, where this share of the run is left."""
        entropy = self.entropy_schedule(left) if self.entropy_schedule else self.ent_coef
        now = {"clip_range": self.clip_range(left), "entropy_coefficient": entropy}  # type: ignore[operator]
        return now | ({"kl_coefficient": self.kl_schedule(left)} if self.kl_schedule else {})

    def loss(
        self, batch: Minibatch, scheduled: Mapping[str, float]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """PPO's loss on a minibatch, and the parts of it that are logged."""
        clip_range = scheduled["clip_range"]
        chances, values = self.policy.network(batch.observations, batch.masks)
        log_ratio = chances.of(batch.actions) - batch.log_probabilities
        ratio = log_ratio.exp()
        advantages = batch.advantages
        if len(advantages) > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
        policy_loss = -torch.minimum(advantages * ratio, advantages * clipped).mean()
        value_loss = value_error(values, batch.returns)
        log_probabilities = chances.log_probabilities
        entropy = -(log_probabilities.exp() * log_probabilities).sum() / len(values)
        loss = policy_loss + self.vf_coef * value_loss - scheduled["entropy_coefficient"] * entropy
        with torch.no_grad():
            parts = {
                "policy_gradient_loss": policy_loss.detach(),
                "value_loss": value_loss.detach(),
                "entropy": entropy.detach(),
                "approx_kl": (ratio - 1 - log_ratio).mean(),
                "clip_fraction": ((ratio - 1).abs() > clip_range).float().mean(),
            }
        if self.policy.critic:
            centralised_values = self.policy.critic(batch.observations, batch.centralised, values)
            critic_loss = value_error(centralised_values, batch.returns)
            loss = loss + self.vf_coef * critic_loss
            parts["critic_loss"] = critic_loss.detach()
        if self.kl_schedule:
            kl = divergence(chances, batch.magnet_log_probs)
            loss = loss + scheduled["kl_coefficient"] * kl
            parts["kl_to_magnet"] = kl.detach()
        return loss, parts

    def _record(self, sums: dict[str, Tensor], steps: int, scheduled: Mapping[str, float]) -> None:
        for name, total in sums.items():
            self.logger.record(f"train/{name}", float(total) / steps)
        returns = self.rollout_buffer.returns.astype(np.float64)  # whose squares do not overflow
        errors = returns - self.rollout_buffer.values[:-1]
        variance = float(returns.var())
        explained = 1 - float(errors.var()) / variance if variance else float("nan")
        self.logger.record("train/explained_variance", explained)
        for name, value in scheduled.items():
            self.logger.record(f"train/{name}", value)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")


def divergence(chances: LegalDistribution, magnet_log_probs: Tensor) -> Tensor:
    """KL(policy || magnet), its mean over a minibatch.

    This direction, as in piKL (Jacob et al. 2022) and in learning from human feedback, costs much
    where the policy does what the magnet would never do, and little where it drops an action.
    """
    log_probabilities = chances.log_probabilities
    difference = log_probabilities - magnet_log_probs[chances.rows, chances.actions]
    return (log_probabilities.exp() * difference).sum() / len(magnet_log_probs)
