"""Run every example in an environment of its own, with the current version of its library.

    python scripts/clients.py              # all, and what came of them as one table
    python scripts/clients.py sb3 torchrl  # these

An example needs what the pip line of its docstring says, after our package its library first. The
environment lies in .venv-clients/NAME, and all that was said in NAME.log next to it. Where there
is a scripts/check_NAME.py, the library's own checks, it runs before the example. A client fails if
anything does, or if the interval of its figure does not lie above 60%; the others still run.
Chance alone gives 50%, and an untrained network that always prefers the same actions up to 57%.
"""

import argparse
import ast
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = {
    path.stem.removeprefix("with_"): path
    for path in ROOT.glob("examples/with_*.py")
    if path.stem != "with_language_model"  # which needs a model
}
FOLDER = ROOT / ".venv-clients"
BIN = "Scripts" if os.name == "nt" else "bin"
MORE = {"sb3": ["--self-play"]}  # what else an example can do, in a row of its own

PIP = re.compile(r"^ +pip install (.+)$", re.MULTILINE)
FIGURE = re.compile(r"^with_\w+: (.+% against random \(([\d.]+) to [\d.]+\), .+ games)$", re.M)
VERSION = "from importlib.metadata import version; print(version({!r}))"
LEARNED = 60  # per cent, below the whole interval


class Row(NamedTuple):
    """A client in the table."""

    client: str
    version: str
    figure: str  # or why there is none
    seconds: float  # that the example took
    passed: bool


class ClientFailure(Exception):
    """A client did not do what it should; the words go into the table."""


def requirements(name: str) -> list[str]:
    """What pip is to install for an example, ours first."""
    page = ast.get_docstring(ast.parse(EXAMPLES[name].read_text(encoding="utf-8")), clean=False)
    (line,) = PIP.findall(page or "")
    return shlex.split(line)


def library(name: str) -> str:
    """The distribution that an example is about: the first after ours."""
    return requirements(name)[2].partition("[")[0]


def examine(name: str, flags: list[str], steps: int | None) -> Row:
    """Make the environment of a client, and run its checks and its example."""
    client, version, began = " ".join([name, *flags]), "?", time.monotonic()
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}{''.join(flags)}.log").open("w+", encoding="utf-8") as log:
        try:
            python = installed(name, log)
            version = said([python, "-c", VERSION.format(library(name))], log).strip()
            check = ROOT / "scripts" / f"check_{name}.py"
            if check.exists():
                said([python, check], log)
            began = time.monotonic()
            short = [] if steps is None else ["--steps", str(steps)]
            figure, low = figure_of(said([python, EXAMPLES[name], *flags, *short], log))
        except ClientFailure as why:
            return Row(client, version, str(why), time.monotonic() - began, False)
    learned = float(low) > LEARNED
    figure += "" if learned else f": not above {LEARNED}%"
    return Row(client, version, figure, time.monotonic() - began, learned)


def installed(name: str, log: IO[str]) -> Path:
    """The Python of the client's environment, with the current versions of what it needs."""
    python = FOLDER / name / BIN / "python"
    if not python.exists():
        said([sys.executable, "-m", "venv", FOLDER / name], log)
    said([python, "-m", "pip", "install", "--quiet", "--upgrade", *requirements(name)], log)
    return python


def said(command: list[str | Path], log: IO[str]) -> str:
    """What a command printed; all of it goes to the log. ClientFailure has its last words."""
    begin = log.tell()
    alone = os.environ | {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=alone, stdout=log, stderr=subprocess.STDOUT, text=True
    )
    log.seek(begin)
    words = log.read()
    if done.returncode:
        raise ClientFailure(
            (words.split("\n\n")[-1].strip().splitlines() or ["it said nothing"])[-1]
        )
    return words


def figure_of(words: str) -> tuple[str, str]:
    """The example's figure, and the lower end of its interval."""
    found = FIGURE.findall(words)
    if not found:
        raise ClientFailure("no figure was printed")
    figure: tuple[str, str] = found[-1]
    return figure


def table(rows: list[Row]) -> str:
    lines = ["| client | version | figure | seconds |", "|---|---|---|---|"]
    lines += [f"| {r.client} | {r.version} | {r.figure} | {r.seconds:.0f} |" for r in rows]
    return "\n".join(lines)


def runs(names: Iterable[str]) -> Iterator[list[str]]:
    """Each example as it stands, and what else it can do."""
    for name in names:
        yield [name]
        yield from ([name, flag] for flag in MORE.get(name, []))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(sorted(EXAMPLES)))
    parser.add_argument("--steps", type=int, help="for every example, instead of its own number")
    given = parser.parse_args()
    if unknown := set(given.clients) - set(EXAMPLES):
        parser.error(f"no example with {', '.join(sorted(unknown))}")
    rows = []
    for name, *flags in runs(given.clients or sorted(EXAMPLES)):
        print(name, *flags, "...", flush=True)
        rows.append(examine(name, flags, given.steps))
        print(table(rows[-1:]).splitlines()[-1], flush=True)
    print("", table(rows), sep="\n")
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
