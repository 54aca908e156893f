"""What networks are told of the actions is enough to tell them apart."""

import numpy as np
import pytest

from hanamachi import VARIANTS, variant


@pytest.mark.parametrize("id", VARIANTS)
def test_no_two_actions_look_alike(id: str) -> None:
    actions = variant(id).actions
    looks = np.hstack([actions.features, actions.uses.reshape(actions.size, -1)])
    assert len(np.unique(looks, axis=0)) == actions.size
