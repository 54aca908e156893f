"""What catalogues of actions have room for, and what they answer to."""

from typing import Any

import numpy as np
import pytest

from hanamachi import UserError
from hanamachi import variant as make_variant
from hanamachi.engine.game import NamedActions

pytestmark = pytest.mark.uncompiled


def test_the_longest_catalogue_fits_the_tables() -> None:
    """Of all item cards that are allowed, these give the most actions."""
    variant = make_variant("hanamikoji", cards=(3,) * 7)
    assert variant.actions.size == 527
    assert variant.rule_set.kind[526] == variant.actions.kind[526]


NO_ACTIONS = [-1, 10**30, True, 0.0, float("nan"), None, "0", b"0", [0], object]


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:standard", "hanabi:2p"])
@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_only_an_action_number_is_described(id: str, action: Any) -> None:
    with pytest.raises(UserError, match="no action"):
        make_variant(id).actions.describe(action)


def test_an_action_of_a_named_catalogue_is_described_by_its_number() -> None:
    actions = NamedActions("keep", "swap")
    assert actions.describe(np.int64(1)) == "swap"  # type: ignore[arg-type]
    with pytest.raises(UserError, match="from 0 to 1"):
        actions.describe(-1)


NO_WORDS = [5, None, b"gift", ["gift"], "", "x" * 10**6, "\ud800"]


@pytest.mark.parametrize("text", NO_WORDS, ids=lambda text: repr(text)[:20])
def test_what_names_no_action_is_refused(text: Any) -> None:
    with pytest.raises(UserError, match="no move"):
        make_variant("hanabi:2p").actions.parse(text)


@pytest.mark.parametrize("game", [5, "a game", {}, object], ids=repr)
def test_an_action_is_described_in_a_game_alone(game: Any) -> None:
    actions = make_variant("hanabi:2p").actions
    with pytest.raises(UserError, match="record"):
        actions.describe(0, game)
    with pytest.raises(UserError, match="record"):
        actions.parse("play 1", game)
