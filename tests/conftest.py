"""Which files are left out where the system is not POSIX, and which files run first."""

import os
from pathlib import Path

import pytest

os.environ["HANAMACHI_QUIET"] = "1"  # whether anything is compiled depends on what ran before

TERMINALS_SIGNALS_FORKS = [
    "fuzz/test_fuzz.py",
    "storage/test_files.py",
    "training/cli/test_play.py",
    "training/cluster/test_cluster.py",
    "training/test_resume.py",
]

collect_ignore = [] if os.name == "posix" else TERMINALS_SIGNALS_FORKS

# so that no process is left alone with a long file at the end
LONGEST = [
    "training/serve/test_page.py",
    "training/cluster/test_cluster.py",
    "training/test_resume.py",
    "engine/test_compiled.py",
    "training/learner/test_learning.py",
    "docs/test_adding_a_game.py",
    "test_packaging.py",
    "docs/test_site.py",
    "games/test_render.py",
    "docs/test_readme.py",
]

LAST = ["fuzz/test_fuzz.py"]  # when other tests have compiled what it needs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    order = [*LONGEST, None, *LAST]  # None stands for all other files
    places = {here / name if name else None: place for place, name in enumerate(order)}
    items.sort(key=lambda item: places.get(item.path, places[None]))
