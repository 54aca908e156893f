"""The examples run as they stand, and say what they need."""

import re
import runpy
import subprocess
import sys

import commands
import pytest
from chat_servers import chat_server, first_legal
from root import ROOT

CLIENTS = runpy.run_path(str(ROOT / "scripts" / "clients.py"))
# what an example imports, if that is not its library: our environments are PettingZoo's
MODULES = {"pettingzoo": "hanamachi import hanamikoji_v0"}
# their libraries are ours as well
HERE = ("sb3", "pettingzoo", "gymnasium", "openspiel", "own_learner")


@pytest.mark.parametrize("name", CLIENTS["EXAMPLES"])
def test_an_example_says_what_it_needs(name):
    assert CLIENTS["requirements"](name)[1] in (".", ".[train]")
    library = CLIENTS["library"](name).replace("-", "_")
    code = CLIENTS["EXAMPLES"][name].read_text(encoding="utf-8")
    module = MODULES.get(library, library)
    assert re.search(rf"^ *(?:from|import) {module}\b", code, re.MULTILINE)


@pytest.mark.parametrize("command", [[name] for name in HERE] + [["sb3", "--self-play"]], ids=str)
def test_an_example_runs_and_ends_with_its_figure(command, tmp_path):
    name, *flags = command
    printed = commands.script(CLIENTS["EXAMPLES"][name], ["--steps", "64", *flags], tmp_path)
    last = printed.splitlines()[-1]
    figure, low = CLIENTS["figure_of"](printed)
    assert last == f"with_{name}: {figure}"
    assert re.fullmatch(rf"\d+\.\d% against random \({low} to \d+\.\d\), 2,000 games", figure)


def test_the_example_of_a_language_model_asks_it_and_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with chat_server(first_legal) as server:
        words = ["test", "--url", server.url, "--games", "2", "--temperature", "0"]
        example = ROOT / "examples" / "with_language_model.py"
        figure, use = commands.script(example, words, tmp_path).splitlines()
    assert re.match(r"with_language_model: \d+\.\d% against greedy", figure)
    assert f"replies: {len(server.asked)}," in use
    assert server.asked[0]["temperature"] == 0


# --- The table of clients


def test_a_client_that_fails_says_why(tmp_path):
    with (
        (tmp_path / "log").open("w+") as log,
        pytest.raises(CLIENTS["ClientFailure"], match="no luck"),
    ):
        CLIENTS["said"]([sys.executable, "-c", "raise SystemExit('begun\\nno luck')"], log)
    with pytest.raises(CLIENTS["ClientFailure"], match="no figure"):
        CLIENTS["figure_of"]("with_sb3: nothing")


def test_make_verify_clients_runs_them():
    done = subprocess.run(
        ["make", "--dry-run", "verify-clients"], cwd=ROOT, capture_output=True, text=True
    )
    assert "scripts/clients.py" in done.stdout
