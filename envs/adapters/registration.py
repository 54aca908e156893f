"""The games' names in the registries of Gymnasium and PettingZoo."""

import gymnasium
import pettingzoo

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
        pettingzoo.register(
            "aec", f"hanamachi/{game.name}_v0", entry_point=f"hanamachi.{game.name}_v0:env"
        )
