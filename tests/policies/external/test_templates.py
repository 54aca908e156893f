"""The bots of examples/bots play as they are, and are short."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from root import ROOT
from samples import WHOLE

from hanamachi.training.evaluation.matches import evaluate

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")

TEMPLATES = ROOT / "examples" / "bots"
COMPILERS = {".cpp": ["g++", "-Wall", "-Wextra", "-Werror"], ".rs": ["rustc", "-Dwarnings"]}
NEEDS = {".py": "python", ".js": "node", ".cpp": "g++", ".rs": "rustc"}


@pytest.mark.parametrize("kind", NEEDS)
def test_a_template_plays(kind: str, tmp_path: Path) -> None:
    template = TEMPLATES / f"bot{kind}"
    if kind != ".py" and not shutil.which(NEEDS[kind]):
        pytest.skip(f"{NEEDS[kind]} is not installed")
    if kind == ".rs" and not WHOLE:
        pytest.skip("make verify compiles the bot in Rust")
    if kind in COMPILERS:
        program = tmp_path / "bot"
        subprocess.run([*COMPILERS[kind], "-o", program, template], check=True)
        template = program
    for game, games in (("hanamikoji", 2), ("hanabi:2p", 2)):
        evaluate([f"process:{template}", "random"], game, games=games, play="sample", strict=True)


def test_every_template_is_short() -> None:
    files = sorted(TEMPLATES.iterdir())
    assert [file.suffix for file in files] == sorted(NEEDS)
    assert all(len(file.read_text(encoding="utf-8").splitlines()) <= 80 for file in files)
