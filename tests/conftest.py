"""Which files run, and first; and what tests of many folders ask for by name."""

import os
import signal
from collections.abc import Callable, Iterator
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

if os.name == "posix":  # a hangup is tested under nohup, too, which lets it be ignored
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

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


@pytest.fixture(scope="module")
def on_one_thread() -> Iterator[None]:
    """PyTorch leaves all processors but one to the other tests."""
    from hanamachi.training.learner.shards import one_thread_each

    with one_thread_each():
        yield


@pytest.fixture
def hanamachi(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process; returns its exit code, stdout and stderr."""
    from hanamachi.training.cli import main as cli

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        return (ended.value.code, *capsys.readouterr())

    return run
