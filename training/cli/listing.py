"""The list of games, variants, options and agents: as tables, or as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from hanamachi.engine.game import Game
from hanamachi.errors import unknown
from hanamachi.games.registry import GAMES, VARIANTS
from hanamachi.policies.load import ships
from hanamachi.training.tables import whole_table


def variants(wanted: str | None) -> list[str]:
    """The ids of all variants, of one game's, or of one variant; UserError for another name."""
    if wanted is None or wanted in GAMES:
        return [id for id, game in VARIANTS.items() if wanted in (None, game.name)]
    if wanted not in VARIANTS:
        raise unknown("game", wanted, {*GAMES, *VARIANTS})
    return [wanted]


def as_json(ids: Sequence[str]) -> list[dict[str, Any]]:
    """Each variant with its options, their defaults and meanings."""
    return [
        {
            "id": id,
            "game": VARIANTS[id].name,
            "title": VARIANTS[id].title,
            "cooperative": VARIANTS[id].cooperative,
            "agent": ships(id),
            "options": {
                name: {"default": value, "meaning": VARIANTS[id].options[name]}
                for name, value in VARIANTS[id].variants[id].items()
            },
        }
        for id in ids
    ]


def tables(ids: Sequence[str]) -> Group:
    """A table of options for each game."""
    parts: list[Any] = []
    for game in dict.fromkeys(VARIANTS[id].name for id in ids):
        own = [id for id in ids if VARIANTS[id].name == game]
        marked = ", ".join(id + "*" * ships(id) for id in own)
        title = Text.assemble((GAMES[game].title, "bold"), f": {marked}")
        parts += [title, options_table(GAMES[game], own)]
    note = ["* a trained agent ships with the package"] if any(map(ships, ids)) else []
    return Group(*parts, *note)


def options_table(game: Game, ids: Sequence[str]) -> Table:
    """The options of these variants: default, other defaults, meaning, and which ones have it."""
    table = whole_table("option", "default", "meaning")
    for name, meaning in game.options.items():
        defaults = {id: game.variants[id][name] for id in ids if name in game.variants[id]}
        if not defaults:
            continue
        usual = next(iter(defaults.values()))
        unusual = [f"{id}: {spelled(v)}" for id, v in defaults.items() if v != usual]
        short = ", ".join(id.removeprefix(f"{game.name}:") for id in defaults)
        only = [f"only in {short}"] if len(defaults) < len(ids) else []
        cells = "\n".join([spelled(usual), *unusual]), "\n".join([meaning, *only])
        table.add_row(name, *map(escape, cells))
    return table


def spelled(value: Any) -> str:
    """A value as `--set` reads it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spelled, value))}]"
    return str(value)
