"""The tutorial docs/adding-a-game.md, followed in a copy of the repository."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile

import pytest
from root import ROOT
from samples import WHOLE

PAGE = (ROOT / "docs" / "adding-a-game.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = [line for kind, block in BLOCKS if kind == "bash" for line in block.splitlines()]
FOLDERS = ("envs", "training", "policies", "configs")
ALWAYS = 3  # of the commands: the game's tests, the list of games, and a run
TINY = ["steps=256", "ppo.batch_size=64", "evaluation.games=2", "evaluation.final_games=2"]


def called(command, folder, **variables):
    done = subprocess.run(
        command, cwd=folder, env=os.environ | variables, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the repository in which the page's files were written and its changes made."""
    folder = tmp_path_factory.mktemp("clone")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for kind, block in BLOCKS:
        if kind == "diff":
            (folder / "page.diff").write_text(block, encoding="utf-8")
            called(["git", "apply", "page.diff"], folder)
        elif kind != "bash":
            write(folder, block)
    return folder


def write(folder, block):
    """The first line of a block names its file, to whose end the rest is added."""
    name, _, text = block.removeprefix("# ").partition("\n")
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as end:
        end.write(text)


@pytest.fixture(scope="module")
def installed(clone, tmp_path_factory):
    """The package that the copy makes."""
    folder = tmp_path_factory.mktemp("installed")
    called([sys.executable, "-m", "build", "--wheel", "--outdir", folder, clone], clone)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def test_the_files_look_like_ours(clone):
    files = [clone / "envs" / "games" / "cut", clone / "tests"]
    called([sys.executable, "-m", "ruff", "check", *files], clone)
    called([sys.executable, "-m", "ruff", "format", "--check", *files], clone)


@pytest.mark.parametrize("line", COMMANDS if WHOLE else COMMANDS[:ALWAYS])
def test_commands_run(line, clone, installed):
    program, *arguments = shlex.split(re.sub(r"--games \d+", "--games 2", line))
    if program == "hanamachi":
        arguments = ["-m", "hanamachi.training.cli.main", *arguments]
    if "train" in arguments:
        arguments += [word for setting in TINY for word in ("--set", setting)]
    called([sys.executable, *arguments], clone, PYTHONPATH=str(installed))
