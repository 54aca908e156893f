"""`hanamachi warmup`."""

from typing import Annotated

import typer

from hanamachi.training.cli.terminal import console, say


def warmup(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME]...", help="Names of games; all by default")
    ] = None,
) -> None:
    """Compile all that games need on this computer ahead of time, which takes minutes."""
    from hanamachi.training.cli import warmup

    for name, part, use in warmup.parts(games or None):
        with console.status(f"{name}: {part}"):
            use()
        say(f"{name}: {part} compiled")
