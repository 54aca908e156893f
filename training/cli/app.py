"""All commands of `hanamachi`, in the order in which `--help` lists them."""

from typing import Annotated

import typer

from hanamachi.training.cli.commands.arena import arena
from hanamachi.training.cli.commands.benchmark import benchmark
from hanamachi.training.cli.commands.dataset import dataset
from hanamachi.training.cli.commands.evaluate import evaluate
from hanamachi.training.cli.commands.exploit import exploit
from hanamachi.training.cli.commands.export import export
from hanamachi.training.cli.commands.games import games
from hanamachi.training.cli.commands.play import play
from hanamachi.training.cli.commands.replay import replay
from hanamachi.training.cli.commands.serve import serve
from hanamachi.training.cli.commands.sweep import sweep
from hanamachi.training.cli.commands.train import train
from hanamachi.training.cli.commands.warmup import warmup

COMMANDS = (
    train,
    sweep,
    evaluate,
    dataset,
    arena,
    export,
    exploit,
    play,
    serve,
    replay,
    games,
    warmup,
    benchmark,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("hanamachi"))
        raise typer.Exit


@app.callback()
def hanamachi(
    asked: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Card games with hidden information: train policies, evaluate them, play against them."""


for command in COMMANDS:
    app.command()(command)
