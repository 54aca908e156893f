"""Small runs in processes of their own, forked from one that is warm: it has trained already.

So a run begins at once, where a new interpreter would first import PyTorch for seconds.
"""

import io
import os
import resource
import signal
import sys
from collections.abc import Callable
from io import BufferedWriter, FileIO
from itertools import count
from multiprocessing import forkserver, get_context
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest import mock

from small_games import GIFTS

from hanamachi.training.cli import main as cli

SETTINGS: dict[str, Any] = {
    "game": "hanamikoji",
    "options": GIFTS,
    "device": "cpu",
    "steps": 384,
    "num_games": 8,
    "opponents": {"self": 0.5, "past": 0.25, "greedy": 0.25},
    "network": {"hidden": [16]},
    "ppo": {"n_steps": 8, "batch_size": 32, "n_epochs": 2, "learning_rate": 0.01},
    "past": {"every": 128, "keep": 2},
    "magnet": {"kind": "refreshed", "kl_coef": 0.1, "every": 128},
    "average": {"decay": 0.9},
    "export": "average",
    "evaluation": {
        "every": 128,
        "games": 200,  # of which the second evaluation chooses another checkpoint
        "opponents": ["greedy"],
        "final_games": 4,
        "final_opponents": ["random", "greedy"],
    },
    "save_every": 128,
}
ROAD = SETTINGS | {
    "game": "geishas_road:advanced",
    "options": {"colours": 2, "item_values": [1, 2, 3, 4], "actions": ["reveal", "gift"]},
    "critic": "all",
    "magnet": {"kind": "average", "kl_coef": 0.1},
    "export": "policy",
}
CLONE = SETTINGS | {
    "game": "hanabi:2p",
    "options": {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3},
    "opponents": {"self": 1},
    "past": {},
    "average": {},
    "init_from": "expert",
    "clone": {"steps": 128},
    "steps": 1_280,  # only the value learns from the first 128
    "critic": "all",
    "magnet": {"kind": "start", "kl_coef": 0.1},
    "export": "policy",
    "network": {"hidden": [16], "features": ["convention"]},
}
PATIENCE = 300  # seconds for a run that takes one
CONTEXT = get_context("forkserver")
ALONE = {  # no other threads, as a process with several cannot be forked
    "HANAMACHI_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}


def begin_server() -> None:
    """Begin the process from which runs are forked; it imports `warm_run` first."""
    CONTEXT.set_forkserver_preload(["warm_run"])
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with mock.patch.dict(os.environ, {**ALONE, "PYTHONPATH": paths}):
        forkserver.ensure_running()


class Run:
    """A `hanamachi` command in a process of its own, and what is prepared there before it."""

    def __init__(self, arguments: list[str], said: Path, *prepare: Callable[[], Any]) -> None:
        self.said = said
        self.process = CONTEXT.Process(target=command, args=(arguments, said, prepare))
        self.process.start()

    def ends(self, seconds: float = PATIENCE) -> bool:
        """Whether it ends within these seconds."""
        self.process.join(seconds)
        return self.process.exitcode is not None

    def end(self, number: int | None = None) -> tuple[int | None, str]:
        """Send a signal, if one is given; returns the exit code and what was said on stderr."""
        if number is not None and self.process.is_alive():
            os.kill(self.process.pid or 0, number)
        assert self.ends()
        said = self.said.read_text(errors="replace") if self.said.exists() else ""
        return self.process.exitcode, said


def command(arguments: list[str], said: Path, prepare: tuple[Callable[[], Any], ...]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), sys.stderr.fileno())
    for each in prepare:
        each()
    cli.main(arguments)


# --- What can be prepared


def limit_files(size: int) -> None:
    """Let no file grow beyond this many bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def take_terminal(name: str) -> None:
    """Let this terminal control the process."""
    os.setsid()
    terminal = os.open(name, os.O_RDWR)
    for number in range(3):
        os.dup2(terminal, number)
    # the old ones were files, in which one can seek
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))


def before_call(place: str, act: Callable[[int], Any]) -> None:
    """Call `act`, with a count from 0, before each call of the function at this place."""
    owner, _, name = place.rpartition(".")
    function, calls = resolve_name(place), count()

    def called(*arguments: Any, **keywords: Any) -> Any:
        act(next(calls))
        return function(*arguments, **keywords)

    setattr(resolve_name(owner), name, called)


def signal_in(place: str, *numbers: int, call: int = 0) -> None:
    """Send this process signals before the nth call of the function at this place."""

    def act(calls: int) -> None:
        for number in numbers if calls == call else ():
            os.kill(os.getpid(), number)

    before_call(place, act)


def move_in(place: str, folder: Path, to: Path, call: int = 0) -> None:
    """Move a folder before the nth call of the function at this place."""
    before_call(place, lambda calls: folder.rename(to) if calls == call else None)


def kill_at(step: int, folder: Path) -> None:
    """Kill this process at the nth step at which it changes a file of the folder.

    At the end of a run, it says on stderr how many steps there were.
    """
    steps = Steps(step, folder)
    before_call("hanamachi.training.run.print_rows", lambda _: print(steps.taken, file=sys.stderr))


class Steps:
    """Counts what a process is about to do with the files of a folder, and kills it at a step.

    A step is a file or folder that is opened, made, flushed, renamed or removed, or a write: the
    first to each file, and every tenth.
    """

    def __init__(self, last: int, folder: Path) -> None:
        self.taken, self.last, self.folder = 0, last, str(folder)
        self.open, self.fsync = io.open, os.fsync
        io.open, os.fsync = self.opened, self.flushed  # type: ignore[assignment]
        sys.addaudithook(self.audit)

    def take(self) -> None:
        if self.taken == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.taken += 1

    def audit(self, event: str, given: tuple[Any, ...]) -> None:
        """Called by Python when it is about to do something."""
        if event in ("os.remove", "os.rmdir") or (
            event in ("open", "os.mkdir", "os.rename", "shutil.rmtree")
            and str(given[0]).startswith(self.folder)
        ):
            self.take()

    def opened(self, path: Any, mode: str = "r", *more: Any, **keywords: Any) -> Any:
        if mode in ("wb", "xb"):
            return SteppedFile(FileIO(path, mode[0]), self.take)
        return self.open(path, mode, *more, **keywords)

    def flushed(self, number: int) -> None:
        self.take()
        self.fsync(number)


class SteppedFile(BufferedWriter):
    """A file that takes a step at the first of its writes, and at every tenth."""

    def __init__(self, file: FileIO, take: Callable[[], None]) -> None:
        super().__init__(file)
        self.take, self.writes = take, count()

    def write(self, content: Any) -> int:
        if next(self.writes) % 10 == 0:
            self.take()
        return super().write(content)
