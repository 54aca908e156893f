"""`hanamachi evaluate`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanamachi.errors import UserError
from hanamachi.training.cli.notes import note
from hanamachi.training.cli.options import (
    FORMS,
    AsJson,
    GameOption,
    GameOptions,
    OnRay,
    Processes,
    Seed,
    mapper,
    options_of,
    was_given,
)
from hanamachi.training.cli.terminal import show, written
from hanamachi.training.defaults import EVALUATION_GAMES

if TYPE_CHECKING:
    from hanamachi.training.evaluation.results import Evaluation


def evaluate(
    context: typer.Context,
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="POLICY...",
            help=f"{FORMS}. At least two, or one with --against or if the game is cooperative.",
        ),
    ],
    game: GameOption = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy that each POLICY plays, instead of the other POLICYs. Repeat it for "
            "several; all means every rule policy of the game.",
        ),
    ] = None,
    games: Annotated[
        int,
        typer.Option(
            help="Games of each pairing in each way of play; required with a language model."
        ),
    ] = EVALUATION_GAMES,
    seed: Seed = 0,
    play: Annotated[str, typer.Option(help="sample, argmax or both.")] = "both",
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Print every pairing, also of more than 5 policies.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop when a policy fails; else it forfeits the game.")
    ] = False,
    judge: Annotated[
        int,
        typer.Option(
            help="Let a search estimate what moves lose, in this many worlds, 2 or more; slow."
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of evaluation.json, .csv, .html and .png, and of the games played: the "
            "same command resumes from there."
        ),
    ] = None,
    replays: Annotated[
        bool, typer.Option("--replays", help="Keep each game in the folder, too, to replay it.")
    ] = False,
    options: GameOptions = None,
    processes: Processes = 1,
    on_ray: OnRay = False,
    as_json: AsJson = False,
) -> None:
    """Play policies against each other on identical deals; report win rates or mean scores."""
    from hanamachi.training.evaluation.matches import GAMES_FOLDER, evaluate
    from hanamachi.training.evaluation.progress import ShowGames

    if out:  # which needs an extra: better missed before the games than after them
        from hanamachi.training.evaluation.files import write
    if matrix and against:
        raise UserError("--matrix shows a round robin, and --against plays none: leave out one")
    how: dict[str, Any] = {"opponents": against or (), "play": play}  # checked by evaluate
    ask_for_games(context, [*policies, *how["opponents"]])
    id, own = (game, {}) if game else known_game([*policies, *how["opponents"]])
    how |= own | options_of(evaluate, options)
    how |= {"strict": strict, "judge": judge, "out": out, "replays": replays}
    with ShowGames() as watch, mapped(games, processes, on_ray) as many:
        evaluation = evaluate(policies, id, games, seed, watch=watch, **many, **how)
    show_evaluation(evaluation, matrix, as_json)
    if out:
        if watch.ended_before:
            note(f"these games were played before; to play them again, delete {out / GAMES_FOLDER}")
        written(*write(evaluation, out))


@contextmanager
def mapped(games: int, processes: int, on_ray: bool) -> Iterator[dict[str, Any]]:
    """How this many games are divided, and what maps their parts: here, or on a Ray cluster."""
    from hanamachi.training.evaluation.plan import batch_size
    from hanamachi.training.workers import map_by

    if on_ray:
        from hanamachi.training.cluster import processors

        if processes > 1:
            raise UserError("--ray uses all processors of the cluster: leave out --processes")
        yield {"mapper": mapper(on_ray), "batch": batch_size(games, processors())}
        return
    with map_by(processes) as mapping:
        batch = {"batch": batch_size(games, processes)} if processes > 1 else {}
        yield {"mapper": mapping, **batch}


def ask_for_games(context: typer.Context, policies: Sequence[str]) -> None:
    """UserError if language models, which are slow or paid for, would play the default number."""
    from hanamachi.policies.names import MODEL

    models = any(policy.startswith(MODEL) for policy in policies)
    if models and not was_given(context, "games"):
        raise UserError(
            "a language model takes long: say how many games it plays, as with --games 20; add "
            "--play sample, else they are played twice"
        )


def known_game(policies: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The variant's id and options that the first policy with a game of its own plays."""
    from hanamachi.policies.load import load_policy
    from hanamachi.policies.names import knows_its_game

    for policy in filter(knows_its_game, policies):
        variant = load_policy(policy).variant
        return variant.id, dict(variant.options)
    raise UserError("none of these policies has a game of its own: name one with --game")


def show_evaluation(evaluation: "Evaluation", matrix: bool, as_json: bool) -> None:
    from hanamachi.training.evaluation import report
    from hanamachi.training.evaluation.ranking import forfeit_notes

    show(evaluation.as_json(), report.tables(evaluation, matrix), as_json)
    for words in forfeit_notes(evaluation) if as_json else ():
        note(words)
