"""The RULES.md of every game: its options and its observation are those in use."""

from typing import Any

import pytest
from rules_pages import printed

from hanamachi.games.hanabi import HAND_SIZES
from hanamachi.games.registry import GAMES, variant

pytestmark = pytest.mark.uncompiled

SHOWN = {  # the variant whose observation is printed
    "hanamikoji": "hanamikoji",
    "geishas_road": "geishas_road:advanced",
    "hanabi": "hanabi:2p",
}
every_game = pytest.mark.parametrize("game", GAMES)


def defaults(game: str) -> dict[str, Any]:
    """Each option's default, where variants differ that of the first."""
    later_first = reversed(GAMES[game].variants.values())
    return {name: value for options in later_first for name, value in options.items()}


def spelled(name: str, value: Any) -> str:
    """A default as the pages spell it."""
    if name == "actions":
        return "all four"
    if name == "hand_size":  # by players
        return " or ".join(dict.fromkeys(map(str, HAND_SIZES.values())))
    return f'"{value}"' if isinstance(value, str) else str(value)


@every_game
def test_every_option_is_explained_with_its_default(game: str) -> None:
    rows = [row.split("|") for row in printed(game, "options").splitlines()[2:]]
    explained = {name.strip("` "): text.replace("`", "").strip() for _, name, text, *_ in rows}
    assert explained == {name: spelled(name, value) for name, value in defaults(game).items()}
    assert explained.keys() == GAMES[game].options.keys()


@every_game
def test_the_printed_observation_is_the_one_in_use(game: str) -> None:
    assert printed(game, "observation") == variant(SHOWN[game]).observation.markdown()
