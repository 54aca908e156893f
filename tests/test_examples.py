"""The examples are short, run as they stand, and say what they need."""

import re
import runpy
import subprocess
import sys

import pytest
from root import ROOT

CLIENTS = runpy.run_path(str(ROOT / "scripts" / "clients.py"))
HERE = ("sb3", "pettingzoo", "gymnasium", "openspiel")  # their libraries are ours as well
LONGEST = {"gymnasium": 150}  # lines; the others at most 60


@pytest.mark.parametrize("name", CLIENTS["EXAMPLES"])
def test_an_example_is_short_and_says_what_it_needs(name):
    lines = CLIENTS["EXAMPLES"][name].read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST.get(name, 60)
    ours, itself, *_ = CLIENTS["requirements"](name)[1:]
    assert ours == ".[train]"
    assert CLIENTS["library"](name) in itself


@pytest.mark.parametrize("command", [[name] for name in HERE] + [["sb3", "--self-play"]], ids=str)
def test_an_example_runs_and_ends_with_its_figure(command):
    name, *flags = command
    done = subprocess.run(
        [sys.executable, CLIENTS["EXAMPLES"][name], "--steps", "64", *flags],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    last = done.stdout.splitlines()[-1]
    figure, low = CLIENTS["figure_of"](done.stdout)
    assert last == f"with_{name}: {figure}"
    assert re.fullmatch(rf"\d+\.\d % against random \({low} to \d+\.\d\), 2,000 games", figure)


# --- The table of clients


def test_a_client_that_fails_says_why(tmp_path):
    with (tmp_path / "log").open("w+") as log, pytest.raises(CLIENTS["Failed"], match="no luck"):
        CLIENTS["said"]([sys.executable, "-c", "raise SystemExit('begun\\nno luck')"], log)
    with pytest.raises(CLIENTS["Failed"], match="no figure"):
        CLIENTS["figure_of"]("with_sb3: nothing")


def test_make_verify_clients_runs_them():
    done = subprocess.run(
        ["make", "--dry-run", "verify-clients"], cwd=ROOT, capture_output=True, text=True
    )
    assert "scripts/clients.py" in done.stdout
