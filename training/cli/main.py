"""The entry of the command line: a user's mistake ends in one sentence and exit code 2.

Ctrl-C and SIGTERM end in one sentence too, with the exit codes that shells give them.
"""

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hanamachi.errors import UserError, missing_extra

MISTAKE, INTERRUPTED, TERMINATED = 2, 130, 143
STOPPED = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}
RESUMABLE = "train", "sweep", "exploit"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `hanamachi` with these arguments, by default those of the process, and exit."""
    sys.path.append(os.getcwd())  # to import a user's own module:factory from there
    given = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_sigterm():
        code = run(lambda: app()(given or ["--help"], prog_name="hanamachi", standalone_mode=False))
    if code in STOPPED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # there is nothing left to interrupt
        print(f"hanamachi: {STOPPED[code]}{how_to_resume(given)}", file=sys.stderr)
    sys.exit(code)


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the command as an exception does, so that what it began is put away.

    A handler that is there already stays, as does one that a library such as Ray installs later.
    """

    def terminate(number: int, frame: FrameType | None) -> None:
        sys.exit(TERMINATED)

    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def app() -> Any:
    from hanamachi.training.cli.commands import app

    return app


def run(command: Callable[[], Any]) -> int:
    """Call `command`; returns the exit code, and prints an error on stderr."""
    try:
        return int(command() or 0)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ended:  # by SIGTERM; Ray's handler exits with the signal's number
        return TERMINATED if ended.code in (TERMINATED, signal.SIGTERM) else int(ended.code or 0)
    except ModuleNotFoundError as error:
        return complain(str(missing_extra(installed_elsewhere(error), "train")))
    except Exception as error:
        return complain(sentence(error))


def how_to_resume(given: Sequence[str]) -> str:
    """The command that resumes what these arguments began, if anything can be resumed."""
    if not given or given[0] not in RESUMABLE or "--exact" in given:
        return ""
    again = given if "--resume" in given else [*given, "--resume"]
    return f"; to resume: {shlex.join(['hanamachi', *again])}"


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
