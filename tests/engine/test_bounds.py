"""No compiled code of the package uses an index out of bounds, in any variant."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from root import ROOT
from samples import UNCOMPILED, WHOLE

import hanamachi

PROGRAM = ROOT / "tests" / "support" / "compiled_code.py"
PLANTED = """
import numpy as np
from hanamachi.engine.compiled import inline, kernel

@inline
def entry(row: np.ndarray, i: int) -> int:
    return row[i]

@kernel
def read(row: np.ndarray, i: int) -> int:
    return entry(row, i)

for i in (-4, -3, 0, 2, 3):
    try:
        read(np.zeros(3, np.int8), i)
    except IndexError:
        print(i)
"""
IDLE: dict[str, set[str]] = {}  # by game, the compiled loops that it has not run

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="Python checks indices itself")


def checked(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """A Python that checks indices, with its own compiled code in the folder."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_an_index_out_of_bounds_is_found(tmp_path: Path) -> None:
    program = tmp_path / "planted.py"
    program.write_text(PLANTED)
    done = checked(tmp_path, program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["-4", "3"]


@pytest.mark.skipif(not WHOLE, reason="compiling everything with checks takes minutes")
@pytest.mark.parametrize("game", hanamachi.GAMES)
def test_no_index_is_out_of_bounds_in_a_million_decisions_of_every_variant(
    game: str, tmp_path: Path
) -> None:
    done = checked(tmp_path, PROGRAM, game, "whole")
    assert done.returncode == 0, done.stderr
    *_, last = done.stdout.splitlines()
    IDLE[game] = set(last.removeprefix("idle:").split())


@pytest.mark.skipif(not WHOLE, reason="needs the runs above")
def test_every_compiled_loop_was_run() -> None:
    assert not set.intersection(*IDLE.values())
