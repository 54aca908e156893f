"""Reviews: what the agent thinks of each move of a game, and how much each move lost.

The agent plays along in every seat. Its value is that of the position before a move, seen from seat
0 in competitive games: from -1 (seat 0 has lost) to 1. In cooperative games it is the team's: the
points made so far and those that the agent still expects, later ones counted less. What a move lost
is the judgement of a search that knows only what the seat knew (`policies/search/regret.py`).
"""

import asyncio
from collections import OrderedDict
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.limits import REVIEWS
from hanamachi.policies.search.regret import regret
from hanamachi.policies.thoughts import judgement, thought_of
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.saved_games import Record
from hanamachi.training.serve.lanes import Lane
from hanamachi.training.serve.offers import usual
from hanamachi.training.serve.replays import session_at

WORLDS = 32  # for each move, unless told
WORST = 3  # moves that are pointed out
KEPT = 64  # finished reviews


class Reviews:
    """Reviews are made once, move by move, so that searches at the tables come between them."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.waiting: dict[tuple[str, int], asyncio.Task[dict[str, Any]]] = {}
        self.done: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()

    async def of(self, id: str, record: Record, worlds: int) -> dict[str, Any]:
        """The review of a game; UserError if too many others are being made."""
        wanted = id, worlds
        if wanted in self.done:
            return self.done[wanted]
        if wanted not in self.waiting:
            if len(self.waiting) >= REVIEWS:
                raise UserError("too many games are being reviewed; try again in a minute")
            self.waiting[wanted] = asyncio.create_task(self._make(wanted, record))
        return await asyncio.shield(self.waiting[wanted])

    async def _make(self, wanted: tuple[str, int], record: Record) -> dict[str, Any]:
        try:
            review = await self.lane.run(Review, self.lane, record, wanted[1])
            while not await self.lane.run(review.judge_next):
                pass
        finally:
            del self.waiting[wanted]
        self.done[wanted] = review.as_json()
        if len(self.done) > KEPT:
            self.done.popitem(last=False)
        return self.done[wanted]


class Review:
    """A game that is gone through once more."""

    def __init__(self, lane: Lane, record: Record, worlds: int) -> None:
        self.record, self.worlds = record, worlds
        self.session = session_at(record, 0)
        self.agent, self.spec = usual(record.variant), judge_of(record.variant)
        self.player, self.judge = self._seated(lane, self.agent), self._seated(lane, self.spec)
        self.earned = np.zeros(record.variant.seats)
        self.moves: list[dict[str, Any]] = []

    def _seated(self, lane: Lane, spec: str) -> SeatedPlayer[Any]:
        variant = self.record.variant
        return SeatedPlayer(lane.policy(spec, variant), variant, games=1)

    def judge_next(self) -> bool:
        """Judge the next move, if there is one; returns whether none was left."""
        number = len(self.moves)
        if number == len(self.record.actions):
            return True
        action = self.record.actions[number]
        chances, value = judgement(self.player, self.session)
        self.moves.append(
            {
                "number": number + 1,
                "value": None if value is None else self._seen(value),
                "best": thought_of(self.session, chances, None).choices,
                "lost": self._lost(action),
            }
        )
        self.session.step(action)
        self.earned += self.session.rewards()
        return False

    def _seen(self, value: float) -> float:
        """The value from seat 0, or for the team."""
        if self.record.variant.game.cooperative:
            return float(self.earned[0]) + value
        return value if self.session.mover == 0 else -value

    def _lost(self, action: int) -> float:
        turn, place = turn_of(self.session), (0, self.session.mover)
        search = self.judge.policy.with_worlds(turn.worlds())
        seen = turn.observations, turn.masks, self.judge.memory[place][None]
        lost, memory = regret(search, *seen, action, self.worlds)
        self.judge.memory[place] = memory[0]
        return lost

    def as_json(self) -> dict[str, Any]:
        lost = {move["number"]: move["lost"] for move in self.moves if move["lost"] > 0}
        cooperative = self.record.variant.game.cooperative
        return {
            "policy": self.agent,
            "judge": self.spec,
            "worlds": self.worlds,
            "values_for": "team" if cooperative else "seat 0",
            "moves": self.moves,
            "worst": sorted(lost, key=lambda number: -lost[number])[:WORST],
        }


def judge_of(variant: Variant) -> str:
    """The search that judges moves in this game; its budget is that of the review."""
    if variant.game.cooperative:
        return f"search:single_agent:{usual(variant)}:worlds={WORLDS},hands=500,top=8"
    return f"search:improve:{usual(variant)}:worlds={WORLDS}"
