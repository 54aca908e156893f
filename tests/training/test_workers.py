"""Processes that work for another one leave Ctrl-C to it, from their first moment."""

import os
import signal
from collections.abc import Set

import pytest

from hanamachi.training import workers


def held() -> Set[int]:
    return signal.pthread_sigmask(signal.SIG_BLOCK, set())


@pytest.mark.skipif(os.name != "posix", reason="signals cannot be held")
def test_interrupts_are_held_while_processes_start(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Pool(workers.ProcessPoolExecutor):
        def submit(self, *_: object) -> None:  # type: ignore[override]
            seen.append(signal.SIGINT in held())

    monkeypatch.setattr(workers, "ProcessPoolExecutor", Pool)
    before = held()
    with workers.worker_pool(2):
        assert held() == before
    assert seen == [True]
