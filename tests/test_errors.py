"""A message shows what was given, however large, deep or odd it is, and is short itself."""

import pytest

from hanamachi.errors import SHOWN, UserError, listed, nearest, shown, unknown
from hanamachi.limits import MESSAGE

pytestmark = pytest.mark.uncompiled


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


def endless():
    value = []
    value.append(value)
    return value


class Broken:
    def __repr__(self):
        raise RuntimeError


ODD = [
    10**5_000,
    -(10**5_000),
    [10**5_000],
    deep(),
    endless(),
    {"a": deep()},
    Broken(),
    [0] * 10**6,
]
ODD += ["x" * 10**6, "\ud800", "\0\n", range(10**30), {1: 2, "a": 3}, b"x" * 10**6, None, object]


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
def test_any_value_is_shown_on_one_short_line(value):
    text = shown(value)
    assert 0 < len(text) <= SHOWN
    assert text.isprintable()


@pytest.mark.parametrize("value", [0, -7, 1.5, True, None, "a", [1, 2], (1,), {"a": 1}])
def test_a_short_value_is_shown_as_python_spells_it(value):
    assert shown(value) == repr(value)


class Plain:
    pass


@pytest.mark.parametrize("value", [Plain(), Plain().__init__, [Plain()]])
def test_what_python_spells_by_an_address_is_shown_by_its_type(value):
    assert "0x" not in shown(value)
    assert "type" in shown(value)


def test_where_nothing_is_known_nothing_is_offered():
    assert "choose" not in str(unknown("game", "go", []))


@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
def test_any_unknown_name_gets_a_sentence(name):
    assert len(str(unknown("game", name, ["hanabi"]))) <= MESSAGE


def test_the_nearest_name_is_found_and_a_long_name_is_near_to_none():
    assert nearest("hanbi", ["hanabi", "hanamikoji"]) == "hanabi"
    assert nearest("hanabi" * 10**5, ["hanabi", "hanamikoji"]) is None


def test_an_empty_list_is_its_beginning_alone():
    assert listed("mistakes: ", []) == "mistakes: "
    assert listed("mistakes: ", [], others=2) == "mistakes: 2 more"


def test_an_error_made_of_an_error_has_its_sentence():
    """As Gymnasium makes one of what is raised in another process."""
    assert str(UserError(UserError("do this"))) == "do this"
