"""Reviews that browsers ask for, each made once."""

import asyncio
from collections import OrderedDict
from typing import Any

from hanamachi.limits import REVIEWS
from hanamachi.sessions.saved_games import Record
from hanamachi.training.evaluation.review import Review, worst
from hanamachi.training.serve.store import Full
from hanamachi.training.serve.worker import Worker

KEPT = 64  # finished reviews, those that were read last


class Reviews:
    """Reviews are made once, move by move, so that searches at the tables come between them."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.waiting: dict[tuple[str, int], asyncio.Task[dict[str, Any]]] = {}
        self.done: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()

    async def of(self, id: str, record: Record, worlds: int) -> dict[str, Any]:
        """The review of a game; Full if too many others are being made."""
        wanted = id, worlds
        if wanted in self.done:
            self.done.move_to_end(wanted)
            return self.done[wanted]
        if wanted not in self.waiting:
            if len(self.waiting) >= REVIEWS:
                raise Full("too many games are being reviewed; try again in a minute")
            self.waiting[wanted] = asyncio.create_task(self._make(wanted, record))
        return await asyncio.shield(self.waiting[wanted])

    async def _make(self, wanted: tuple[str, int], record: Record) -> dict[str, Any]:
        try:
            review = await self.worker.run(Review, record, wanted[1], self.worker.policy)
            while await self.worker.run(review.judge_next):
                pass
        finally:
            del self.waiting[wanted]
        self.done[wanted] = as_json(review)
        if len(self.done) > KEPT:
            self.done.popitem(last=False)
        return self.done[wanted]


def as_json(review: Review) -> dict[str, Any]:
    return {
        "policy": review.agent,
        "moves": [
            {"number": move.number, "value": move.value, "best": move.best, "lost": move.lost}
            for move in review.moves
        ],
        "worst": [move.number for move in worst(review.moves)],
    }
