"""A policy gradient over all legal actions, by a critic that values each of them.

PPO learns from the action that was played, so luck after it is noise in the gradient. With a
centralised critic Q that values every action, the policy's part of the loss is

    - sum over a of pi(a) Q(a) - ratio (G - Q(played))

divided by the standard deviation of the rollout's advantages, as PPO's advantages are. The sum is
the expected policy gradient (Ciosek and Whiteson, "Expected Policy Gradients", 2018). The other
term corrects Q by what came of the action: `ratio` is pi(played) over its probability when it was
played, and G is the lambda-return of expected SARSA. At lambda 1 the gradient is unbiased whatever
Q is; the better Q, the less noise it has (as with the doubly robust estimators of Jiang and Li,
2016). Nothing is clipped: clipped as in PPO, Leduc poker ended further from equilibrium.
"""

from collections.abc import Mapping

from torch import Tensor

from hanamachi.policies.networks.legal_softmax import LegalDistribution
from hanamachi.training.learner.critic import values_of
from hanamachi.training.learner.rollout_buffer import Minibatch
from hanamachi.training.learner.selfplay import SelfPlayPPO


class AllActionsLearner(SelfPlayPPO):
    """Learns its policy from the values of all legal actions; its policy has such a critic."""

    clips = False

    def policy_loss(
        self,
        chances: LegalDistribution,
        values: Tensor,
        batch: Minibatch,
        scheduled: Mapping[str, float],
    ) -> tuple[Tensor, dict[str, Tensor]]:
        expected = chances.log_probabilities.exp() * values[chances.rows, chances.actions]
        ratio = (chances.of(batch.actions) - batch.log_probabilities).exp()
        correction = ratio * (batch.returns - values_of(values, batch.actions))
        gain = (expected.sum() + correction.sum()) / len(values)
        loss = -gain / self.rollout_buffer.advantage_scale
        return loss, {"policy_gradient_loss": loss.detach()}
