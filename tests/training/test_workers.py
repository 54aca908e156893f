"""Processes that work for another one leave Ctrl-C to it, and end when it does."""

import os
import signal
import subprocess
import sys
from collections.abc import Set
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from hanamachi.training import workers


def held() -> Set[int]:
    return signal.pthread_sigmask(signal.SIG_BLOCK, set())


@pytest.mark.skipif(os.name != "posix", reason="signals cannot be held")
def test_all_processes_start_while_signals_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Pool(workers.ProcessPoolExecutor):
        def __init__(self, *settings: Any) -> None:
            seen.append(set(workers.HELD) <= held())  # it starts Python's tracker of resources
            super().__init__(*settings)

        def submit(self, *work: Any, **more: Any) -> Any:  # type: ignore[override]
            seen.append(set(workers.HELD) <= held())
            return super().submit(*work, **more)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", Pool)
    before, others = held(), active_children()
    with workers.worker_pool(3):
        assert held() == before
        assert len(workers.children_but(others)) == 3
    assert len(seen) >= 4
    assert all(seen)


POOL = """
import sys, time
from hanamachi.training.workers import worker_pool

if __name__ == "__main__":
    with worker_pool(2) as pool:
        pool.submit(time.sleep, 600)
        pool.submit(time.sleep, 600)
        print("ready", flush=True)
        time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    command = [sys.executable, "pool.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "ready\n"
        parent.kill()
        parent.communicate(timeout=60)  # the workers hold its output open until they end
