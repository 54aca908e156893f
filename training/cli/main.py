"""The entry of the command line: a user's mistake ends in one sentence and exit code 2."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from hanamachi.errors import UserError, missing_extra

MISTAKE, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `hanamachi` with these arguments, by default those of the process, and exit."""
    sys.path.append(os.getcwd())  # to import a user's own module:factory from there
    given = sys.argv[1:] if arguments is None else list(arguments)
    sys.exit(run(lambda: app()(given or ["--help"], prog_name="hanamachi", standalone_mode=False)))


def app() -> Any:
    from hanamachi.training.cli.commands import app

    return app


def run(command: Callable[[], Any]) -> int:
    """Call `command`; returns the exit code, and prints an error on stderr."""
    try:
        code = command() or 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ModuleNotFoundError as error:
        code = complain(str(missing_extra(installed_elsewhere(error), "train")))
    except Exception as error:
        code = complain(sentence(error))
    if code == INTERRUPTED:
        print("hanamachi: interrupted", file=sys.stderr)
    return int(code)


def complain(words: str) -> int:
    print(f"hanamachi: {words}", file=sys.stderr)
    return MISTAKE


def installed_elsewhere(error: ModuleNotFoundError) -> str:
    """The package that is missing; a missing module of ours is a bug, and is raised."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "hanamachi"):
        raise error
    return package


def sentence(error: Exception) -> str:
    """The error message for a user; an error that no user can cause is raised."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; ask for fewer games or a smaller network"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if hasattr(error, "format_message"):  # typer's, whose class moved between its versions
        return f"{error.format_message().rstrip('.')} (see hanamachi --help)"
    raise error


if __name__ == "__main__":
    main()
