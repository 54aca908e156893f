"""The package holds what it should, and importing it is cheap."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from root import ROOT
from samples import WHOLE

from hanamachi.policies.agents import agents

SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
FOLDERS = ("envs", "training", "policies", "configs")

EXTRAS = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "pydantic", "matplotlib")
EXTRAS += (
    "starlette",
    "uvicorn",
    "websockets",
    "markdown_it",
    "scipy",
    "PIL",
    "onnx",
    "onnxruntime",
    "pyspiel",
    "ray",
    "pyarrow",
)

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


def test_the_environments_know_no_learning_library():
    libraries = ("torch", "stable_baselines3", "sb3_contrib", "tensordict", "ray")
    for path in (ROOT / "envs").rglob("*.py"):
        forbidden = libraries if path.name == "__main__.py" else (*libraries, "hanamachi.training")
        names = list(modules_named(ast.parse(path.read_text())))
        assert not [name for name in names if name.startswith(forbidden)], path


def test_policies_are_known_only_where_an_opponent_is_named():
    for path in (ROOT / "envs").rglob("*.py"):
        names = list(modules_named(ast.parse(path.read_text())))
        knows = [name for name in names if name.startswith("hanamachi.policies")]
        assert not knows or path == ROOT / "envs" / "adapters" / "opponents_and_options.py", path


def test_importing_it_loads_no_learning_library():
    _, loaded = imported("hanamachi")
    brought_by_numba = {"scipy"}
    assert not ({*EXTRAS, "safetensors", "typer", "rich"} - brought_by_numba) & set(loaded)


PLAYED = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))  # as if none of them were installed
import hanamachi
from hanamachi.policies.agents import agents, variant_of
from hanamachi.training import evaluate
from hanamachi.games.registry import VARIANTS

assert hanamachi.__file__.startswith(sys.argv[1]), hanamachi.__file__
for agent in sys.argv[2:]:
    game = variant_of(agent)
    others = [] if VARIANTS[game].cooperative else ["random"]
    evaluate([agent, *others], game, games=2)
print(*agents())
"""
ONE_OF_EACH_GAME = ["hanamikoji", "geishas_road:2021", "hanabi:2p"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # or what an earlier build has left would come along
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = ["-m", "build", "--wheel", "--outdir", folder, source]
    subprocess.run([sys.executable, *build], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", folder / "site", wheel]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)
    return folder / "site"


def elsewhere(site, folder, *arguments):
    """What Python prints in a folder that knows the wheel, and no other copy, with its own modules.

    Uncompiled, as few moves are played.
    """
    environment = os.environ | {"PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, check=False, cwd=folder, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_base_install_has_and_plays_all_agents(site, tmp_path):
    (tmp_path / "hanamachi").mkdir()  # a folder of this name is no package
    played = agents() if WHOLE else ONE_OF_EACH_GAME
    assert elsewhere(site, tmp_path, "-c", PLAYED, site, *played).split() == agents()


STRANGER = {
    "envs/__init__.py": "OWN = 'envs'",
    "training/__init__.py": "OWN = 'training'",
    "policies/__init__.py": "OWN = 'policies'",
    "policies/first.py": """
def legal(variant):
    return lambda observation, mask: int(mask.argmax())
""",
    "configs/__init__.py": "OWN = 'configs'",
    "configs/own.yaml": """
game: hanamikoji
options: {cards: [2, 3, 4], actions: [secret, gift], max_rounds: 1}
steps: 32
num_games: 4
network: {hidden: [8]}
ppo: {batch_size: 16}
opponents: {self: 0.5, policies.first:legal: 0.5}
evaluation: {games: 2, opponents: [random], final_games: 2, final_opponents: [random]}
""",
    "main.py": """
import sys
import configs, envs, policies, training
import hanamachi.configs, hanamachi.policies, hanamachi.training
from hanamachi.policies import load_policy

assert hanamachi.__file__.startswith(sys.argv[1]), hanamachi.__file__
print(envs.OWN, training.OWN, policies.OWN, configs.OWN)
print(load_policy("runs/own/policy").checkpoint.hidden)
print(load_policy("policies.first:legal", "hanamikoji").variant.id)
""",
}


def test_it_gets_along_with_a_project_whose_folders_have_the_same_names(site, tmp_path):
    for name, text in STRANGER.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    elsewhere(site, tmp_path, site / "bin" / "hanamachi", "train", "configs/own.yaml")
    printed = elsewhere(site, tmp_path, "main.py", site).splitlines()
    assert printed == ["envs training policies configs", "(8,)", "hanamikoji"]


def beside_a_folder_of_its_name(program, folder):
    """The exit code of a program and what it says, next to a folder called hanamachi."""
    (folder / "hanamachi").mkdir()
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments", [["-c", "from hanamachi.policies import load_policy"], ["-m", "hanamachi"]]
)
def test_an_editable_install_names_the_folder_that_is_taken_for_it(arguments, tmp_path):
    code, said = beside_a_folder_of_its_name([sys.executable, *arguments], tmp_path)
    assert code == 1
    assert str(tmp_path / "hanamachi") in said.splitlines()[-1]


def test_the_command_works_beside_a_folder_of_its_name(tmp_path):
    command = Path(sys.executable).with_name("hanamachi")
    assert beside_a_folder_of_its_name([command, "--help"], tmp_path)[0] == 0


@pytest.mark.skipif(not WHOLE, reason="a time counts on quiet cores alone")
def test_importing_it_adds_at_most_two_fifths_to_its_dependencies():
    alone, together = [], []
    for _ in range(5):  # in turn, so that a busy moment hits both
        alone.append(imported("numpy, numba, gymnasium, pettingzoo")[0])
        together.append(imported("numpy, numba, gymnasium, pettingzoo, hanamachi")[0])
    assert min(together) < 1.4 * min(alone)
