"""Start: seconds from nothing to the first step, each time in a process of its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.measure import Figure

IMPORT = """
import sys, time
begun = time.perf_counter()
for name in sys.argv[1:]:
    __import__(name)
print(time.perf_counter() - begun)
"""
FIRST_STEP = """
import sys, time
import hanamachi
begun = time.perf_counter()
env = hanamachi.make(sys.argv[1])
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
env.last()
print(time.perf_counter() - begun)
"""
DEPENDENCIES = ("numpy", "numba", "gymnasium", "pettingzoo")


def figures(games: Sequence[Variant], rounds: int) -> Iterator[Figure]:
    """Imports, and a first step with kernels that were kept and with none."""
    yield timed("import hanamachi", rounds, IMPORT, "hanamachi")
    yield timed("import what it needs, alone", rounds, IMPORT, *DEPENDENCIES)
    for variant in games:
        yield timed(f"first step of {variant.id}, compiled before", rounds, FIRST_STEP, variant.id)
        with tempfile.TemporaryDirectory() as empty:
            values = [seconds_of(FIRST_STEP, variant.id, NUMBA_CACHE_DIR=empty)]
        yield figure(f"first step of {variant.id}, to be compiled", values)


def timed(what: str, rounds: int, program: str, *arguments: str) -> Figure:
    """A first, unmeasured process leaves its files in the caches."""
    seconds_of(program, *arguments)
    return figure(what, [seconds_of(program, *arguments) for _ in range(rounds)])


def figure(what: str, values: list[float]) -> Figure:
    return Figure(what, "time", "seconds", values)


def seconds_of(program: str, *arguments: str, **variables: str) -> float:
    command = [sys.executable, "-c", program, *arguments]
    kept: Mapping[str, str] = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
    return float(done.stdout)
