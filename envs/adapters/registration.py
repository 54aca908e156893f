"""The games' names in the registries of Gymnasium and PettingZoo."""

from functools import partial
from importlib.util import find_spec

import gymnasium
import pettingzoo

from hanamachi.adapters.aec import make
from hanamachi.engine.game import Game


def register(game: Game) -> None:
    """Enter a game, as hanamachi/Hanamikoji-v0 and the like; options are keywords of `make`."""
    title = "".join(word.capitalize() for word in game.name.split("_"))
    gymnasium.register(
        id=f"hanamachi/{title}-v0",
        entry_point="hanamachi.adapters.gymnasium:SeatEnv",
        vector_entry_point="hanamachi.adapters.gymnasium_vector:VectorSeatEnv",
        kwargs={"game": next(iter(game.variants))},
    )
    if hasattr(pettingzoo, "register"):  # since PettingZoo 1.27
        name = f"{game.name}_v0"
        own = find_spec(f"hanamachi.{name}")  # a module whose options are those of the game
        general = partial(make, next(iter(game.variants)))
        entry_point = f"hanamachi.{name}:env" if own else general
        pettingzoo.register("aec", f"hanamachi/{name}", entry_point=entry_point)
