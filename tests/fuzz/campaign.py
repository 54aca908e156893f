"""Runs of many cases, and of one; what they print and write."""

import json
import time
import traceback
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from itertools import count
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import Any

from harness import BATCH, FAILED, Case, Outcome, named, outcomes, temporary
from targets import TARGETS

from hanamachi.errors import UserError


def campaign(given: Namespace) -> int:
    """Run cases of the targets chosen; returns 1 if one failed."""
    chosen = [given.target] if given.target else list(TARGETS)
    seed = randbelow(10**6) if given.seed is None else given.seed
    for name in chosen:
        TARGETS[name].prepare()
    results: dict[str, dict[str, Any]] = {name: empty(seed) for name in chosen}
    with temporary() as place:
        for cases in batches(chosen, seed, given.minutes, given.share):
            for outcome in outcomes(TARGETS, cases, Path(place)):
                add(results[outcome.case.target], outcome)
    for name, result in results.items():
        print(line_of(name, result))
    if given.json:
        given.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return int(any(result["failures"] for result in results.values()))


def batches(
    chosen: list[str], seed: int, minutes: float | None, share: float
) -> Iterator[list[Case]]:
    """The cases of the samples; or for so many minutes, a part of each target in turn."""
    if minutes is None:
        sizes = {name: max(1, round(TARGETS[name].cases * share)) for name in chosen}
        yield [Case(name, seed, number) for name, size in sizes.items() for number in range(size)]
        return
    end = time.monotonic() + 60 * minutes
    for first in count(0, BATCH // 5):
        for name in chosen:
            if time.monotonic() > end:
                return
            yield [Case(name, seed, number) for number in range(first, first + BATCH // 5)]


def empty(seed: int) -> dict[str, Any]:
    return {"seed": seed, "cases": 0, "verdicts": Counter(), "seconds": 0.0, "slowest": 0.0,
            "failures": []}  # fmt: skip


def add(result: dict[str, Any], outcome: Outcome) -> None:
    result["cases"] += 1
    result["verdicts"][outcome.verdict] += 1
    result["seconds"] = round(result["seconds"] + outcome.seconds, 3)
    result["slowest"] = round(max(result["slowest"], outcome.seconds), 3)
    if outcome.verdict == FAILED:
        result["failures"].append({"case": str(outcome.case), "words": outcome.words})
        print(f"{outcome.case} failed: {outcome.words}\n  {outcome.drawn}")
        print(f"  replay it: make fuzz CASE={outcome.case}", flush=True)


def line_of(name: str, result: dict[str, Any]) -> str:
    verdicts = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(result["verdicts"].items()))
    seconds = f"{result['seconds']:,.0f} s of processor time, {result['slowest']:.1f} s at most"
    return f"{name}: {result['cases']:,} cases with seed {result['seed']}: {verdicts}; {seconds}"


def replayed(text: str) -> int:
    """Run one case here, so that its traceback shows and a debugger can follow it."""
    case = Case.parse(text)
    target = TARGETS[case.target]
    target.prepare()
    with temporary() as place, chdir(place):
        drawn = target.draw(Random(str(case)), Path(place))
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
