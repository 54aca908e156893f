"""`hanamachi train`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hanamachi.errors import UserError
from hanamachi.limits import WORKERS
from hanamachi.training.cli.notes import note
from hanamachi.training.cli.options import Settings
from hanamachi.training.cli.terminal import written

if TYPE_CHECKING:
    from hanamachi.training.config import Config


def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file of the run.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; runs/NAME for NAME.yaml by default.")
    ] = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in OUT.")] = False,
    on_ray: Annotated[
        bool, typer.Option("--ray", help="Run the rollouts on a Ray cluster.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=WORKERS,
            help="Number of workers; by default one for each processor, if each opponent has "
            "enough games, or as many as the run that is resumed has.",
        ),
    ] = None,
) -> None:
    """Train a policy by self-play, evaluate it, and export it to OUT/policy (extra: train)."""
    from hanamachi.training.config import Config
    from hanamachi.training.resume import saved_workers
    from hanamachi.training.run import train
    from hanamachi.training.run_files import CURVE, REPORT
    from hanamachi.training.settings_file import recipe

    if workers and not on_ray:
        raise UserError("--workers is the number of workers on a Ray cluster: add --ray")
    run = Config.load(config, settings or ())
    if (file := recipe(config)) != config:
        note(f"there is no {config} here; the package's is used: {file}")
    out = out or Path("runs", config.stem)
    if on_ray:
        workers = workers or (saved_workers(out) if resume else None) or usual_workers(run)
    policy = train(run, out, resume=resume, workers=workers or 0)
    written(policy, out / REPORT, out / CURVE)


def usual_workers(run: "Config") -> int:
    """One for each processor of the cluster, as long as each opponent has a game for each."""
    from hanamachi.training.build import games_of_each
    from hanamachi.training.cluster import processors

    return min(processors(), *games_of_each(run).values())
