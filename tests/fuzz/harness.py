"""Cases of fuzzing, each judged in a process that may die, freeze or fill the memory.

A case is drawn from (target, seed, number) alone, so its name replays it. A worker is forked for a
batch of cases. It reports each case, so that a death is known by its case. A case that was slow or
large is run again in a fresh worker, as the first one may have compiled code.
"""

import faulthandler
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any, NamedTuple

from hanamachi.errors import UserError
from hanamachi.limits import MESSAGE

SECONDS = 5.0  # of processor time that a case may take, once everything is compiled
MEMORY = 500 << 20  # bytes that a case may add to those of its worker
COMPILING = 180  # seconds of processor time after which the system ends a case
ASLEEP = 1200  # seconds of any kind, after which a case that waits is ended
BATCH = 500  # cases of one worker
PROGRESS = "decisions/s"  # on stderr while a run lasts
REFUSED, ACCEPTED, FAILED = "refused", "accepted", "failed"
COSTS = ("slow", "large")  # faults that a second run must confirm


class Target(NamedTuple):
    """Something that users give: how cases of it are drawn, and what is then done with them."""

    draw: Callable[[Random, Path], Any]  # from a generator, with an empty folder for files
    use: Callable[[Any], None]  # UserError refuses the case, any other exception is a failure
    cases: int  # in `make verify`
    prepare: Callable[[], Any] = lambda: None  # before workers are forked


class Case(NamedTuple):
    """The name of a case."""

    target: str
    seed: int
    number: int

    def __str__(self) -> str:
        return ":".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> "Case":
        target, seed, number = text.rsplit(":", 2)
        return cls(target, int(seed), int(number))


class Outcome(NamedTuple):
    """What became of a case."""

    case: Case
    verdict: str  # REFUSED, ACCEPTED or FAILED
    words: str = ""  # the message, or what failed
    seconds: float = 0.0  # of processor time
    drawn: str = ""  # what the case was, if it failed


# --- In the worker


def judge(target: Target, case: Case, folder: Path) -> Outcome:
    """Draw a case and use it, in a folder that is empty before and after."""
    rng = Random(str(case))
    with chdir(folder):
        drawn = target.draw(rng, Path())
        forget_peak()
        size, start = resident(), time.process_time()
        try:
            target.use(drawn)
            verdict, words = ACCEPTED, ""
        except UserError as error:
            verdict, words = fault_of_message(str(error)) or (REFUSED, str(error))
        except BaseException as error:
            verdict, words = FAILED, named(error)
        seconds = time.process_time() - start
    empty(folder)
    if verdict != FAILED and seconds > SECONDS:
        verdict, words = FAILED, f"slow: {seconds:.1f} s"
    if verdict != FAILED and resident() - size > MEMORY:
        verdict, words = FAILED, f"large: {(resident() - size) >> 20} MiB"
    if noise := silenced():
        verdict, words = FAILED, f"noise: {noise}"
    return Outcome(case, verdict, words, seconds, repr(drawn)[:2000] if verdict == FAILED else "")


def fault_of_message(message: str) -> tuple[str, str] | None:
    """Whether a message is empty, long, or would not print."""
    if not message or len(message) > MESSAGE or not message.isprintable():
        return FAILED, f"message of {len(message)} characters: {message!r}"
    return None


def named(error: BaseException) -> str:
    """An exception with the place in our code that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/tests/fuzz/" not in f.filename and ".venv" not in f.filename]
    where = f" at {'/'.join(Path(ours[-1].filename).parts[-2:])}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}: {str(error)[:300]}{where}"


def resident() -> int:
    """The most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def forget_peak() -> None:
    """Let `resident` count from what the process holds now; elsewhere it counts from its start."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def silenced() -> str:
    """What was written to this process's streams since the last call; it is thrown away."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    size = os.lseek(2, 0, os.SEEK_END)
    text = os.pread(2, size, 0).decode(errors="replace")
    for stream in (1, 2):
        os.ftruncate(stream, 0)
        os.lseek(stream, 0, os.SEEK_SET)
    return "\n".join(line for line in text.splitlines() if PROGRESS not in line).strip()


def written_by(folder: Path, stream: int) -> Path:
    """The file of what a worker writes to a stream."""
    return folder.with_name(f"{folder.name}.{stream}")


def work(targets: dict[str, Target], cases: Sequence[Case], folder: Path, report: int) -> None:
    """Judge cases one after the other; a line for each on the pipe."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        to = os.open(written_by(folder, stream), os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(to, stream)
    for number in (signal.SIGPROF, signal.SIGALRM):  # show where it hangs, then die of it
        faulthandler.register(number, file=2, chain=True)
    faulthandler.enable(file=2)
    for case in cases:
        signal.setitimer(signal.ITIMER_PROF, COMPILING)
        signal.alarm(ASLEEP)
        outcome = judge(targets[case.target], case, folder)
        os.write(report, json.dumps(outcome).encode() + b"\n")


# --- In the parent


def outcomes(targets: dict[str, Target], cases: Sequence[Case], place: Path) -> Iterator[Outcome]:
    """What becomes of each case; their folders are made in `place`."""
    left = list(cases)
    while left:
        batch, left = left[:BATCH], left[BATCH:]
        while batch:
            done = 0
            for outcome in forked(targets, batch, place / "case"):
                done += 1
                yield confirmed(targets, outcome, place)
            batch = batch[done:]


def confirmed(targets: dict[str, Target], outcome: Outcome, place: Path) -> Outcome:
    """An outcome; where it was slow or large, that of a later run, with everything compiled."""
    if not outcome.words.startswith(COSTS):
        return outcome
    return [*forked(targets, [outcome.case, outcome.case], place / "again")][-1]


def forked(targets: dict[str, Target], cases: Sequence[Case], folder: Path) -> Iterator[Outcome]:
    """The outcomes of one worker, until it has done all cases or died in one."""
    folder.mkdir(exist_ok=True)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            work(targets, cases, folder, writing)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    ended = 0
    with os.fdopen(reading) as lines:
        for line in lines:
            case, *rest = json.loads(line)
            ended += 1
            yield Outcome(Case(*case), *rest)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended < len(cases):
        last = written_by(folder, 2).read_text(errors="replace")[-3000:]
        empty(folder)
        yield Outcome(cases[ended], FAILED, f"the process ended with {status}: {last}")


@contextmanager
def place_of_cases() -> Iterator[Path]:
    """A folder for the originals and the cases; the current folder is then that of a case."""
    with tempfile.TemporaryDirectory(prefix="hanamachi-fuzz-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        (place / "case").mkdir()
        with chdir(place / "case"):
            yield place
