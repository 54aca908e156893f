"""The learner's policy as stable-baselines3 holds it: the network, and the critic if there is one.

Notation: B games.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor, nn

from hanamachi.policies.networks.canonical import Forms
from hanamachi.policies.networks.head import Head, entry_bounds, plain_head
from hanamachi.policies.networks.network import Network
from hanamachi.training.learner.critic import Critic, values_of
from hanamachi.training.learner.rollout_buffer import NetworkInputs


class Draw(NamedTuple):
    """Actions drawn from a policy."""

    actions: Tensor  # (B,)
    log_probabilities: Tensor  # (B,)
    values: Tensor  # (B,) of the critic, if there is one
    expected: Tensor  # (B,) the actions' advantages, if the critic values actions; else 0


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
        forms: Forms | None = None,
        critic_forms: Forms | None = None,
        centralised: spaces.Box | None = None,
        action_values: bool = False,
        **kwargs: Any,
    ) -> None:
        """`head` describes the actions; without it the network knows only their number.

        The observations end with the features of `feature_sets`. With `forms`, the network sees
        symmetric positions in one form. `centralised` is the space of what all other seats see; if
        it is given, a centralised critic is trained too; `critic_forms` are its forms, and with
        `action_values` it values each action.
        """
        bound = entry_bounds(observation_space.low, observation_space.high)
        described = head or plain_head(int(action_space.n))
        self.make_network = partial(Network, bound, described, hidden, feature_sets, forms)
        self.make_critic: Callable[[], Critic] | None = None
        if centralised is not None:
            whole = np.concatenate((bound, entry_bounds(centralised.low, centralised.high)))
            valued = int(action_space.n) if action_values else 0
            shape = whole, hidden, described.advice, critic_forms, valued
            self.make_critic = partial(Critic, *shape)
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        self.network = self.make_network()
        self.critic = self.make_critic() if self.make_critic else None
        self.first_learning_rate = lr_schedule(1)

    @cached_property
    def optimizer(self) -> torch.optim.Optimizer:  # type: ignore[override]
        """Made when first asked for: PyTorch's takes seconds to import, and workers need none.

        Its first group of weights is what the policy depends on, the second what only values do.
        """
        heads = [self.network.value, *self.networks()[1:]]
        of_values = [weight for head in heads for weight in head.parameters()]
        others = set(of_values)
        of_policy = [weight for weight in self.weights() if weight not in others]
        groups = [{"params": of_policy}, {"params": of_values}]
        return torch.optim.Adam(groups, lr=self.first_learning_rate, eps=1e-5, fused=True)

    def freeze_policy(self) -> None:
        """Let the next gradient steps change only what values alone depend on.

        Adam follows the gradients of the other weights meanwhile. Its first steps are as large for
        small gradients as for large ones, and would carry a clone away from what it has learned.
        """
        self.optimizer.param_groups[0]["lr"] = 0.0

    def networks(self) -> list[nn.Module]:
        """The networks that are trained."""
        return [self.network, self.critic] if self.critic else [self.network]

    def weights(self) -> list[nn.Parameter]:
        """All that is trained."""
        return [weight for part in self.networks() for weight in part.parameters()]

    @torch.no_grad()
    def sample(self, seen: NetworkInputs, uniforms: Tensor) -> Draw:
        """Draw an action for each row at its number in [0, 1), `uniforms` (B,)."""
        chances, values = self.network(seen.observations, seen.masks)
        actions = chances.draw(seen.masks, uniforms)
        if self.critic:
            values = self.critic(seen.observations, seen.centralised, values)
        of_actions = values_of(values, actions)
        if values.dim() == 2:
            values = (chances.table(seen.masks) * values).sum(-1)
        return Draw(actions, chances.of(actions), values, of_actions - values)

    # --- What stable-baselines3 asks of a policy; without masks all actions are legal

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        return self._assess(obs, action_masks)[0]

    def predict_values(self, obs: Any) -> Tensor:
        return self._assess(obs, None)[1]

    def forward(self, obs: Any, deterministic: bool = False, action_masks: Any = None) -> Any:
        distribution, values = self._assess(obs, action_masks)
        actions = distribution.get_actions(deterministic)
        return actions, values, distribution.log_prob(actions)

    def evaluate_actions(self, obs: Any, actions: Tensor, action_masks: Any = None) -> Any:
        distribution, values = self._assess(obs, action_masks)
        return values, distribution.log_prob(actions), distribution.entropy()

    def _assess(self, obs: Tensor, action_masks: Any) -> tuple[MaskableDistribution, Tensor]:
        """The distribution over the legal actions, and the network's values (B, 1)."""
        shape = len(obs), int(self.action_space.n)  # type: ignore[attr-defined]
        legal = np.ones(shape) if action_masks is None else action_masks
        mask = torch.as_tensor(legal, dtype=torch.bool, device=self.device).reshape(shape)
        (*places, log_probabilities), values = self.network(obs.float(), mask)
        logits = torch.zeros(shape, device=self.device).index_put(places, log_probabilities)
        distribution = self.action_dist.proba_distribution(logits)
        distribution.apply_masking(mask)
        return distribution, values.unsqueeze(-1)
