"""The games' names in the registries of Gymnasium and PettingZoo.

Gymnasium makes any variant of a game by the game's id, with the keyword `game`, and each variant by
an id of its own.
"""

from functools import partial
from importlib.util import find_spec
from typing import Any

import gymnasium
import pettingzoo

from hanamachi.adapters.aec import make
from hanamachi.engine.game import Game
from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.games.small import spelled_out
from hanamachi.rendering.frames import RENDER_MODES


def register(game: Game) -> None:
    """Enter a game and its variants; options are keywords of `make`."""
    register_in_gymnasium(game.name, list(game.variants))
    for id in game.variants:
        if id != game.name:
            register_in_gymnasium(id, [id])
    if hasattr(pettingzoo, "register"):  # since PettingZoo 1.27
        name = f"{game.name}_v0"
        own = find_spec(f"hanamachi.{name}")  # a module whose options are those of the game
        general = partial(make, next(iter(game.variants)))
        entry_point = f"hanamachi.{name}:env" if own else general
        pettingzoo.register("aec", f"hanamachi/{name}", entry_point=entry_point)


def register_in_gymnasium(name: str, variants: list[str]) -> None:
    """Enter what a name stands for; the first variant is played unless `game` is another."""
    gymnasium.register(
        id=gymnasium_id(name),
        entry_point="hanamachi.adapters.registration:one_game",
        vector_entry_point="hanamachi.adapters.registration:many_games",
        kwargs={"game": variants[0], "variants": variants},
    )


def gymnasium_id(name: str) -> str:
    """The id in Gymnasium: hanamachi/HanamikojiThreeRounds-v0 for hanamikoji:three_rounds."""
    words = name.replace(":", "_").split("_")
    return f"hanamachi/{''.join(word[0].upper() + word[1:] for word in words)}-v0"


def one_game(game: str, variants: list[str], **settings: Any) -> gymnasium.Env[Any, Any]:
    """What `gymnasium.make` makes."""
    from hanamachi.adapters.gymnasium import SeatEnv

    return SeatEnv(checked_game(game, variants), **settings)


# Gymnasium reads it before it calls `one_game`, to wrap what collects frames in lists
one_game.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # type: ignore[attr-defined]


def many_games(
    game: str, variants: list[str], **settings: Any
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """What `gymnasium.make_vec` makes."""
    from hanamachi.adapters.gymnasium_vector import VectorSeatEnv

    return VectorSeatEnv(checked_game(game, variants), **settings)


def checked_game(game: str, variants: list[str]) -> str:
    """The id of the variant to play; UserError if this id of Gymnasium stands for others."""
    played, _ = spelled_out(game, {})
    if isinstance(played, str) and played in VARIANTS and played not in variants:
        other = gymnasium_id(played)
        raise UserError(f"{game} is {other}; this id is for {' and '.join(variants)}")
    return game
