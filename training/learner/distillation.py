"""Distillation of search: the policy learns what a search over itself finds better.

At a share of the decisions, the search `improve` tries the policy's likeliest actions in a few
worlds. The gain of an action is what it earns beyond the policy's own mix of the actions tried. The
loss has the gains in place of PPO's advantages:

    loss = - sum over a of pi(a) gain(a) + kl_coef KL(pi || magnet)

A few worlds give noisy gains. The loss is linear in them, so that their noise averages out over
similar positions; a target such as pi exp(gain / kl_coef) would turn it into a bias towards lucky
actions. With `every: 1` the magnet is the policy that was searched, so that each update is a step
of mirror descent (Tomar et al. 2022, "Mirror Descent Policy Optimization").

Notation: T decisions per game and rollout, B games, A actions, N entries of an observation, M rows
of a minibatch, K worlds, J actions tried.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.legal_softmax import LegalDistribution
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.policies.search.improve import ROWS, Improve, Results
from hanamachi.policies.search.search import Decision
from hanamachi.training.learner.rollout_buffer import SelfPlayBuffer
from hanamachi.training.learner.selfplay import SelfPlayPolicy, SelfPlayPPO
from hanamachi.training.learner.vecenv import Games

RANDOM_SHARE = 0.01  # of the others' decisions: all seats play the policy that is searched


class Searched(NamedTuple):
    """A minibatch of decisions with the gains of their actions."""

    observations: Tensor  # (M, N)
    masks: Tensor  # (M, A) bool
    gains: Tensor  # (M, A), 0 where not tried
    returns: Tensor  # (M,)
    magnet_log_probs: Tensor  # (M, A) where legal; (M, 0) without a magnet
    centralised: Tensor  # (M, K) what others alone see; (M, 0) without a centralised critic


class SearchedBuffer(SelfPlayBuffer):
    """T decisions in each of B games, with the gains of their actions."""

    minibatch = Searched

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gains = self.room(int(self.action_space.n))  # type: ignore[attr-defined]


class Distillation(SelfPlayPPO):
    """Plays as `SelfPlayPPO` does, but learns its policy from the gains that a search finds.

    `share` of the decisions are searched: the `tried` likeliest actions in `worlds` worlds. Where a
    fixed opponent plays, the search assumes that it plays the policy, too.
    """

    env: Games  # type: ignore[assignment]
    rollout_buffer: SearchedBuffer  # type: ignore[assignment]

    def __init__(
        self,
        policy: type[SelfPlayPolicy],
        env: Games,
        *,
        share: float = 0.5,
        worlds: int = 2,
        tried: int = 5,
        **kwargs: Any,
    ) -> None:
        self.share, self.worlds, self.tried = share, worlds, tried
        super().__init__(policy, env, buffer=SearchedBuffer, **kwargs)
        self.rng = np.random.default_rng(self.seed)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "blueprint"]

    def play(self, *args: Any) -> bool:
        self.blueprint = CompiledPolicy(checkpoint_of(self.policy.network, self.env.variant))
        return super().play(*args)

    def choose(self, env: Any, buffer: Any) -> NDArray[np.int64]:
        buffer.gains[buffer.pos] = torch.from_numpy(self.gains(env))
        return super().choose(env, buffer)

    def gains(self, env: Games) -> NDArray[np.float32]:
        """The gain of each action in each game, (B, A); 0 in games that are not searched.

        They are divided by the share of the games that are searched, so that their mean over all
        games estimates that over all decisions.
        """
        gains = np.zeros(env.masks.shape, np.float32)
        rows = self.rng.permutation(env.num_envs)[: max(1, round(self.share * env.num_envs))]
        seen = env.observations[rows], env.masks[rows]
        chances, _ = self.blueprint.evaluate(*seen)
        worlds, nothing = env.turns.worlds(), np.empty(0)
        pairs = []
        for row, *known in zip(rows.tolist(), *seen, chances, strict=True):
            decision = Decision(*known, nothing, nothing, self.rng, worlds, row)
            pairs.append((decision, likeliest(decision, self.tried)))
        for (decision, actions), results in zip(pairs, self.results(pairs), strict=True):
            earned = results.mean(0)
            mean = np.average(earned, weights=decision.prior[actions])
            gains[decision.row, actions] = (earned - mean) * len(gains) / len(rows)
        return gains

    def results(self, pairs: Sequence[tuple[Decision, NDArray[np.int64]]]) -> list[Results]:
        """What each action tried earns in each world, (K, J) for each decision."""
        how = {"worlds": self.worlds, "top": self.tried, "random_share": RANDOM_SHARE}
        search = Improve(self.env.variant, self.blueprint, **how)
        size = max(1, ROWS // (self.worlds * self.tried))
        parts = [pairs[i : i + size] for i in range(0, len(pairs), size)]
        return [each for part in parts for each in search.results_of_each(part, self.worlds)]

    def policy_loss(
        self, chances: LegalDistribution, batch: Any, scheduled: Mapping[str, float]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        gains = batch.gains[chances.rows, chances.actions]
        gain = (chances.log_probabilities.exp() * gains).sum() / len(batch.returns)
        return -gain, {"search_gain": gain.detach()}


def likeliest(decision: Decision, count: int) -> NDArray[np.int64]:
    """The legal actions that the policy is likeliest to choose, (J,)."""
    order = np.argsort(-np.where(decision.mask, decision.prior, -1), kind="stable")
    return order[: min(count, len(decision.actions))]
