"""Reviews that browsers ask for, each made once."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from hanamachi.limits import REVIEWS, REVIEWS_OF_AN_ADDRESS
from hanamachi.sessions.saved_games import Record
from hanamachi.training.evaluation.review import Review, worst
from hanamachi.training.serve.store import Full
from hanamachi.training.serve.worker import Worker

KEPT = 64  # finished reviews, those that were read last


@dataclass(eq=False)
class Making:
    """A review that is being made."""

    task: asyncio.Task[dict[str, Any]]
    address: str  # that asked for it first
    readers: int = 0  # who wait for it


class Reviews:
    """Reviews are made once, move by move, so that searches at the tables come between them."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.waiting: dict[tuple[str, int], Making] = {}
        self.done: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()

    async def of(self, id: str, record: Record, worlds: int, address: str = "") -> dict[str, Any]:
        """The review of a game; Full if too many are being made, for this address or all.

        A review ends when all who wait for it are cancelled.
        """
        wanted = id, worlds
        if wanted in self.done:
            self.done.move_to_end(wanted)
            return self.done[wanted]
        if wanted not in self.waiting:
            self._check_space(address)
            task = asyncio.create_task(self._make(wanted, record))
            self.waiting[wanted] = Making(task, address)
        making = self.waiting[wanted]
        making.readers += 1
        try:
            return await asyncio.shield(making.task)
        finally:
            making.readers -= 1
            if not making.readers:
                making.task.cancel()
                del self.waiting[wanted]

    def _check_space(self, address: str) -> None:
        own = sum(making.address == address for making in self.waiting.values())
        if own >= REVIEWS_OF_AN_ADDRESS or len(self.waiting) >= REVIEWS:
            raise Full("too many games are being reviewed; try again in a minute")

    async def _make(self, wanted: tuple[str, int], record: Record) -> dict[str, Any]:
        review = await self.worker.run(Review, record, wanted[1], self.worker.policy)
        while await self.worker.run(review.judge_next):
            pass
        self.done[wanted] = as_json(review)
        if len(self.done) > KEPT:
            self.done.popitem(last=False)
        return self.done[wanted]


def as_json(review: Review) -> dict[str, Any]:
    return {
        "policy": review.agent,
        "moves": [
            {
                "number": move.number,
                "value": move.value,
                "best": move.best,
                "lost": move.lost,
                "better": move.better,
            }
            for move in review.moves
        ],
        "worst": [move.number for move in worst(review.moves)],
    }
