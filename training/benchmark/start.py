"""Start-up time: seconds to import the package and to take a first step, in new processes."""

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


def figures(variants: Sequence[Variant], rounds: int) -> Iterator[Figure]:
    """Imports, and a first step with a full and with an empty cache of compiled kernels."""
    yield timed("import hanamachi", rounds, IMPORT, "hanamachi")
    yield timed("import its dependencies alone", rounds, IMPORT, *DEPENDENCIES)
    for variant in variants:
        yield timed(f"first step of {variant.id}, kernels cached", rounds, FIRST_STEP, variant.id)
        with tempfile.TemporaryDirectory() as empty:
            values = [seconds_of(FIRST_STEP, variant.id, NUMBA_CACHE_DIR=empty)]
        yield figure(f"first step of {variant.id}, kernels to be compiled", values)


def timed(what: str, rounds: int, program: str, *arguments: str) -> Figure:
    """A first, unmeasured process fills the caches."""
    seconds_of(program, *arguments)
    return figure(what, [seconds_of(program, *arguments) for _ in range(rounds)])


def figure(what: str, values: list[float]) -> Figure:
    return Figure(what, "time", "seconds", values)


def seconds_of(program: str, *arguments: str, **variables: str) -> float:
    command = [sys.executable, "-c", program, *arguments]
    environment: Mapping[str, str] = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)
