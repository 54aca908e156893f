"""The list of games, variants, options and agents: as tables, or as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.markup import escape
from rich.table import Table

from hanamachi.engine.game import Game
from hanamachi.errors import unknown
from hanamachi.games.registry import GAMES, VARIANTS, variant
from hanamachi.games.small import SMALL
from hanamachi.policies.agents import PARTNER, PLAYED_BY, ships
from hanamachi.training.tables import whole_table

AGENTS = f"""An agent has the name of its variant, such as hanamikoji.
{PARTNER}: a second agent, to play with people, such as hanabi:3p{PARTNER}."""
MORE = f"""The options of a game and its variants: hanamachi games GAME, such as hanabi
Small versions, to be solved exactly: {", ".join(SMALL)}"""


def variants(wanted: str | None) -> list[str]:
    """The ids of all variants or of one game's, or one variant or small version by its name.

    UserError for another name.
    """
    if wanted is None or wanted in GAMES:
        return [id for id, game in VARIANTS.items() if wanted in (None, game.name)]
    if wanted not in VARIANTS and wanted not in SMALL:
        raise unknown("game", wanted, {*GAMES, *VARIANTS, *SMALL})
    return [wanted]


def as_json(ids: Sequence[str]) -> list[dict[str, Any]]:
    """Each variant with its options, their defaults and meanings."""
    return [
        {
            "id": id,
            "game": rules.game.name,
            "title": rules.game.title,
            "cooperative": rules.game.cooperative,
            "agents": agents_for(id),
            "options": {
                name: {"default": value, "meaning": rules.game.options[name]}
                for name, value in rules.options.items()
            },
        }
        for id, rules in zip(ids, map(variant, ids), strict=True)
    ]


def agents_for(id: str) -> list[str]:
    """The names of the agents that play this variant, the strongest first."""
    return [name for name in (id, id + PARTNER) if ships(name)]


def tables(ids: Sequence[str]) -> Group:
    """A table of the variants; a table of options as well if they are all of one game."""
    games = {variant(id).game.name for id in ids}
    if len(games) > 1:
        return Group(variants_table(ids), AGENTS, MORE)
    return Group(variants_table(ids), AGENTS, options_table(GAMES[games.pop()], ids))


def variants_table(ids: Sequence[str]) -> Table:
    """The variants: their players, whether these play together, and whether an agent ships."""
    table = whole_table("variant", "players", "kind", "trained agent")
    for id in ids:
        kind = "cooperative" if variant(id).game.cooperative else "competitive"
        own = f"that of {PLAYED_BY[id]}" if id in PLAYED_BY else "yes"
        agent = [own if name == id else PARTNER for name in agents_for(id)]
        table.add_row(id, str(variant(id).seats), kind, ", ".join(agent) or "no")
    return table


def options_table(game: Game, ids: Sequence[str]) -> Table:
    """The options of these variants: default, other defaults, meaning, and which ones have it."""
    table = whole_table("option", "default", "meaning")
    options = {id: variant(id).options for id in ids}
    for name, meaning in game.options.items():
        defaults = {id: own[name] for id, own in options.items() if name in own}
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
