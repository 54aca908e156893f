"""What networks are told of the actions is enough to tell them apart."""

import numpy as np
import pytest

from hanamachi import VARIANTS, variant
from hanamachi.policies.networks.network import head_of


@pytest.mark.parametrize("id", VARIANTS)
def test_no_two_actions_look_alike(id: str) -> None:
    rules = variant(id)
    size, head = rules.actions.size, head_of(rules.actions, rules.observation)
    uses = [things.uses.reshape(size, -1) for things in head.things.values()]
    assert len(np.unique(np.hstack([head.features, *uses]), axis=0)) == size
