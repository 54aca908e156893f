"""The package holds what it should, and importing it is cheap."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from hanamachi.policies.load import agents

ROOT = Path(__file__).parents[1]
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
FOLDERS = ("envs", "training", "policies", "configs")

IMPORTED = """
import sys, time
start = time.perf_counter()
import {modules}
print(time.perf_counter() - start, *sorted(sys.modules))
"""


def imported(modules):
    """Seconds that the import takes in a new process, and all modules that are loaded then."""
    program = IMPORTED.format(modules=modules)
    # bytecode is kept, as it is for a user: pip has compiled the dependencies, too
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT.parent,
        env=kept,
    )
    seconds, *loaded = done.stdout.split()
    return float(seconds), loaded


def folder_of(package):
    """Where the sources of a package lie, by setuptools' mapping."""
    mapping = SETUP["package-dir"]
    if package in mapping:
        return mapping[package]
    parent, _, name = package.rpartition(".")
    return f"{folder_of(parent)}/{name}"


def test_every_folder_with_python_in_it_is_a_package():
    found = {
        path.parent.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {folder_of(package) for package in SETUP["packages"]} == found
    assert all((ROOT / folder / "__init__.py").exists() for folder in found)


def modules_named(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("folder", [*FOLDERS, "tests", "scripts", "examples"])
def test_everything_is_imported_by_its_installed_name(folder):
    for path in (ROOT / folder).rglob("*.py"):
        tops = {name.split(".")[0] for name in modules_named(ast.parse(path.read_text()))}
        assert not tops & set(FOLDERS), path


def test_the_environments_know_no_learning_library_and_no_policy():
    forbidden = (
        "torch",
        "stable_baselines3",
        "sb3_contrib",
        "tensordict",
        "ray",
        "hanamachi.policies",
        "hanamachi.training",
    )
    for path in (ROOT / "envs").rglob("*.py"):
        names = list(modules_named(ast.parse(path.read_text())))
        assert not [name for name in names if name.startswith(forbidden)], path


def test_importing_it_loads_no_learning_library():
    _, loaded = imported("hanamachi")
    heavy = ("torch", "stable_baselines3", "sb3_contrib", "pydantic", "typer", "matplotlib", "PIL")
    assert not set(heavy) & set(loaded)


PLAYED = """
import sys
import hanamachi
from hanamachi.policies.load import agents
from hanamachi.training import evaluate
from hanamachi.games import VARIANTS

assert hanamachi.__file__.startswith(sys.argv[1]), hanamachi.__file__
for id in agents():
    others = [] if VARIANTS[id].cooperative else ["random"]
    evaluate([id, *others], id, games=2)
print(*agents())
"""


def test_a_wheel_away_from_the_repository_plays_all_agents(tmp_path):
    source = tmp_path / "source"  # or what an earlier build has left would come along
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    build = ["-m", "build", "--wheel", "--outdir", tmp_path, source]
    subprocess.run([sys.executable, *build], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    environment = os.environ | {"PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", PLAYED, site]  # uncompiled, as it plays few moves
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.stdout.split() == agents()


def test_importing_it_adds_at_most_two_fifths_to_its_dependencies():
    alone, together = [], []
    for _ in range(5):  # in turn, so that a busy moment hits both
        alone.append(imported("numpy, numba, gymnasium, pettingzoo")[0])
        together.append(imported("numpy, numba, gymnasium, pettingzoo, hanamachi")[0])
    assert min(together) < 1.4 * min(alone)
