"""Whatever users give is refused in one sentence or works: no crash, no hang, no silent error.

`make fuzz` draws other cases than these, for as long as it is asked to.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaign import section
from harness import ACCEPTED, FAILED, MEMORY, REFUSED, Case, Target, outcomes, place_of_cases
from root import ROOT
from samples import WHOLE
from targets import TARGETS

from hanamachi.errors import UserError

SEED = 1
SHARE = 1.0 if WHOLE else 0.0005  # of the cases of each target


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[str, Any]:
    """What became of the cases, by target; they run in another process, as it forks."""
    file = tmp_path_factory.mktemp("fuzz") / "results.json"
    command = [sys.executable, Path(__file__).parent, "--seed", SEED, "--share", SHARE]
    words = [*map(str, command), "--json", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert file.exists(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["targets"]
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_every_case_is_refused_in_one_sentence_or_works(target, results):
    assert sum(results[target]["verdicts"].values()) >= 1
    assert results[target]["failures"] == []


def test_the_page_shows_the_last_results():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    last = json.loads((ROOT / "docs" / "reliability.json").read_text(encoding="utf-8"))
    assert section(last) in page
    assert last["targets"].keys() <= TARGETS.keys()


# --- The harness notices what it is there for


def refuse() -> None:
    raise UserError("no")


def fail() -> None:
    raise KeyError("no")


def make_noise() -> None:
    os.write(2, b"Warning\n")


def die() -> None:
    os.abort()


def take_memory() -> None:
    b"." * (MEMORY + (50 << 20))


def work() -> None:
    pass


USES = [refuse, fail, make_noise, die, take_memory, work, take_memory, work]
NUMBERS = {Random(str(Case("any", 0, number))).random(): number for number in range(len(USES))}
ANY = Target(lambda rng, folder: NUMBERS[rng.random()], lambda number: USES[number](), len(USES))


def test_each_fault_is_found_by_its_case_and_the_next_cases_still_run():
    cases = [Case("any", 0, number) for number in range(len(USES))]
    with place_of_cases() as place:
        found = list(outcomes({"any": ANY}, cases, place))
    assert [outcome.case for outcome in found] == cases
    failing = [FAILED, FAILED, FAILED, FAILED, ACCEPTED, FAILED, ACCEPTED]
    assert [o.verdict for o in found] == [REFUSED, *failing]


def test_the_name_of_a_case_names_it():
    case = Case("checkpoints", 7, 123)
    assert Case.parse(str(case)) == case
