"""Processes that work for another one leave Ctrl-C to it, from their first moment."""

import os
import signal
from collections.abc import Set
from multiprocessing import active_children
from typing import Any

import pytest

from hanamachi.training import workers


def held() -> Set[int]:
    return signal.pthread_sigmask(signal.SIG_BLOCK, set())


@pytest.mark.skipif(os.name != "posix", reason="signals cannot be held")
def test_all_processes_start_while_interrupts_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Pool(workers.ProcessPoolExecutor):
        def submit(self, *work: Any, **more: Any) -> Any:  # type: ignore[override]
            seen.append(signal.SIGINT in held())
            return super().submit(*work, **more)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", Pool)
    before, others = held(), active_children()
    with workers.worker_pool(3):
        assert held() == before
        assert len(workers.children_but(others)) == 3
    assert len(seen) >= 3
    assert all(seen)
