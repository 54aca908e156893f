"""The rollout buffer: what happened in T decisions of B games, on the network's device.

Notation: T decisions per game and rollout, B games, A actions, N entries of an observation, M rows
of a minibatch, K entries of what a centralised critic sees in addition.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import BaseBuffer
from torch import Tensor
from torch.nn import functional as F

from hanamachi.training.learner.packing import Bits, Int8, Packing, PlainRows
from hanamachi.training.learner.turn_based import TurnBasedVecEnv


def mover_signed_advantages(
    rewards: NDArray[Any],  # (T, B)
    values: NDArray[Any],  # (T + 1, B)
    terminated: NDArray[np.bool_],  # (T, B)
    signs: NDArray[Any],  # (T, B)
    gamma: float,
    gae_lambda: float,
    elapsed: NDArray[Any] | float = 1,  # (T, B)
    expected: NDArray[Any] | float = 0,  # (T, B)
) -> NDArray[Any]:
    """The generalised advantage of each decision for the seat that made it, (T, B).

    After a decision `elapsed` decisions go by until the next one here, as others may decide too.
    A critic of actions has `expected` an advantage of the action that was made; the results then
    correct it, and the advantages are those of expected SARSA(lambda).
    """
    advantages = np.zeros(rewards.shape, np.result_type(rewards, values, np.float32))
    carry = gamma**elapsed * signs * ~terminated
    following = np.zeros_like(advantages[0])
    expected = np.broadcast_to(expected, rewards.shape)
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + carry[t] * values[t + 1] - values[t] - expected[t]
        following = delta + gae_lambda * carry[t] * following
        advantages[t] = expected[t] + following
    return advantages


class Minibatch(NamedTuple):
    observations: Tensor  # (M, N)
    masks: Tensor  # (M, A) bool
    actions: Tensor  # (M,)
    log_probabilities: Tensor  # (M,)
    advantages: Tensor  # (M,) mean 0 and standard deviation 1 in the rollout
    returns: Tensor  # (M,)
    magnet_log_probs: Tensor  # (M, A) where legal; (M, 0) without a magnet
    centralised: Tensor  # (M, K) what others alone see; (M, 0) without a centralised critic


class NetworkInputs(NamedTuple):
    """What can be seen in each game when a decision is made."""

    observations: Tensor  # (B, N)
    masks: Tensor  # (B, A) bool
    centralised: Tensor  # (B, K)


PLAYED = (
    *NetworkInputs._fields, "actions", "log_probabilities", "values", "expected", "rewards",
    "terminated", "signs", "elapsed",
)  # fmt: skip


class SelfPlayBuffer(BaseBuffer):
    """T decisions in each of B games, in the order in which they were made.

    What networks read is on their device; what only advantages are computed from is not.
    """

    observation_space: spaces.Box
    action_space: spaces.Discrete
    minibatch: type[Any] = Minibatch

    def __init__(
        self, *args: Any, gamma: float = 1, gae_lambda: float = 0.95, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.gamma, self.gae_lambda = gamma, gae_lambda
        decisions = self.buffer_size, self.n_envs
        self.actions = self.room(dtype=torch.int64)
        self.log_probabilities = self.room()
        self.expected = self.room()  # advantages, by a critic of actions
        self.magnet_log_probs = self.room(0)
        self.values = torch.zeros((self.buffer_size + 1, self.n_envs), device=self.device)
        self.rewards = np.zeros(decisions, np.float32)
        self.terminated = np.zeros(decisions, np.bool_)
        self.signs = np.zeros(decisions, np.float32)
        self.elapsed = np.ones(decisions, np.float32)
        self.advantages, self.returns = self.room(), self.room()
        self.advantage_scale = 1.0  # the standard deviation of the last rollout's advantages
        self.value_scale, self.explained_variance = 1.0, float("nan")  # before any rollout
        self.packings: dict[str, Packing] = {}

    def room(self, *row: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Zeros for each decision, (T, B, *row)."""
        shape = self.buffer_size, self.n_envs, *row
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def prepare(self, env: TurnBasedVecEnv, for_critic: bool, compact: bool | None = None) -> None:
        """Make room for what is seen in these games, packed if `compact`, or by default on a GPU.

        With `for_critic`, what the other seats alone see is kept for a centralised critic.
        """
        compact = self.device.type != "cpu" if compact is None else compact
        self.for_critic, self.compact = for_critic, compact
        self.packings = packings(env, for_critic, compact)
        for name, packing in self.packings.items():
            setattr(self, name, self.room(packing.size, dtype=packing.dtype))

    # --- One rollout

    def packed(self, env: TurnBasedVecEnv) -> NetworkInputs:
        """What can be seen in the games now, as the buffer keeps it."""
        others = env.centralised_observations() if self.for_critic else np.zeros((self.n_envs, 0))
        rows = env.observations, env.masks != 0, others
        kept = zip(self.packings.values(), rows, strict=True)
        return NetworkInputs(*(packing.pack(row).to(self.device) for packing, row in kept))

    def unpacked(self, seen: NetworkInputs) -> NetworkInputs:
        """What can be seen, as networks read it."""
        kept = zip(self.packings.values(), seen, strict=True)
        return NetworkInputs(*(packing.unpack(rows) for packing, rows in kept))

    def store(self, env: TurnBasedVecEnv) -> NetworkInputs:
        """Store what can be seen in the games now, and return it as networks read it."""
        seen = self.packed(env)
        for name, rows in seen._asdict().items():
            getattr(self, name)[self.pos] = rows
        return self.unpacked(seen)

    def credit(self, env: TurnBasedVecEnv) -> None:
        """Store the rewards of the decisions just made."""
        self.rewards[self.pos] = env.rewards
        self.terminated[self.pos] = env.terminated
        self.signs[self.pos] = env.signs
        self.elapsed[self.pos] = env.elapsed
        self.pos += 1

    def finish(self) -> None:
        """Compute advantages and returns once all values are known.

        `value_scale` is the variance of the returns if that is above 1; see `value_error`.
        """
        values = self.values.numpy(force=True)
        expected = self.expected.numpy(force=True)
        # non-finite values raise an error when an action is drawn
        with np.errstate(over="ignore", invalid="ignore"):
            played = self.rewards, values, self.terminated, self.signs
            how = self.gamma, self.gae_lambda, self.elapsed, expected
            advantages = mover_signed_advantages(*played, *how)
            returns = advantages + values[:-1]
            precise = returns.astype(np.float64)  # whose squares do not overflow
            self.value_scale = max(1.0, float(precise.var()))
            self.explained_variance = explained_variance(values[:-1], precise)
            self.advantage_scale = float(advantages.std(dtype=np.float64)) + 1e-8
            advantages = standardised(advantages)
        self.returns = torch.from_numpy(returns).to(self.device)
        self.advantages = torch.from_numpy(advantages).to(self.device)

    # --- Minibatches

    def value_error(self, values: Tensor, returns: Tensor) -> Tensor:
        """The mean squared error, divided by `value_scale`.

        Otherwise errors of large scores would outweigh the policy's loss.
        """
        return F.mse_loss(values, returns) / self.value_scale

    def shuffled(self, generator: torch.Generator) -> Tensor:
        """The numbers of all decisions in random order, (T * B,)."""
        return torch.randperm(self.buffer_size * self.n_envs, generator=generator)

    def select(self, decisions: Tensor) -> Any:
        """The minibatch of the decisions with these numbers, (M,)."""
        return self.minibatch(*self.fields(self.minibatch._fields, decisions))

    def fields(self, names: Sequence[str], decisions: Tensor) -> list[Tensor]:
        """These fields of the decisions with these numbers, (M,), as networks read them."""
        rows = decisions.to(self.device)
        kept = [getattr(self, name).flatten(0, 1).index_select(0, rows) for name in names]
        return [
            self.packings[name].unpack(field) if name in self.packings else field
            for name, field in zip(names, kept, strict=True)
        ]

    def _get_samples(self, batch_inds: Any, env: Any = None) -> Any:
        raise NotImplementedError("minibatches come from select")

    # --- Rollouts of other processes

    def played(self) -> dict[str, NDArray[Any]]:
        """The rollout by field, (T, B, ...) each, except `values`, (T + 1, B)."""
        return {name: np.asarray(getattr(self, name)) for name in PLAYED}

    def put(self, games: slice, played: Mapping[str, NDArray[Any]]) -> None:
        """Store the rollout of some of the games, as `played` gives it: packed as here."""
        for name, rows in played.items():
            kept = getattr(self, name)
            kept[:, games] = rows if isinstance(kept, np.ndarray) else torch.tensor(rows)


def packings(env: TurnBasedVecEnv, for_critic: bool, compact: bool) -> dict[str, Packing]:
    """How each field of `NetworkInputs` is kept; without units, games are never packed."""
    observed, others = env.observations.shape[1], env.centralised_space.shape[0]
    actions, units = env.masks.shape[1], env.units
    if compact and units:
        unseen = units.centralised if for_critic else units.centralised[:0]
        kept: tuple[Packing, ...] = (Int8(units.observations), Bits(actions), Int8(unseen))
    else:
        masks = PlainRows(actions, torch.bool)
        kept = PlainRows(observed), masks, PlainRows(others if for_critic else 0)
    return dict(zip(NetworkInputs._fields, kept, strict=True))


def standardised(advantages: NDArray[np.float32]) -> NDArray[np.float32]:
    """Advantages of mean 0 and standard deviation 1; a single one stays as it is."""
    if advantages.size < 2:
        return advantages
    precise = advantages.astype(np.float64)
    return ((precise - precise.mean()) / (precise.std() + 1e-8)).astype(np.float32)


def explained_variance(values: NDArray[np.float32], returns: NDArray[np.float64]) -> float:
    """The share of the returns' variance that the values explain, NaN if there is none."""
    variance = float(returns.var())
    return 1 - float((returns - values).var()) / variance if variance else float("nan")
