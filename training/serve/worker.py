"""A thread that works for the server, which answers meanwhile."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from hanamachi.engine.game import Variant
from hanamachi.policies.external.daemon_threads import DaemonThreads
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy

POLICIES = 64  # loaded at the same time by each worker

T = TypeVar("T")


class Worker:
    """A thread for work that is done one after another, and the policies that play in it."""

    def __init__(self, name: str) -> None:
        self._thread = DaemonThreads(1, name)
        self._loaded = lru_cache(maxsize=POLICIES)(load)

    async def run(self, call: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, call, *arguments)

    def policy(self, spec: str, variant: Variant) -> Policy:
        """The policy for this variant, for the worker to call; UserError if it cannot play it."""
        return self._loaded(spec, variant.id, tuple(variant.options.items()))

    def close(self, wait: bool) -> None:
        """End the thread; what has not begun is not done."""
        self._thread.shutdown(wait=wait, cancel_futures=True)


def load(spec: str, id: str, options: tuple[tuple[str, Any], ...]) -> Policy:
    return load_policy(spec, id, **dict(options))
