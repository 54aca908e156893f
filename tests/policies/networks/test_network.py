"""What networks read about actions is enough to tell these apart."""

import numpy as np
import pytest

from hanamachi import VARIANTS
from hanamachi import variant as make_variant
from hanamachi.policies.networks.network import head_of

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("id", VARIANTS)
def test_no_two_actions_look_alike(id: str) -> None:
    variant = make_variant(id)
    size, head = variant.actions.size, head_of(variant.actions, variant.observation)
    uses = [entities.uses.reshape(size, -1) for entities in head.entities.values()]
    assert len(np.unique(np.hstack([head.features, *uses]), axis=0)) == size
