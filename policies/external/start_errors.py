"""Why a command does not start, and what to do, where the system does not say it.

If the program that a script's first line names is not there, the system says that the script is
not there.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from shutil import which

FIRST_LINE = 256  # bytes that systems read of it
WORDS = 8  # that one path with spaces is taken to have, at most


def start_error(command: Sequence[str]) -> str:
    """What is wrong with a command, as the end of "cannot be started: "; "" if nothing is."""
    if path := path_with_spaces(command):
        return f"put quotes around the path with spaces: {quote(path)}"
    name = command[0]
    if program := which(name):
        return first_line_error(Path(program))
    if os.path.isdir(name):
        return f"{name} is a folder: name the program in it"
    if not os.path.isfile(name):
        return ""
    if os.sep not in name:
        return f"for a program in this folder write process:./{name}"
    return f"{name} is not executable: run chmod +x {quote(name)}"


def path_with_spaces(command: Sequence[str]) -> str:
    """The file that several words name together, as without quotes; "" if none do."""
    for start, word in enumerate(command):
        for end in range(start + 2, start + WORDS + 1):
            path = " ".join(command[start:end])
            if not os.path.exists(word) and os.path.isfile(path):
                return path
    return ""


def first_line_error(program: Path) -> str:
    """What is wrong with the line of a script that names the program to run it; "" if nothing."""
    line = first_line(program)
    if not line.startswith("#!"):
        return ""
    if line.endswith("\r"):
        return f"{program.name} has Windows line endings: save it with those of Unix (LF)"
    runner = runner_in(line)
    if runner and not which(runner):
        return f"the first line of {program.name} names {runner}, a program that is not there"
    return ""


def first_line(program: Path) -> str:
    try:
        with program.open("rb") as file:
            return file.readline(FIRST_LINE).decode(errors="replace").removesuffix("\n")
    except OSError:  # a program need not be readable
        return ""


def runner_in(line: str) -> str:
    """The program that a line such as "#!/usr/bin/env python3" names; "" if it is not clear."""
    words = line.removeprefix("#!").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if word != "-S"]
        if words and (words[0].startswith("-") or "=" in words[0]):
            return ""  # other options of env, or variables that it sets
    return words[0] if words else ""
