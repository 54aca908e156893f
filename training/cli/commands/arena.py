"""`hanamachi arena`: a tournament of bots, or how exploitable each of them is."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanamachi.errors import UserError
from hanamachi.limits import WORKERS
from hanamachi.training.cli.notes import note
from hanamachi.training.cli.options import (
    FORMS,
    AsJson,
    GameOptions,
    Seed,
    assignments,
    refuse_unused,
)
from hanamachi.training.cli.terminal import console, show, written
from hanamachi.training.defaults import (
    DECISION_SECONDS,
    MATCH_GAMES,
    MEGABYTES,
    PROCESSOR_SECONDS,
)

if TYPE_CHECKING:
    from hanamachi.engine.game import Variant


def arena(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the bots.")],
    game: Annotated[str | None, typer.Option("--game", help="Id of a variant.")] = None,
    grade: Annotated[
        str | None,
        typer.Option(
            help="Instead of a tournament, measure how exploitable each bot is in this small "
            "version of a game, such as hanamikoji-gifts."
        ),
    ] = None,
    games: Annotated[int, typer.Option(help="Games of each match.")] = MATCH_GAMES,
    swiss: Annotated[
        int | None,
        typer.Option(
            metavar="ROUNDS",
            help="Number of rounds, paired by the scores so far; otherwise all meet all.",
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="Time for each decision.")] = (
        DECISION_SECONDS
    ),
    clock: Annotated[
        float | None,
        typer.Option(
            min=0.01, help="Seconds for all decisions of a bot in a game; no limit by default."
        ),
    ] = None,
    memory: Annotated[
        int, typer.Option(min=16, help="Megabytes of each process (Linux).")
    ] = MEGABYTES,
    cpu: Annotated[
        int, typer.Option(min=1, help="Seconds of processor time of each process.")
    ] = PROCESSOR_SECONDS,
    others: Annotated[
        list[str] | None,
        typer.Option("--with", help=f"A policy that plays too; may be repeated. {FORMS}."),
    ] = None,
    seed: Seed = 0,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, max=WORKERS, help="Matches played at once; one for each processor by default."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of index.html, players.csv and the games played; runs/NAME for a FOLDER "
            "called NAME by default. The same command resumes from there."
        ),
    ] = None,
    options: GameOptions = None,
    as_json: AsJson = False,
) -> None:
    """Let all bots of a folder play each other; write a page with ladder and games."""
    from hanamachi.games.registry import variant
    from hanamachi.policies.external.bot import Limits

    if game and grade:
        raise UserError(f"give --game or --grade, not both: {grade} already names its game")
    if game is None and grade is None:
        raise UserError("name the game of a tournament with --game, or a small one with --grade")
    if grade:
        tournament = {"--set", "--games", "--swiss", "--clock", "--seed", "--processes"}
        refuse_unused(context, tournament, "--grade plays no games")
    place = out or Path("runs", Path(os.path.abspath(folder)).name)
    limits = Limits(seconds, memory, waits=True, clock=clock, cpu=cpu)
    how: dict[str, Any] = {"limits": limits, "others": others or ()}
    if game is None:
        grade_bots(folder, str(grade), place, how, as_json)
        return
    how |= {"games": games, "seed": seed, "swiss": swiss, "processes": processes}
    hold_tournament(folder, variant(game, **assignments(options)), place, how, as_json)


def hold_tournament(
    folder: Path, variant: "Variant", out: Path, how: dict[str, Any], as_json: bool
) -> None:
    from hanamachi.training.arena.page import write
    from hanamachi.training.arena.tournament import play_tournament
    from hanamachi.training.evaluation import report
    from hanamachi.training.evaluation.progress import ShowGames

    with ShowGames() as watch:
        played = play_tournament(folder, variant, out, watch=watch, **how)
    files = write(played, out)
    show(played.evaluation.as_json(), report.tables(played.evaluation), as_json)
    list_others(played.passed_over)
    written(*files)


def grade_bots(folder: Path, small: str, out: Path, how: dict[str, Any], as_json: bool) -> None:
    from hanamachi.training.arena.bots import bots_in
    from hanamachi.training.arena.grade import grade, place_for, tables, write

    with place_for(out, folder, small, **how):
        with console.status("the bots are asked about every position"):
            grades = grade(folder, small, **how)
        files = write(grades, out)
    show(grades.as_json(), tables(grades), as_json)
    list_others(bots_in(folder)[1])
    written(*files)


def list_others(names: Sequence[str]) -> None:
    """Say which files and folders of the bots' folder are no bots."""
    for name in names:
        note(
            f"{name} is no bot: these are .py files, .js files if Node.js is installed, other "
            "executables, and folders with a program run"
        )
