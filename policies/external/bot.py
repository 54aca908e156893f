"""A bot: a program that is asked on its standard input and answers on its standard output.

Whatever it does, a question ends in time, with one line or with a UserError that says what the bot
did instead. This is no sandbox: a bot has all the rights of the user who runs it.
"""

import math
import os
import selectors
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from hanamachi.errors import UserError, printable, shown
from hanamachi.limits import BOT_LAST_WORDS, BOT_LINE, BOT_MEGABYTES, BOT_SECONDS
from hanamachi.policies.external.last_words import last_words
from hanamachi.policies.external.start_errors import start_error
from hanamachi.policies.external.watcher import dismiss, watcher_of
from hanamachi.sessions.arguments import is_number

CHUNK = 1 << 16  # bytes read at once
CHUNKS = 16  # that are read of a bot's last words
SHOWN = 80  # characters of what a bot said, in a message
FAREWELL = 0.2  # seconds that a bot has to end by itself
START = 10.0  # seconds until a bot must be ready
RUNNERS = {".py": sys.executable, ".js": "node"}
NICE = 5  # niceness of bots that wait: other programs get the processors first


@dataclass(frozen=True)
class Limits:
    """What a bot may use; UserError for what no system can measure."""

    seconds: float = 5.0  #: for each decision
    memory: int | None = None  #: megabytes of each of its processes; Linux alone counts them
    waits: bool = False  #: it is stopped until it is asked, and runs at a low priority
    clock: float | None = None  #: seconds for all decisions of a game together
    cpu: int | None = None  #: seconds of processor time of each of its processes

    def __post_init__(self) -> None:
        for name, kind, most in (
            ("seconds", int | float, BOT_SECONDS),
            ("clock", int | float | None, BOT_SECONDS),
            ("memory", int | None, BOT_MEGABYTES),
            ("cpu", int | None, BOT_SECONDS),
        ):
            given = getattr(self, name)
            in_bounds = given is None or (is_number(given) and 0 < given <= most)
            if not isinstance(given, kind) or not in_bounds:
                number = "a whole number" if kind == int | None else "a number"
                raise UserError(
                    f"{name} must be {number} above 0 and at most {most:,.0f}, not {shown(given)}"
                )


def command_of(program: Sequence[str]) -> list[str]:
    """A program and its arguments as the system starts them.

    "python" is the Python that runs this, which also runs files of Python; node runs JavaScript.
    """
    name, *arguments = program
    if name == "python":
        return [sys.executable, *arguments]
    runner = RUNNERS.get(Path(name).suffix)
    return [runner, *program] if runner else list(program)


class Bot:
    """A bot's process. It ends with this object, and the processes of its group end with it."""

    def __init__(self, program: Sequence[str], limits: Limits) -> None:
        """UserError if the program cannot be started."""
        if os.name != "posix":
            raise UserError("bots run on Linux and macOS alone; on Windows, start them in WSL")
        self.limits = limits
        self._command = command_of(program)
        self._process = started(limited(self._command, limits))
        watcher = watched(self._process)
        self._stdin, self._stdout, self._stderr = pipes_of(self._process)
        self._selector = selectors.DefaultSelector()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._unsent, self._said, self._complaints = b"", bytearray(), b""
        self.end = weakref.finalize(self, end, self._process, self._selector, watcher)

    def tell(self, line: bytes) -> None:
        """Say a line that needs no answer; what its pipe does not take goes before the next one."""
        self._unsent += line
        if self.end.alive:
            self._send()

    def ask(self, line: bytes, seconds: float, clock: float = math.inf) -> bytes:
        """The line that answers this one; UserError, and the end of the bot, if none comes.

        It must come in `seconds`, and before the `clock` of the game, in seconds, runs out.
        """
        deadline = time.monotonic() + min(seconds, clock)
        if self._read_what_is_there():
            self._fail("wrote a line before it was asked: it must answer hello and move alone")
        if self.limits.waits:
            send_signal(self._process, signal.SIGCONT)
        self._unsent += line
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        while b"\n" not in self._said:
            left = deadline - time.monotonic()
            if left <= 0:
                self._fail_as_late(seconds, clock)
            for key, _ in self._selector.select(left):
                self._exchange(key.fileobj)
        if self._unsent:
            self._fail("answered before it had read the question")
        if self.limits.waits:
            send_signal(self._process, signal.SIGSTOP)
        answer, _, rest = bytes(self._said).partition(b"\n")
        self._said = bytearray(rest)
        return answer

    def _exchange(self, pipe: Any) -> None:
        """Send what a pipe takes, or read what it has."""
        if pipe is self._stdin:
            if self._send():
                self._selector.unregister(pipe)
        elif pipe is self._stderr:
            self._hear_complaints()
        elif not (said := os.read(pipe.fileno(), CHUNK)):
            self._fail_as_it_ended()
        else:
            self._said += said
            if len(self._said) > BOT_LINE and b"\n" not in self._said[:BOT_LINE]:
                self._fail(f"wrote a line of more than {BOT_LINE:,} bytes")

    def _send(self) -> bool:
        """Send what the pipe takes; returns whether nothing is left that could be sent."""
        try:
            self._unsent = self._unsent[os.write(self._stdin.fileno(), self._unsent) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:  # that it has ended is seen where it is read
            self._unsent = b""
        return not self._unsent

    def _read_what_is_there(self) -> bool:
        """Whether the bot has said anything that nobody asked for."""
        for key, _ in self._selector.select(0):
            if key.fileobj is self._stderr:
                self._hear_complaints()
            else:
                self._exchange(key.fileobj)
        return bool(self._said)

    def _hear_complaints(self) -> None:
        """Keep the last words of its standard error."""
        heard = os.read(self._stderr.fileno(), CHUNK)
        if not heard:
            self._selector.unregister(self._stderr)
        self._complaints = (self._complaints + heard)[-BOT_LAST_WORDS:]

    def _fail_as_late(self, seconds: float, clock: float) -> NoReturn:
        if self.limits.clock and clock < seconds:
            self._fail(f"used up its {seconds_in_words(self.limits.clock)} for the game")
        self._fail(f"gave no answer in {seconds_in_words(seconds)}")

    def _fail_as_it_ended(self) -> NoReturn:
        try:
            code = self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._fail("ended, as it closed its output")
        if code > 0 and (why := start_error(self._command)):  # of a program that another starts
            self.end()
            raise UserError(f"cannot be started: {why}")
        self._fail(f"ended{end_in_words(code, self.limits)}")

    def _fail(self, what: str) -> NoReturn:
        self._read_last_words()
        said, last = bytes(self._said), last_words(self._complaints)
        send_signal(self._process, signal.SIGKILL)
        self.end()
        words = f"{what}{said_by(said)}" if said else what
        raise UserError(f"{words}; its last words on stderr: {last}" if last else words)

    def _read_last_words(self) -> None:
        for _ in range(CHUNKS):
            if self._stderr in [key.fileobj for key, _ in self._selector.select(0)]:
                self._hear_complaints()


def end_in_words(code: int, limits: Limits) -> str:
    """How a process ended, by its exit code, after "ended"."""
    if code == -signal.SIGXCPU and limits.cpu:
        return f": it used up its {seconds_in_words(limits.cpu)} of processor time"
    if code == -signal.SIGKILL:
        return f" by signal {-code}, as with too much memory or processor time"
    return f" by signal {-code}" if code < 0 else f" with exit code {code}"


def seconds_in_words(seconds: float) -> str:
    return f"{seconds:g} second{'s' * (seconds != 1)}"


def said_by(answer: bytes) -> str:
    """The start of what a bot said, for a message."""
    if not answer:
        return "; it said nothing"
    text = answer[: 4 * SHOWN].decode(errors="backslashreplace")
    return f"; it said {printable(text[:SHOWN])}{'...' if len(text) > SHOWN else ''}"


def limited(command: list[str], limits: Limits) -> list[str]:
    """The command under limits on memory and processor time, which the system's shell sets.

    A process that ignores the signal at its limit of processor time is killed a second later. No
    limit can be above the system's own, which then holds.
    """
    steps = []
    if limits.memory is not None:
        steps.append(f"ulimit -d {allowed('RLIMIT_DATA', limits.memory << 20) >> 10}")
    if limits.cpu is not None:
        soft, hard = (allowed("RLIMIT_CPU", limits.cpu + more) for more in (0, 1))
        steps += [f"ulimit -S -t {soft}", f"ulimit -H -t {hard}"]
    if not steps and not limits.waits:
        return command
    steps.append(f'exec nice -n {NICE if limits.waits else 0} "$@"')
    return ["/bin/sh", "-c", " && ".join(steps), command[0], *command]


def allowed(kind: str, wanted: int) -> int:
    """The limit of this kind, in bytes or seconds, or the system's hard limit if that is lower."""
    import resource  # which Windows lacks

    hard = resource.getrlimit(getattr(resource, kind))[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def started(command: list[str]) -> subprocess.Popen[bytes]:
    """The process, in a group of its own; UserError if there is no such program."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    try:
        return subprocess.Popen(command, bufsize=0, start_new_session=True, **pipes)
    except OSError as error:
        why = start_error(command) or f"{error.strerror}: {command[0]}"
        raise UserError(f"cannot be started: {why}") from None


def pipes_of(process: subprocess.Popen[bytes]) -> list[IO[bytes]]:
    """Standard input, output and error."""
    return [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe]


def send_signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to the process and all that it started, unless they have gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def watched(process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """The watcher of a bot that has just been started."""
    try:
        return watcher_of(process.pid)
    except BaseException:  # a signal, too: nothing else would end the bot
        send_signal(process, signal.SIGKILL)
        process.communicate()
        raise


def end(
    process: subprocess.Popen[bytes],
    selector: selectors.BaseSelector,
    watcher: subprocess.Popen[bytes],
) -> None:
    """Let the bot end by itself once its input ends; then end its whole group."""
    selector.close()
    stdin, *others = pipes_of(process)
    send_signal(process, signal.SIGCONT)
    stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(FAREWELL)
    send_signal(process, signal.SIGKILL)  # to its children too, which may be there without it
    process.wait()
    dismiss(watcher)
    for pipe in others:
        pipe.close()
