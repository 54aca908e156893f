"""The bots of a folder."""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from shutil import which

from hanamachi.errors import UserError
from hanamachi.policies.external.bot import RUNNERS
from hanamachi.storage.reading import checked_path
from hanamachi.training.evaluation.fingerprints import DIGITS, portions

RUN = "run"  # the program of a bot that is a folder
PYCACHE = "__pycache__"


def bots_in(folder: Path | str) -> tuple[dict[str, Path], list[str]]:
    """The program of each bot, by the bot's name, and the names of what is no bot.

    A bot is a file of Python, or of JavaScript if there is Node.js, another executable file, or a
    folder with an executable called "run". Names that begin with "." or "_" are passed over.
    UserError if there is no folder.
    """
    folder = checked_path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder; name the folder that the bots are in")
    found, others = {}, []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        program = entry / RUN if entry.is_dir() else entry
        if program.is_file() and can_run(program):
            found[entry.name] = program.absolute()
        else:
            others.append(entry.name)
    return found, others


def can_run(program: Path) -> bool:
    """Whether a file can be started: by the program for files of its kind, or by itself."""
    runner = RUNNERS.get(program.suffix)
    return bool(which(runner)) if runner else os.access(program, os.X_OK)


def command(program: Path) -> list[str]:
    """How a bot is started; one of Python does not find the files of others in its folder."""
    return ["python", "-P", str(program)] if program.suffix == ".py" else [str(program)]


def digest(bot: Path) -> str:
    """What changes if a bot changes: by the content of its file, or of those in its folder."""
    content, folder = sha256(), bot.parent if bot.is_file() else bot
    for file in files_of(bot):
        within = file.relative_to(folder).as_posix()
        name = os.fsencode(within)
        content.update(b"%d:" % len(name) + name)  # so that no name runs into a content
        content.update(b"%d:" % file.stat().st_size)
        for portion in portions(file):
            content.update(portion)
    return content.hexdigest()[:DIGITS]


def files_of(bot: Path) -> Iterator[Path]:
    """A bot's file, or those in its folder, except hidden ones and what Python compiles."""
    if bot.is_file():
        yield bot
        return
    for file in sorted(bot.rglob("*")):
        within = file.relative_to(bot).parts
        if file.is_file() and not any(part.startswith((".", PYCACHE)) for part in within):
            yield file
