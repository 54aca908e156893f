"""Start-up time: seconds to import the package and to take a first step, in new processes."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.training.benchmark.measure import Figure, Omission, number_from

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


def figures(variants: Sequence[Variant], rounds: int) -> Iterator[Figure | Omission]:
    """Imports, and a first step with a full and with an empty cache of compiled kernels."""
    yield figure("import hanamachi", partial(times, rounds, IMPORT, "hanamachi"))
    dependencies = partial(times, rounds, IMPORT, *DEPENDENCIES)
    yield figure("import its dependencies alone", dependencies)
    for variant in variants:
        step = f"first step of {variant.id}, kernels"
        yield figure(f"{step} cached", partial(times, rounds, FIRST_STEP, variant.id))
        yield figure(f"{step} to be compiled", partial(compiling, variant))


def figure(what: str, measure: Callable[[], list[float]]) -> Figure | Omission:
    try:
        return Figure(what, "time", "seconds", measure())
    except UserError as error:
        return Omission(f"{what}: not measured, {error}")


def times(rounds: int, program: str, *arguments: str) -> list[float]:
    """The seconds in each round, after a first process that fills the caches."""
    return [seconds_of(program, *arguments) for _ in range(1 + rounds)][1:]


def compiling(variant: Variant) -> list[float]:
    """The seconds of a first step with an empty cache."""
    with tempfile.TemporaryDirectory() as empty:
        return [seconds_of(FIRST_STEP, variant.id, NUMBA_CACHE_DIR=empty)]


def seconds_of(program: str, *arguments: str, **variables: str) -> float:
    return number_from(program, *arguments, PYTHONDONTWRITEBYTECODE="", **variables)
