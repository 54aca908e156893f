"""`hanamachi benchmark`."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hanamachi.training.cli.options import AsJson, refuse_unused
from hanamachi.training.cli.terminal import show, written
from hanamachi.training.defaults import MOST_GAMES, ROUND_SECONDS, ROUNDS


def benchmark(
    context: typer.Context,
    kinds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND]...",
            help="engine, adapters, training, evaluation, scale, memory, start, search, cluster; "
            "all by default.",
        ),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Option(
            "--game", help="Id of a variant; repeat it for several. hanamikoji by default."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is measured.")] = ROUNDS,
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Shortest time of a round in engine, adapters and training."),
    ] = ROUND_SECONDS,
    most: Annotated[
        int, typer.Option(min=2, help="Most games at once in evaluation, scale and memory.")
    ] = MOST_GAMES,
    device: Annotated[
        Literal["cpu", "cuda", "mps"], typer.Option(help="Device of the network in training.")
    ] = "cpu",
    out: Annotated[
        Path | None, typer.Option(help="Folder for benchmark.json and benchmark.png.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how fast the engine, its adapters and training run here (extra: train)."""
    from hanamachi.training.benchmark import KINDS, check_kinds, run
    from hanamachi.training.benchmark.report import check_place, tables, write

    effort: dict[str, Any] = {"rounds": rounds, "seconds": seconds, "most": most, "device": device}
    check_kinds(kinds or ())
    refuse_idle(context, kinds or KINDS)
    if out:
        check_place(out)  # before minutes of work
    report = run(kinds or KINDS, games or ["hanamikoji"], **effort)
    show(report.as_json(), tables(report), as_json)
    written(*(write(report, out) if out else ()))


def refuse_idle(context: typer.Context, kinds: Collection[str]) -> None:
    """UserError if an option was given that none of these kinds takes."""
    from hanamachi.training.benchmark import TAKEN_BY

    for option, takers in TAKEN_BY.items():
        if not set(kinds) & set(takers):
            refuse_unused(context, {f"--{option}"}, f"only {', '.join(takers)} can take it")
