"""What catalogues of actions have room for."""

import pytest

from hanamachi import variant as make_variant

pytestmark = pytest.mark.uncompiled


def test_the_longest_catalogue_fits_the_tables() -> None:
    """Of all item cards that are allowed, these give the most actions."""
    variant = make_variant("hanamikoji", cards=(3,) * 7)
    assert variant.actions.size == 527
    assert variant.rule_set.kind[526] == variant.actions.kind[526]
