"""The entry of the command line: a user's mistake ends in one sentence and exit code 2.

Ctrl-C, SIGTERM and a closed terminal end in one sentence too, with the exit codes that shells give
them.
"""

import errno
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from types import FrameType
from typing import Any

from hanamachi.errors import UserError, missing_extra, shortened, shown
from hanamachi.storage.reading import may_name_a_file
from hanamachi.training.cli.notes import note
from hanamachi.training.failures import is_out_of_memory, missing_package
from hanamachi.training.interruption import ENDING, leave_terminal

MISTAKE, HUNG_UP, INTERRUPTED, TERMINATED = 2, 129, 130, 143
STOPPED = {HUNG_UP: "hung up", INTERRUPTED: "interrupted", TERMINATED: "terminated"}
SOON = 0.1  # seconds; if Python still cleans up then, the hook is called again
FULL = errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)  # Windows has no quota of this name
READER_LEFT = [errno.EINVAL] if sys.platform == "win32" else []  # besides a broken pipe
ELSEWHERE = (  # errors of a name for which another is better
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR,
    errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG,
)  # fmt: skip
RESUMABLE = "train", "sweep", "exploit", "evaluate", "dataset", "arena"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `hanamachi` with these arguments, by default those of the process, and exit."""
    read_and_print_all()
    given = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_signals(), no_signal_lost():
        code = run(lambda: printed(answer(given or ["--help"])))
    if code in STOPPED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # there is nothing left to interrupt
        note(f"hanamachi: {STOPPED[code]}{how_to_resume(given)}")
    sys.exit(code)


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the command as an exception, so that what it began is put away.

    Handlers that are there already stay, as do those that a library such as Ray installs later.
    """

    received: list[int] = []

    def leave(number: int, frame: FrameType | None) -> None:
        leave_terminal(number)
        received.append(number)
        sys.exit(128 + received[0])  # others may follow it; see `no_signal_lost`

    in_main_thread = threading.current_thread() is threading.main_thread()
    free = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    ours = free if in_main_thread else []
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def no_signal_lost() -> Iterator[None]:
    """A signal that comes while Python cleans up, where no exception can get out, comes again."""
    usual = sys.unraisablehook

    def hook(ignored: "sys.UnraisableHookArgs") -> None:
        if isinstance(ignored.exc_value, KeyboardInterrupt | SystemExit):
            interrupted = isinstance(ignored.exc_value, KeyboardInterrupt)
            number = signal.SIGINT if interrupted else signal.SIGTERM
            threading.Timer(SOON, interrupt_main_thread, [number]).start()
        else:
            usual(ignored)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual


def interrupt_main_thread(number: int) -> None:
    """Send a signal to the main thread, which may be waiting."""
    main_thread = threading.main_thread().ident
    if sys.platform == "win32" or main_thread is None:
        signal.raise_signal(number)
    else:
        signal.pthread_kill(main_thread, number)


def read_and_print_all() -> None:
    """Keep undecodable characters and closed pipes from stopping a command."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)
    if sys.stdout is sys.__stdout__:
        sys.stdout = lasting(sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = lasting(sys.stderr, Silent)


class Lasting(FileIO):
    """A pipe or file to write, which drops what nobody reads any more, as after `| head`.

    It drops what follows another error, too, so that the error is raised once.
    """

    ended = False

    def write(self, content: Any) -> int:
        if not self.ended:
            try:
                return super().write(content)
            except OSError as error:
                self.ended = True
                if not isinstance(error, BrokenPipeError) and error.errno not in READER_LEFT:
                    raise
        return len(content)


class Silent(Lasting):
    """For notes, which must not end a command: no error of this pipe or file is raised."""

    def write(self, content: Any) -> int:
        with suppress(OSError):
            return super().write(content)
        return len(content)


def lasting(stream: Any, kind: type[Lasting] = Lasting) -> Any:
    """The same stream, which fails no more if its reader ends; what is no pipe or file stays."""
    if not isinstance(stream, TextIOWrapper) or stream.isatty():
        return stream
    raw: Any = kind(stream.fileno(), "wb", closefd=False)
    return TextIOWrapper(
        raw if stream.write_through else BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def printed(result: Any) -> Any:
    """What a command returns, once all that it printed is written, as no error is seen later."""
    if sys.stdout:  # None if it is closed
        sys.stdout.flush()
    return result


def answer(arguments: Sequence[str]) -> Any:
    """Run the command that the arguments name; returns its exit code."""
    for argument in arguments:
        if not may_name_a_file(argument):
            raise UserError(f"no argument can hold the characters of {argument}")
        option, equals, value = argument.partition("=")
        if not argument or (option.startswith("--") and equals and not value):
            raise UserError(
                f"{option or 'an argument'} is empty: leave it out, or give it a value, such as . "
                "for the current folder"
            )
    sys.path.append(os.getcwd())  # to import a user's own module:factory from there
    return app()(arguments, prog_name="hanamachi", standalone_mode=False)


def app() -> Any:
    from hanamachi.training.cli.app import app

    return app


def run(command: Callable[[], Any]) -> int:
    """Call `command`; returns the exit code, and prints an error on stderr."""
    try:
        return int(command() or 0)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ended:
        if ended.code in (TERMINATED, signal.SIGTERM):  # Ray's handler gives the signal's number
            return TERMINATED
        if ended.code == HUNG_UP:
            return HUNG_UP
        if isinstance(ended.code, str):
            return complain(ended.code)
        return complain(f"a policy ended the command: it called sys.exit({shown(ended.code)})")
    except ModuleNotFoundError as error:
        if places := getattr(error, "__notes__", []):  # a user's own policy lacks the package
            return complain(f"{places[0]}: {error}")
        return complain(str(missing_extra(missing_package(error), "train")))
    except Exception as error:
        return complain(sentence(error))


def how_to_resume(given: Sequence[str]) -> str:
    """The command that resumes what these arguments began, if anything can be resumed."""
    options = {word.split("=")[0] for word in given}
    if not given or given[0] not in RESUMABLE or options & {"--exact", "--grade"}:
        return ""
    trains = given[0] in ("train", "sweep") or "--steps" in options
    if not trains and given[0] != "arena" and "--out" not in options:
        return "; with --out FOLDER the games played are kept, and the same command resumes"
    again = [*given, "--resume"] if trains and "--resume" not in options else given
    return f"; to resume: {shlex.join(['hanamachi', *again])}"


def complain(words: str) -> int:
    note(f"hanamachi: {shortened(words)}")
    return MISTAKE


def sentence(error: Exception) -> str:
    """The error message for a user; an error that no user can cause is raised."""
    if isinstance(error, UserError):
        return str(error)
    if is_out_of_memory(error):
        return "there is not enough memory for this; ask for fewer games or a smaller network"
    if isinstance(error, OSError) and error.errno in FULL:
        place = f" for {error.filename}" if error.filename else ""
        return f"the disk has no room{place}: free some, then resume the run or repeat the command"
    if isinstance(error, OSError) and error.strerror:
        place = f"cannot use {error.filename}: " if error.filename else ""
        advice = "; name another place" if place and error.errno in ELSEWHERE else ""
        return f"{place}{error.strerror}{advice}"
    if hasattr(error, "format_message"):  # typer's, whose class moved between its versions
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "hanamachi"
        return f"{error.format_message().rstrip('.')} (see {command} --help)"
    raise error


if __name__ == "__main__":
    main()
