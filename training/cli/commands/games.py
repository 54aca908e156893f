"""`hanamachi games`."""

from typing import Annotated

import typer

from hanamachi.training.cli.options import AsJson
from hanamachi.training.cli.terminal import show


def games(
    wanted: Annotated[
        str | None,
        typer.Argument(metavar="[GAME]", help="A game or a variant; all games by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the games with their variants and agents, and the options of one game."""
    from hanamachi.training.cli import listing

    variants = listing.variants(wanted)
    show(listing.as_json(variants), listing.tables(variants), as_json)
