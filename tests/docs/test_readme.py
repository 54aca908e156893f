"""Every command and every piece of code in the pages runs as it stands, on a small budget.

`tiny` and `small_benchmarks` are the only changes: they make runs short and samples small. What
starts a cluster runs in `make verify` alone. A tutorial is one session in Python: its blocks follow
each other, and its blocks of text are what they print.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import commands
import pytest
import yaml
from chat_servers import chat_server, first_legal
from root import ROOT
from samples import WHOLE

from hanamachi.games.registry import VARIANTS
from hanamachi.training.benchmark import engine, kernel
from hanamachi.training.config import Config

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "benchmarks").glob("*.md")),
    *sorted((ROOT / "envs" / "games").glob("*/RULES.md")),
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if ROOT / "docs" / "source" not in page.parents
    ),
]
FOLLOWED = ROOT / "docs" / "adding-a-game.md"  # as a whole, by test_adding_a_game.py
TUTORIALS = [page for page in PAGES if page.parent == ROOT / "docs" / "tutorials"]
NOT_OURS = "pgx", "jaxmarl", "datasets", "minari", "pandas"  # not installed for the tests
TEXT = {page: page.read_text(encoding="utf-8") for page in PAGES}

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)\)")
IMPORTS_A_COPY = {"scripts/draw_imports.py"}
COMPILERS = "g++", "rustc"
COMMAND = re.compile(r"`(?:hanamachi|make|python) [^`]+`")

SMALL_RUN = {
    "steps": 256,
    "num_games": 8,
    "network.hidden": "[16]",
    "ppo.batch_size": 64,
    "evaluation.games": 2,
    "evaluation.final_games": 2,
}


def as_small_run(command):
    """A command of training, with a small run's settings beside its own."""
    added = {name: value for name, value in SMALL_RUN.items() if f" {name}=" not in command[0]}
    return command[0] + "".join(f" --set {name}={value}" for name, value in added.items())


SMALLER = (
    (r"hanamachi train .*", as_small_run),
    (r"(hanamachi sweep .*)", r"\1 --set sweep.trials=1"),
    (r"hanamachi sweep .*", as_small_run),
    (r"(hanamachi benchmark .*)", r"\1 --rounds 1"),
    (r"(hanamachi benchmark (?:--|engine|adapters|training).*)", r"\1 --seconds 0"),
    (r"(hanamachi benchmark (?:--|evaluation|scale|memory).*)", r"\1 --most 2"),
    (r"(python benchmarks/peers.py .*)", r"\1 --rounds 1 --seconds 0"),
    (r"(hanamachi evaluate .*)", r"\1 --games 2"),
    (r"(hanamachi arena .* --game .*)", r"\1 --games 2 --processes 1"),
    (r"(hanamachi exploit .* --search .*)", r"\1 --games 2"),
    (r"(hanamachi exploit .*) --steps \d+", r"\1 --steps 64 --seeds 1 --config small.yaml"),
    (r"(python examples/with_.*)", r"\1 --steps 64"),
    (r"(python benchmarks/browsers.py.*)", r"\1 --games 2 --seconds 2"),
    (r"http://127.0.0.1:11434/v1", "http://model"),
    (r"(python scripts/leaderboard.py .*)", r"\1 --each 2 --search-each 2"),
    (r'Config\.load\("configs/hanamikoji.yaml"', 'Config.load("small.yaml"'),
    (r"steps=\d+", "steps=256"),
    (r"evaluation\.every=\d+", "evaluation.every=128"),
    (r"worlds=\d+", "worlds=2"),
    (r"(?<!Limits\()seconds=[\d.]+", "seconds=0.01"),  # of a search; a bot may take its time
    (r"--games \d+", "--games 2"),
    (r"\bgames=\d+", "games=2"),
    (r'("MlpPolicy", env[^)]*)\)\.learn\([\d_]+\)', r"\1, n_steps=64).learn(64)"),
)

BLOCKS = [block for page in PAGES if page != FOLLOWED for block in BLOCK.findall(TEXT[page])]
TOLD = {page: BLOCK.findall(TEXT[page]) for page in TUTORIALS}
LINES = [line for kind, block in BLOCKS if kind == "bash" for line in block.splitlines()]
# a cluster takes long to start, and so do all benchmarks and all that can be compiled
SPREAD = re.compile(
    r"--ray|hanamachi warmup|hanamachi sweep|runs/spread|benchmark --out|peers.py( --out|$)"
)
COMMANDS = [
    line
    for line in dict.fromkeys(shlex.join(shlex.split(line, comments=True)) for line in LINES)
    if WHOLE or not SPREAD.search(line)
]
TRAINING = [line for line in COMMANDS if line.startswith("hanamachi train")]
IN_TUTORIALS = [block for blocks in TOLD.values() for kind, block in blocks if kind == "python"]
PYTHON = dict.fromkeys(block for kind, block in BLOCKS if kind == "python")
ALONE = [block for block in PYTHON if block not in IN_TUTORIALS]
MODULE = re.compile(r"# (\w+\.py)\n")  # the first line of a block that is a file


def tiny(code):
    for pattern, replacement in SMALLER:
        code = re.sub(pattern, replacement, code)
    return code


def words_of(line):
    """The words of a command, on the small budget."""
    return shlex.split(tiny(line))


def run(line, folder):
    """Run a command of ours, or a compiler; a language model answers if the command names one."""
    with chat_server(first_legal) as server:
        there = f"{server.url}&cache={folder / 'replies'}"
        words = [word.replace("http://model", there) for word in words_of(line)]
        run_words(words, folder)


def run_words(words, folder):
    program, *arguments = words
    if program in COMPILERS:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
        subprocess.run([program, *arguments], cwd=folder, check=True)
        return
    if program == "python":
        name, *arguments = arguments
        start = in_own_process if name in IMPORTS_A_COPY else commands.script
        start(ROOT / name, arguments, folder)
        return
    assert Path(program).name == "hanamachi"
    commands.hanamachi(arguments, folder)


def in_own_process(path, arguments, folder):
    """What a script prints that must not find the package imported already."""
    return commands.own_process([str(path), *arguments], folder)


def served(line, folder):
    """Start a server, look at its page, and stop it."""
    words = [word for word in words_of(line)[1:] if word != "--open"]
    if words[0] == "serve":
        words += ["--port", "0", "--data", "tables"]
    command = [sys.executable, "-m", "hanamachi", *words]
    quiet = {**os.environ, "BROWSER": "true"}  # a browser that shows nothing
    pipes = {"cwd": folder, "env": quiet, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        try:
            address = re.search(r"http://[\w.:]+", server.stdout.readline())[0]
            with urlopen(address) as page:
                assert page.status == 200
        finally:
            server.terminate()


def made(line):
    """What a command of make would do, with all set up."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run(
        [*words_of(line), "--dry-run"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.fixture(autouse=True)
def small_benchmarks(monkeypatch):
    """Benchmarks record and play a few games only."""
    if not WHOLE:
        monkeypatch.setattr(engine, "MANY", 64)
        monkeypatch.setattr(kernel, "BATCH", 16)
        monkeypatch.setattr(kernel, "RECORDED", 20)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A folder with the settings of all runs, in which the page's training has been done."""
    folder = tmp_path_factory.mktemp("workshop")
    shutil.copytree(ROOT / "configs", folder / "configs")
    shutil.copytree(ROOT / "examples" / "bots", folder / "examples" / "bots")
    small = Config.load(
        ROOT / "configs" / "hanamikoji.yaml", [f"{k}={v}" for k, v in SMALL_RUN.items()]
    )
    (folder / "small.yaml").write_text(small.to_yaml(), encoding="utf-8")
    for block in IN_TUTORIALS:
        if file := MODULE.match(block):
            (folder / file[1]).write_text(block, encoding="utf-8")
    for line in TRAINING:
        run(line, folder)
    return folder


# --- Commands and code


def test_training_leaves_what_the_page_says(workshop):
    assert TRAINING
    for name in ("policy/model.safetensors", "policy/README.md", "evaluation.json", "tensorboard"):
        assert (workshop / "runs" / "first" / name).exists()
        assert (workshop / "runs" / "hanamikoji" / name).exists(), "named after its settings"


@pytest.mark.parametrize("block", ALONE)
def test_code_runs(block, workshop):
    for name in NOT_OURS:
        if re.search(rf"^(import|from) {name}\b", block, re.MULTILINE) and not find_spec(name):
            pytest.skip(f"{name} is not installed")
    commands.python(tiny(block), workshop)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_says(page, workshop):
    session = "\n".join(block for kind, block in TOLD[page] if kind == "python")
    printed = commands.python(tiny(session), workshop)
    for kind, block in TOLD[page]:
        if kind == "text":
            assert block in printed
            printed = printed.partition(block)[2]


@pytest.mark.parametrize("line", [line for line in COMMANDS if line not in TRAINING])
def test_commands_run(line, workshop):
    if line.startswith("make "):
        assert made(line)
    elif line.startswith("hanamachi serve") or "--web" in line:
        served(line, workshop)
    else:
        run(line, workshop)


def test_every_block_is_of_a_kind_that_is_run():
    for page in PAGES:
        kinds = {kind for kind, _ in BLOCK.findall(TEXT[page])} if page != FOLLOWED else set()
        assert kinds <= {"bash", "python", *(["text"] if page in TUTORIALS else [])}, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_stand_in_blocks_where_they_are_run(page):
    lines = [line for line in BLOCK.sub("", TEXT[page]).splitlines() if COMMAND.search(line)]
    assert lines == []


def test_make_train_trains_and_judges(workshop):
    (command,) = [line for line in made("make train") if "hanamachi train" in line]
    run(command, workshop)
    assert (workshop / "runs" / "make-train" / "evaluation.json").exists()


def test_the_budget_is_made_small():
    """Otherwise this file would take hours without anybody knowing why."""
    assert all("--set steps=256" in shlex.join(words_of(line)) for line in TRAINING)
    run = [tiny(block) for kind, block in BLOCKS if kind != "text"]
    numbers = [int(n.replace("_", "")) for block in run for n in re.findall(r"\d[\d_]+", block)]
    assert max(numbers) <= 256


# --- What the page speaks of


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    inside = [link for link in LINK.findall(TEXT[page]) if "://" not in link]
    assert not [link for link in inside if not (page.parent / link).exists()]


def test_every_extra_is_explained():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = TEXT[ROOT / "docs" / "install.md"]
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert rows == list(project["optional-dependencies"])


def test_the_readme_is_short():
    assert len(TEXT[ROOT / "README.md"].splitlines()) <= 150


def test_every_variant_has_settings_of_its_own():
    files = (ROOT / "configs").glob("*.yaml")
    games = {yaml.safe_load(file.read_text(encoding="utf-8"))["game"] for file in files}
    assert games == set(VARIANTS)
