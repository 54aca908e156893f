"""`hanamachi dataset`."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hanamachi.training.cli.notes import note
from hanamachi.training.cli.options import GameId, GameOptions, Processes, Seed, options_of
from hanamachi.training.cli.terminal import say, written


def dataset(
    game: GameId,
    policies: Annotated[
        list[str],
        typer.Option("--policy", help="Who plays; repeat it for two that exchange their seats."),
    ],
    out: Annotated[
        Path,
        typer.Option(help="Folder of the dataset; the same command continues one that stopped."),
    ],
    games: Annotated[int, typer.Option(min=1, help="Number of games.")] = 1_000,
    seed: Seed = 0,
    play: Annotated[Literal["sample", "argmax"], typer.Option(help="How they choose.")] = "sample",
    judge: Annotated[
        str | None,
        typer.Option(
            help="A search that gives each action a value: search:improve:expert:worlds=64."
        ),
    ] = None,
    processes: Processes = 1,
    options: GameOptions = None,
) -> None:
    """Write games as Parquet files, one row for each move (extra: data)."""
    from hanamachi.training.dataset import make
    from hanamachi.training.evaluation.progress import GamesBar

    own = options_of(make, options)
    with GamesBar() as watch:
        how: dict[str, Any] = {"play": play, "judge": judge, "processes": processes}
        figures = make(game, policies, games, out, seed, watch=watch, **how, **own)
    if watch.ended_before:
        note(f"these games were played before; to play them again, delete {out}")
    say(figures.in_words(policies))
    written(out)
