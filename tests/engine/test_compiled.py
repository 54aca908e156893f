"""Compiled code is kept between processes, and never outlives the rules that it was made from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hanamachi
from hanamachi.engine.compiled import sources_digest
from hanamachi.policies.features.hanabi import write_card_beliefs

SOURCES = Path(hanamachi.__file__).parent

FIRST_GAME = """
import hanamachi
env = hanamachi.make("hanabi:2p")
env.reset(seed=1)
env.last()
env.step(int(env.last()[0]["action_mask"].argmax()))
"""

FIRST_ROUND = """
import numpy as np
from hanamachi import variant
from hanamachi.engine import kernels
chosen = variant("hanamikoji")
games = chosen.new(np.arange(1, dtype=np.uint64))
kernels.reset(chosen.rule_set, games)
print(*games["round_number"])
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the engine that may be edited, with a cache of its own."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(SOURCES, folder / "hanamachi", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(program, package):
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "NUMBA_CACHE_DIR": str(package / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_second_process_compiles_nothing_for_its_first_game(package):
    run(FIRST_GAME, package)
    kept = compiled(package)
    run(FIRST_GAME, package)
    assert kept
    assert compiled(package) == kept


def compiled(package):
    """The files that hold compiled code, and when each was written."""
    return {path: path.stat().st_mtime_ns for path in (package / "cache").rglob("*.nb?")}


def test_the_lock_of_an_open_editor_is_no_source(tmp_path):
    """Emacs locks a file by a link beside it that leads nowhere."""
    (tmp_path / "rules.py").write_text("from hanamachi.engine.compiled import inline")
    before = sources_digest.__wrapped__(tmp_path)
    (tmp_path / ".#rules.py").symlink_to("somebody@somewhere.123")
    assert sources_digest.__wrapped__(tmp_path) == before


def test_a_kernel_is_made_from_the_rules_of_all_folders_of_its_room():
    """Such as one of `policies/features`, which calls rules of `policies/rules`."""
    sources = write_card_beliefs._cache._cache_file.sources
    assert sources_digest(Path(hanamachi.policies.__file__).parent) in sources


def test_an_edited_rule_is_at_work_in_the_next_process(package):
    assert [int(run(FIRST_ROUND, package)) for _ in range(2)] == [1, 1]
    rules = package / "hanamachi" / "games" / "hanamikoji" / "rules.py"
    edited = rules.read_text().replace("game.round_number += 1", "game.round_number += 7")
    assert edited != rules.read_text()
    rules.write_text(edited)
    assert int(run(FIRST_ROUND, package)) == 7
