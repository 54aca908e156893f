"""Programs of ours as a user starts them: in this process, or in `make verify` in their own.

A process of its own takes seconds to import what the tests have imported already.
"""

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from samples import WHOLE

from hanamachi.training.cli.main import main


def hanamachi(arguments: Sequence[object], folder: Path) -> str:
    """What the command `hanamachi` prints."""
    words = [str(word) for word in arguments]
    if WHOLE:
        return own_process(["-m", "hanamachi.training.cli.main", *words], folder)
    return in_place(lambda: main(words), ["hanamachi", *words], folder)


def script(path: Path, arguments: Sequence[object], folder: Path) -> str:
    """What a script prints."""
    words = [str(path), *map(str, arguments)]
    if WHOLE:
        return own_process(words, folder)
    return in_place(lambda: runpy.run_path(words[0], run_name="__main__"), words, folder)


def python(text: str, folder: Path) -> str:
    """What a piece of Python prints; one that does not import us must find us by itself."""
    imports_us = re.search(r"^\s*(import|from) hanamachi\b", text, re.MULTILINE)
    if WHOLE or not imports_us:
        return own_process(["-c", text], folder)
    return in_place(lambda: exec(text, {"__name__": "__main__"}), ["-c"], folder)


def own_process(arguments: Sequence[str], folder: Path) -> str:
    """What a Python of its own prints; nobody is at the keyboard."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{shlex.join(arguments)}\n{done.stdout}{done.stderr}"
    return done.stdout


def in_place(program: Callable[[], Any], words: list[str], folder: Path) -> str:
    """What the program prints here; a program that exits must exit with 0."""
    printed = StringIO()
    with fresh_process(words, folder), redirect_stdout(printed):
        try:
            program()
            code = None
        except SystemExit as ended:
            code = ended.code
    assert not code, f"{shlex.join(words)}\n{printed.getvalue()}"
    return printed.getvalue()


@contextmanager
def fresh_process(words: list[str], folder: Path) -> Iterator[None]:
    """What a program finds when it starts; what it changes is put back when it ends."""
    place, path, argv, stdin = os.getcwd(), sys.path, sys.argv, sys.stdin
    environment = dict(os.environ)
    own_folder = [str(Path(words[0]).parent)] if words[0].endswith(".py") else [""]
    try:
        with open(os.devnull) as nobody:
            os.chdir(folder)
            sys.path, sys.argv, sys.stdin = own_folder + path, words, nobody
            yield
    finally:
        os.chdir(place)
        sys.path, sys.argv, sys.stdin = path, argv, stdin
        os.environ.clear()
        os.environ.update(environment)
