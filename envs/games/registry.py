"""The table of games, and the way from an id to a rule set that is ready to play."""

from functools import lru_cache
from typing import Any

from hanamachi.engine.game import Game, Variant
from hanamachi.errors import UserError, nearest, shown, unknown
from hanamachi.games import geishas_road, hanabi, hanamikoji
from hanamachi.games.small import SMALL, spelled_out

GAMES: dict[str, Game] = {
    game.name: game for game in (hanamikoji.GAME, geishas_road.GAME, hanabi.GAME)
}
VARIANTS: dict[str, Game] = {id: game for game in GAMES.values() for id in game.variants}


def variant(id: str, /, **options: Any) -> Variant:
    """The rule set of this id, such as "hanamikoji:three_rounds", with options of its own.

    The name of a small version, such as "hanamikoji-gifts", stands for a variant and its options.
    Raises UserError for an id or an option that does not exist, or a value that does not fit.
    """
    id, options = spelled_out(id, options)
    if isinstance(id, str) and id in GAMES and id not in VARIANTS:
        raise UserError(f"{id} has several variants; choose {' or '.join(GAMES[id].variants)}")
    if not isinstance(id, str) or id not in VARIANTS:
        similar = nearest(id, [*VARIANTS, *SMALL])
        raise unknown("game", id, [similar] if similar else VARIANTS)
    defaults = VARIANTS[id].variants[id]
    for name in options:
        if name not in defaults:
            raise unknown(f"option of {id}", name, defaults)
    chosen = {**defaults, **options}
    return _built(id, **{name: _fixed(name, value) for name, value in chosen.items()})


def changed_options(given: Variant) -> dict[str, Any]:
    """The options in which a variant differs from its defaults."""
    usual = variant(given.id).options
    return {name: value for name, value in given.options.items() if value != usual[name]}


def _fixed(name: str, value: Any) -> Any:
    """An option's value, its lists made tuples."""
    listed = isinstance(value, list | tuple)
    values = value if listed else (value,)
    if not all(isinstance(v, int | float | str | None) for v in values):
        from_numpy = any(type(v).__module__ == "numpy" for v in values)
        kind = ", of Python and not of numpy" if from_numpy else ""
        raise UserError(
            f"{name} must be a number, a text or a list of them{kind}, not {shown(value)}"
        )
    return tuple(values) if listed else value


@lru_cache(maxsize=64, typed=True)  # typed, so that True is not taken for 1
def _built(id: str, **options: Any) -> Variant:
    game = VARIANTS[id]
    return Variant(id, game, *game.build(**game.fixed.get(id, {}), **options))
