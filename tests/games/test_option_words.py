"""A refused option speaks of numpy only to who gave it numpy's numbers."""

import numpy as np
import pytest

from hanamachi.errors import UserError
from hanamachi.games.registry import variant


@pytest.mark.parametrize(("value", "told"), [(np.int64(3), True), ({}, False)])
def test_numpy_is_named_where_it_is_the_cause(value: object, told: bool) -> None:
    with pytest.raises(UserError, match="must be a number") as refused:
        variant("hanamikoji", max_rounds=value)
    assert ("of numpy" in str(refused.value)) == told
