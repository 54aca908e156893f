"""`variant` finds a rule set by its id, or by the name of a small version."""

import pytest

from hanamachi.errors import UserError
from hanamachi.games.registry import GAMES, VARIANTS, variant
from hanamachi.games.small import SMALL, small_versions
from hanamachi.policies import load_policy

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("name", SMALL)
def test_the_name_of_a_small_version_stands_for_its_variant_and_options(name: str) -> None:
    small = SMALL[name]
    assert variant(name) == variant(small.id, **small.options)
    assert load_policy("random", name).variant == variant(name)


def test_options_replace_those_of_a_small_version() -> None:
    changed = variant("hanamikoji-gifts", starter=1)
    assert changed.options == {**variant("hanamikoji-gifts").options, "starter": 1}
    assert load_policy("random", "hanamikoji-gifts", starter=1).variant == changed


def test_every_game_has_small_versions_and_no_variant_has_their_names() -> None:
    names = [name for game in GAMES for name in small_versions(game)]
    assert sorted(names) == sorted(SMALL)
    assert all(small_versions(game) for game in GAMES)
    assert not SMALL.keys() & {*VARIANTS, *GAMES}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("hanamikoji-gift", "did you mean hanamikoji-gifts"),
        ("hanamikoji:three", "did you mean hanamikoji:three_rounds"),
        ("chess", "choose from"),
        (7, "choose from"),
        (["hanamikoji"], "choose from"),
    ],
)
def test_an_unknown_game_is_refused_with_the_nearest_name(wrong: object, hint: str) -> None:
    with pytest.raises(UserError, match=hint):
        variant(wrong)  # type: ignore[arg-type]
