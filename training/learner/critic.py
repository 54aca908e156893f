"""The centralised critic, which sees all hands; only training uses it.

The outcome of a game depends on cards that the player to move cannot see, which is noise to its
policy. While it learns, advantages may come from values that know those cards. As baselines they
add no bias, because the cards were dealt before the action, and they reduce the variance. The
exported policy never sees more than its own seat (as in Lowe et al. 2017, and for mahjong in Suphx,
Li et al. 2020).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hanamachi.engine.game import Variant
from hanamachi.policies.networks.canonical import Forms
from hanamachi.policies.networks.network import CanonicalForms, InputScaling, orthogonal
from hanamachi.training.learner.vecenv import relabelled_others

NO_ADVICE = np.zeros(0, np.int64)


class Critic(nn.Module):
    """The change that hidden cards, and the action if it is known, make to the network's own value.

    The change is zero at first, so that learning begins with the network's own value.
    """

    def __init__(
        self,
        bound: NDArray[Any],
        hidden: Sequence[int],
        advice: NDArray[np.int64] = NO_ADVICE,
        forms: Forms | None = None,
        actions: int = 0,
    ) -> None:
        """`bound` (N + K,) is the largest size of each entry; entries in `advice` are left out.

        With `forms` of all that is seen, the critic sees symmetric positions in one form. With a
        number of `actions`, A, it values each.
        """
        super().__init__()
        self.forms = CanonicalForms(forms) if forms else None
        self.input_scaling = InputScaling(bound, advice)
        self.trunk = nn.Sequential()
        for width, next_width in pairwise([self.input_scaling.size, *hidden]):
            self.trunk.extend([orthogonal(nn.Linear(width, next_width)), nn.ReLU()])
        self.actions = actions
        self.change = nn.Linear(hidden[-1], actions or 1)
        nn.init.zeros_(self.change.weight)
        nn.init.zeros_(self.change.bias)

    def forward(self, observation: Tensor, centralised: Tensor, values: Tensor) -> Tensor:
        """Values from all that is seen, (B, N) and (B, K), and the network's values (B,).

        They are those of positions, (B,), or of the actions there, (B, A).
        """
        whole = torch.cat([observation, centralised], -1)
        if self.forms:
            no_actions = torch.zeros((len(whole), 0), dtype=torch.bool, device=whole.device)
            whole = self.forms(whole, no_actions).observations
        changes = self.change(self.trunk(self.input_scaling(whole)))
        if self.actions:
            return values.detach().unsqueeze(-1) + changes
        return values.detach() + changes.squeeze(-1)


def values_of(values: Tensor, actions: Tensor) -> Tensor:
    """The values (B,) of these actions, out of (B, A); values (B,) are those of any action."""
    return values if values.dim() == 1 else values.gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def forms_of_all(forms: Forms, variant: Variant) -> Forms:
    """The forms of all that a critic sees: what the network sees, and the others in the same form.

    A critic knows no actions.
    """
    others = forms.entries.shape[1] + relabelled_others(variant)
    return Forms(forms.keys, np.hstack([forms.entries, others]), forms.actions[:, :0])
