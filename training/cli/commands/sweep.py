"""`hanamachi sweep`."""

from pathlib import Path
from typing import Annotated

import typer

from hanamachi.training.cli.options import AsJson, Settings
from hanamachi.training.cli.terminal import show, written


def sweep(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file with ranges.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the trials; runs/NAME for NAME.yaml by default.")
    ] = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the sweep in OUT.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search for settings on a Ray cluster; writes OUT/best.yaml (extras: train, ray)."""
    from hanamachi.training import sweep

    best, trials = sweep.sweep(config, out or Path("runs", config.stem), resume, settings or ())
    show([trial.as_json() for trial in trials], sweep.table(trials), as_json)
    written(best)
