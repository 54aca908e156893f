"""Where figures come from: the machine, the versions of libraries, the revision of the code."""

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.utils import get_device

from hanamachi.engine.threads import default_threads
from hanamachi.training.config import Config
from hanamachi.training.revision import git_revision

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
RESUMED = "resumed with"  # in run.json, after what the run began with
OF_A_RUN = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")


def of_run(config: Config) -> dict[str, Any]:
    """What it takes to repeat a run."""
    return {
        "hanamachi": version("hanamachi"),
        "python": platform.python_version(),
        **{name: version(name) for name in OF_A_RUN},
        "processor": processor(),
        "device": device(config),
        "threads": torch.get_num_threads(),
        "seed": config.seed,
        "revision": git_revision(),
    }


def resumed_with(run: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a run that continues with what `now` describes.

    What differs from its beginning is kept under RESUMED, once for each machine and version.
    """
    changed = {what: value for what, value in now.items() if run.get(what) != value}
    known = run.get(RESUMED, [])
    return {**run, RESUMED: [*known, changed]} if changed and changed not in known else dict(run)


def device(config: Config) -> str:
    """Where the network is trained."""
    chosen = get_device(config.device)
    return torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else chosen.type


def description() -> dict[str, Any]:
    """What the figures of a benchmark depend on: the processor, the threads, the libraries."""
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


def load_average() -> float | None:
    """The mean number of processes that wanted to run during the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
