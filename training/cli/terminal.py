"""What commands print on the terminal, and what they read from it."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from hanamachi.errors import UserError
from hanamachi.limits import LINE
from hanamachi.training.cli.notes import note

LONGEST_LINE = 100 * LINE  # characters that are passed over to find the end of a line

NARROWEST = 20  # columns, whatever COLUMNS says
TABLE_WIDTH = 80  # columns of the pictures of a table, and of the lines beside them
LEAVE = ("quit", "exit", "q")  # what a person types to leave

console = Console(emoji=False)
if console.width < NARROWEST:
    console.width = NARROWEST


def show(content: Any, tables: Any, as_json: bool) -> None:
    """Print results: as tables, or as JSON."""
    if as_json:
        print(json.dumps(content, indent=2))
    else:
        console.print(tables, highlight=False)


def say(text: str | Text) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def written(*paths: Path) -> None:
    """Say which files were written."""
    for path in paths:
        note(f"written: {path}")


def note_if_narrow() -> None:
    """Say that the lines of a table are longer than those of this terminal, if they are."""
    columns = get_terminal_size().columns
    if columns < TABLE_WIDTH:
        note(
            f"tables have up to {TABLE_WIDTH} columns, and this terminal has {columns}: make it "
            "wider"
        )


def ask(prompt: str) -> str:
    """A line from the terminal, with a history of lines if the platform has one.

    A line that is too long is asked for again.
    """
    with suppress(ImportError):
        import readline  # noqa: F401
    while True:
        try:
            return input(prompt) if sys.stdin and sys.stdin.isatty() else line_of(sys.stdin, prompt)
        except UserError as too_long:
            say(f"{str(too_long).capitalize()}.")
        except (EOFError, KeyboardInterrupt):
            say("")  # the next output begins a new line
            raise


def line_of(stream: TextIO | None, prompt: str) -> str:
    """A line of a file; EOFError after its last, or where a line seems to have no end.

    One that is too long is passed over: UserError.
    """
    print(prompt, end="", flush=True)
    line = stream.readline(LINE + 1) if stream else ""
    if stream and len(line) > LINE and not line.endswith("\n"):
        if stream.readline(LONGEST_LINE).endswith("\n"):
            raise UserError(f"a line has at most {LINE:,} characters")
        raise EOFError
    if not line:
        raise EOFError
    return line.removesuffix("\n")
