"""Whatever users give is refused in one sentence or works: no crash, no hang, no silent error.

`make fuzz` draws other cases than these, for as long as it is asked to.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import harness
import pytest
from campaign import section
from harness import (
    ACCEPTED,
    FAILED,
    MEMORY,
    REFUSED,
    Case,
    Outcome,
    Target,
    outcomes,
    place_of_cases,
)
from root import ROOT
from samples import WHOLE
from targets import TARGETS

from hanamachi.errors import UserError
from hanamachi.limits import MESSAGE

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


def say(message: str) -> None:
    """Refuse in words that no UserError has by itself."""
    error = UserError("no")
    error.args = (message,)
    raise error


def spin() -> None:
    begin = time.process_time()
    while time.process_time() < begin + 1.1 * harness.SECONDS:
        pass


def sleep() -> None:
    time.sleep(10)


def work() -> None:
    pass


FAULTS = {
    "KeyError": fail,
    "noise: Warning": make_noise,
    "the process ended with": die,
    "message of 0 characters": partial(say, ""),
    f"message of {MESSAGE + 1} characters": partial(say, "x" * (MESSAGE + 1)),
    "message of 1 characters": partial(say, "\0"),
    "large": take_memory,
}


def judged(*uses: Callable[[], None]) -> list[Outcome]:
    """What becomes of a case of each of these uses, one after the other."""
    cases = [Case("any", 0, number) for number in range(len(uses))]
    drawn = {Random(str(case)).random(): use for case, use in zip(cases, uses, strict=True)}
    target = Target(lambda rng, folder: drawn[rng.random()], lambda use: use(), len(uses))
    with place_of_cases() as place:
        found = list(outcomes({"any": target}, cases, place))
    assert [outcome.case for outcome in found] == cases
    return found


def test_each_fault_is_found_by_its_case_and_the_next_cases_still_run():
    refused, *found = judged(refuse, *(use for fault in FAULTS.values() for use in (fault, work)))
    assert refused.verdict == REFUSED
    assert [outcome.verdict for outcome in found] == [FAILED, ACCEPTED] * len(FAULTS)
    for outcome, words in zip(found[::2], FAULTS, strict=True):
        assert outcome.words.startswith(words)


@pytest.mark.parametrize(
    ("limit", "most", "fault", "words"),
    [
        ("SECONDS", 0.1, spin, "slow"),
        ("ASLEEP", 1, sleep, f"the process ended with {-signal.SIGALRM}"),
    ],
)
def test_a_case_that_takes_too_long_is_found_too(limit, most, fault, words, monkeypatch):
    monkeypatch.setattr(harness, limit, most)
    found = judged(fault, work)
    assert [outcome.verdict for outcome in found] == [FAILED, ACCEPTED]
    assert found[0].words.startswith(words)


def test_the_name_of_a_case_names_it():
    case = Case("checkpoints", 7, 123)
    assert Case.parse(str(case)) == case
