"""`hanamachi serve`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hanamachi.errors import missing_extra
from hanamachi.training.cli.terminal import say
from hanamachi.training.failures import missing_package

if TYPE_CHECKING:
    from hanamachi.sessions.saved_games import Record


def serve(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POLICY]...", help="Names or checkpoints that may be chosen in the browser."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 lets other computers connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8020,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the games; by default in your user data."),
    ] = None,
    browse: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Play, watch and review games in the browser (extra: serve)."""
    serve_table(policies or [], host, port, data, "Serving", browse)


def serve_table(
    policies: list[str],
    host: str,
    port: int,
    data: Path | None,
    what: str,
    browse: bool,
    record: "Record | None" = None,
) -> None:
    """Serve until stopped; say what is to be found where, and open it in a browser if wanted."""
    try:
        from hanamachi.training.serve import app as server
    except ModuleNotFoundError as error:
        raise missing_extra(missing_package(error), "serve") from None

    def ready(address: str) -> None:
        say(f"{what} at {address} (press Ctrl-C to stop)")
        if browse:
            typer.launch(address)

    server.serve(policies, host, port, data, ready, record)
