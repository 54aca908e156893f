"""Distillation of search: the policy learns what a search over itself finds better.

At a share of the decisions, the search `improve` tries the policy's likeliest actions in a few
worlds. The gain of an action is what it earns beyond the policy's own mix of the actions tried. The
gains take the place of PPO's advantages; the policy's part of the loss is

    - sum over a of pi(a) gain(a) + kl_coef KL(pi || policy that was searched)

and PPO's entropy bonus is subtracted, unchanged.

A few worlds give noisy gains. The loss is linear in them, so that their noise averages out over
similar positions; a target such as pi exp(gain / kl_coef) would turn it into a bias towards lucky
actions. Each update is a step of mirror descent (Tomar et al. 2022, "Mirror Descent Policy
Optimization").

Notation: T decisions per game and rollout, B games, A actions, N entries of an observation, M rows
of a minibatch, J actions tried, W worlds, K entries of what a centralised critic sees in addition.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.legal_softmax import LegalDistribution
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.policies.search.improve import Improve, likeliest
from hanamachi.policies.search.search import Decision
from hanamachi.training.learner.rollout_buffer import SelfPlayBuffer
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.vecenv import HanamachiVecEnv
from hanamachi.training.seeds import Purpose, stream

DOUBT = 0.01  # share of random play assumed of the other seat, so that no world has probability 0


@dataclass(frozen=True)
class Searching:
    """How much is searched."""

    share: float  # of the decisions
    worlds: int  # W
    tried: int  # J, at most


class SearchedMinibatch(NamedTuple):
    """A minibatch of decisions with the gains of the actions tried."""

    observations: Tensor  # (M, N)
    masks: Tensor  # (M, A) bool
    tried: Tensor  # (M, J)
    gains: Tensor  # (M, J), 0 where nothing was tried
    returns: Tensor  # (M,)
    magnet_log_probs: Tensor  # (M, A) where legal, of the policy that was searched
    centralised: Tensor  # (M, K) what others alone see; (M, 0) without a centralised critic


class SearchedBuffer(SelfPlayBuffer):
    """T decisions in each of B games, with the gains of the actions tried."""

    minibatch = SearchedMinibatch

    def make_room(self, tried: int) -> None:
        """Make room for this number of actions at each decision."""
        self.tried, self.gains = self.room(tried, dtype=torch.int64), self.room(tried)


class Distillation(SelfPlayPPO):
    """Plays with itself as `SelfPlayPPO` does, and learns its policy from what a search gains.

    `searching` says how much is searched. The learner's magnet must be the policy before each
    update. The search takes all seats to play the policy, so there are no fixed opponents.
    """

    clips = False
    env: HanamachiVecEnv  # type: ignore[assignment]
    rollout_buffer: SearchedBuffer  # type: ignore[assignment]

    def __init__(
        self,
        policy: type[SelfPlayPolicy],
        env: HanamachiVecEnv,
        *,
        searching: Searching | None = None,  # None while stable-baselines3 loads a save
        **kwargs: Any,
    ) -> None:
        if searching:
            self.searching = searching
        super().__init__(policy, env, buffer=SearchedBuffer, **kwargs)

    def _setup_model(self) -> None:
        super()._setup_model()
        self.rollout_buffer.make_room(self.searching.tried)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "search", "rng"]

    def play(self, on_step: Callable[[], bool] = lambda: True) -> bool:
        blueprint = CompiledPolicy(checkpoint_of(self.policy.network, self.env.variant))
        how = {"worlds": self.searching.worlds, "top": self.searching.tried}
        self.search = Improve(self.env.variant, blueprint, random_share=DOUBT, **how)
        first = stream(Purpose.SEARCHING, self.seed or 0)
        self.rng = np.random.default_rng((first, self.num_timesteps))  # so nothing need be saved
        return super().play(on_step)

    def choose(self, env: Any, buffer: Any) -> NDArray[np.int64]:
        tried, gains = self.look_ahead(env)
        buffer.tried[buffer.pos] = torch.from_numpy(tried)
        buffer.gains[buffer.pos] = torch.from_numpy(gains)
        return super().choose(env, buffer)

    def look_ahead(self, env: HanamachiVecEnv) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The actions tried in each game and their gains, (B, J) each; 0 where there are none.

        Gains are divided by the share that is searched, so that their mean does not depend on it.
        """
        count, most = round(self.searching.share * env.num_envs), self.searching.tried
        tried = np.zeros((env.num_envs, most), np.int64)
        gains = np.zeros((env.num_envs, most), np.float32)
        rows = self.rng.permutation(env.num_envs)[:count]
        decisions = self.decisions_to_search(env, rows)
        pairs = [(each, likeliest(each.prior, each.mask, most)) for each in decisions]
        found = self.search.results_of_many(pairs, self.searching.worlds)
        for (decision, actions), results in zip(pairs, found, strict=True):
            earned = results.mean(0)
            mean = np.average(earned, weights=decision.prior[actions])
            tried[decision.row, : len(actions)] = actions
            gains[decision.row, : len(actions)] = (earned - mean) * len(gains) / len(rows)
        return tried, gains

    def decisions_to_search(self, env: HanamachiVecEnv, rows: NDArray[np.int64]) -> list[Decision]:
        """The decisions of these games, as the search needs them.

        It plays on from empty memories, so none are given; the observations hold the features.
        """
        seen = env.observations[rows], env.masks[rows]
        chances, _ = self.search.blueprint.evaluate(*seen)  # type: ignore[union-attr]
        worlds, nothing = env.turns.worlds(), np.empty(0)
        return [
            Decision(observation, mask, prior, nothing, nothing, self.rng, worlds, row)
            for row, observation, mask, prior in zip(rows.tolist(), *seen, chances, strict=True)
        ]

    def policy_loss(
        self,
        chances: LegalDistribution,
        values: Tensor,
        batch: Any,
        scheduled: Mapping[str, float],
    ) -> tuple[Tensor, dict[str, Tensor]]:
        gains = torch.zeros(batch.masks.shape, device=batch.gains.device)
        gains.scatter_add_(1, batch.tried, batch.gains)
        probabilities = chances.log_probabilities.exp()
        gain = (probabilities * gains[chances.rows, chances.actions]).sum() / len(batch.returns)
        return -gain, {"search_gain": gain.detach()}
