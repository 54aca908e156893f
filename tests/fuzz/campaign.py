"""Runs of many cases, and of one; what they print and write."""

import json
import platform
import time
import traceback
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import Any

from harness import ACCEPTED, FAILED, REFUSED, Case, Outcome, named, outcomes, place_of_cases
from targets import TARGETS

from hanamachi.errors import UserError
from hanamachi.training.provenance import processor

TURN = 100  # cases of a target before the next target's turn, where time is given
Results = Mapping[str, dict[str, Any]]  # by target


def campaign(given: Namespace) -> int:
    """Run cases of the targets chosen; returns 1 if one failed."""
    for name in given.target:
        if name not in TARGETS:
            raise UserError(f"there is no target {name}; choose from {', '.join(TARGETS)}")
    chosen = given.target or list(TARGETS)
    seed = randbelow(10**6) if given.seed is None else given.seed
    results = {name: nothing_yet(seed) for name in chosen}
    with place_of_cases() as place:
        for name in chosen:
            TARGETS[name].prepare()
        for cases in batches(chosen, seed, given.minutes, given.share):
            for outcome in outcomes(TARGETS, cases, place):
                add(results[outcome.case.target], outcome)
    found = described(results)
    print(section(found), end="")
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return int(any(result["failures"] for result in results.values()))


def batches(
    chosen: list[str], seed: int, minutes: float | None, share: float
) -> Iterator[list[Case]]:
    """The cases of the samples; or for some minutes, a part of each target in turn."""
    if minutes is None:
        sizes = {name: max(1, round(TARGETS[name].cases * share)) for name in chosen}
        yield [Case(name, seed, number) for name, size in sizes.items() for number in range(size)]
        return
    end = time.monotonic() + 60 * minutes
    for first in count(0, TURN):
        for name in chosen:
            if time.monotonic() > end:
                return
            yield [Case(name, seed, number) for number in range(first, first + TURN)]


def nothing_yet(seed: int) -> dict[str, Any]:
    counts = Counter({REFUSED: 0, ACCEPTED: 0, FAILED: 0})
    return {"seed": seed, "verdicts": counts, "seconds": 0.0, "slowest": 0.0, "failures": []}


def add(result: dict[str, Any], outcome: Outcome) -> None:
    """Count an outcome; a failure is printed with the command that replays it."""
    result["verdicts"][outcome.verdict] += 1
    result["seconds"] += outcome.seconds
    result["slowest"] = max(result["slowest"], outcome.seconds)
    if outcome.verdict == FAILED:
        result["failures"].append({"case": str(outcome.case), "words": outcome.words})
        print(f"{outcome.case} failed: {outcome.words}\n  {outcome.drawn}")
        print(f"  replay it: make fuzz CASE={outcome.case}", flush=True)


# --- Results


def table(results: Results) -> str:
    """As the page on reliability shows it."""
    rows = ["| target | seed | cases | refused | accepted | failed | longest |", "|---" * 7 + "|"]
    for name, result in results.items():
        verdicts = [result["verdicts"][verdict] for verdict in (REFUSED, ACCEPTED, FAILED)]
        numbers = " | ".join(f"{number:,}" for number in (sum(verdicts), *verdicts))
        rows.append(f"| `{name}` | {result['seed']} | {numbers} | {result['slowest']:.1f} s |")
    return "\n".join(rows)


def described(results: Results) -> dict[str, Any]:
    """The results, and when and where they were found."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "version": version("hanamachi"),
        "python": platform.python_version(),
        "machine": f"{platform.system()}, {processor()}",
        "targets": results,
    }


def section(found: Mapping[str, Any]) -> str:
    """What the page on reliability shows of the results."""
    return (
        f"Run on {found['date']} with hanamachi {found['version']}, Python {found['python']}, "
        f"{found['machine']}.\n\n{table(found['targets'])}\n"
    )


# --- One case


def replayed(text: str) -> int:
    """Run one case here, so that its traceback shows and a debugger can follow it."""
    case = Case.parse(text)
    target = TARGETS[case.target]
    with place_of_cases():
        target.prepare()
        drawn = target.draw(Random(str(case)), Path())
        print(f"{case}: {drawn!r}")
        try:
            target.use(drawn)
        except UserError as error:
            print(f"refused: {error}")
        except BaseException as error:
            traceback.print_exc()
            print(named(error))
            return 1
        else:
            print("accepted")
    return 0
