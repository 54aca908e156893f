"""`hanamachi replay`: in the terminal, in the browser, or as a file."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from hanamachi.errors import UserError
from hanamachi.limits import MOVE_SECONDS
from hanamachi.training.cli.commands.serve import serve_table
from hanamachi.training.cli.options import refuse_unused
from hanamachi.training.cli.terminal import LEAVE, ask, note_if_narrow, say, written

if TYPE_CHECKING:
    from hanamachi.sessions.saved_games import Record


def replay(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A saved game, notation, or JSON of hanab.live."),
    ],
    whole: Annotated[bool, typer.Option("--all", help="Print all of it at once.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a file instead: an animation as NAME.svg or NAME.gif (extra: render), the "
            "game as NAME.txt (notation), NAME.json or NAME.hanab.json (hanab.live)."
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=MOVE_SECONDS, help="Time for each move in OUT.")
    ] = 1.0,
    web: Annotated[
        bool, typer.Option("--web", help="Open it in the browser, to review it (extra: serve).")
    ] = False,
) -> None:
    """Step through a game, with all hands visible, or write it as an animation or as text."""
    from hanamachi.sessions.notation import load_game
    from hanamachi.storage.files import refuse_existing

    if web:
        refuse_unused(context, {"--out", "--seconds", "--all"}, "--web opens the browser")
    elif out:
        refuse_unused(context, {"--all"}, "--out writes a file and prints nothing")
        refuse_existing(out)
    else:
        refuse_unused(context, {"--seconds"}, "only a file written with --out takes time")
    record = load_game(file)
    if web:
        review_in_browser(record)
    elif out:
        write_out(record, out, seconds)
    else:
        step_through(record, whole)


def review_in_browser(record: "Record") -> None:
    with TemporaryDirectory(prefix="hanamachi-") as folder:
        serve_table([], "127.0.0.1", 0, Path(folder), "Review this game", True, record)


def write_out(record: "Record", out: Path, seconds: float) -> None:
    """Write an animation or a text, as the end of the file's name says."""
    from hanamachi.sessions.animation import KINDS, animate
    from hanamachi.sessions.notation import WRITTEN, write_game

    if out.suffix.lower() in KINDS:
        animate(record, out, seconds)
    elif out.name.lower().endswith(WRITTEN):
        write_game(record, out)
    else:
        ways = ", ".join((*WRITTEN, *KINDS))
        raise UserError(f"the name of a game's file ends in one of {ways}; {out.name} does not")
    written(out)


def step_through(record: "Record", whole: bool) -> None:
    """Print one position after another; unless `whole`, wait for Enter between them."""
    from hanamachi.rendering.parts import render_part
    from hanamachi.sessions.saved_games import positions

    note_if_narrow()
    variant, before = record.variant, None
    text, round_end = render_part(variant, "text"), render_part(variant, "round_end")
    for number, (position, words) in enumerate(positions(record)):
        prompt = f"[{number}/{len(record.actions)}] Enter continues, q quits "
        if number and not whole and left(prompt):
            break
        ended = "" if before is None else round_end(variant, before, record.actions[number - 1])
        table = text(variant, position)
        say("\n\n".join(part for part in (words, ended, table) if part))
        before = position


def left(prompt: str) -> bool:
    """Wait for Enter; returns whether the user quits."""
    try:
        return ask(prompt).strip().lower() in LEAVE
    except EOFError:
        return True
