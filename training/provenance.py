"""What a reader must know of where the figures come from."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hanamachi.engine.kernels import default_threads

LIBRARIES = (
    "numpy",
    "numba",
    "torch",
    "gymnasium",
    "pettingzoo",
    "stable-baselines3",
    "sb3-contrib",
    "open-spiel",
    "rlcard",
    "pgx",
    "jax",
)


def description() -> dict[str, Any]:
    """The processor, how much of it is used, and what is installed."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": default_threads(),
        "hanamachi": version("hanamachi"),
        "python": platform.python_version(),
        **versions(),
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    found = {}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found


def load() -> float | None:
    """Processes that want to run, averaged over the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
