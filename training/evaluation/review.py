"""A review: what the agent thinks of each move of a game, and how much each move lost.

The agent plays along in every seat. Its value is that of the position before a move, seen from seat
0 in competitive games: from -1 (seat 0 has lost) to 1. In cooperative games it is the team's: the
points made so far and those that the agent still expects, later ones counted less. What a move lost
is the judgement of a search that knows only what the seat knew (`policies/search/regret.py`).
"""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.policies.agents import default_policy
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.regret import regret
from hanamachi.policies.thoughts import judgement, thought_of
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.saved_games import Record, replay
from hanamachi.training.evaluation.judge import WORLDS, judge_of

WORST = 3  # moves that are pointed out


class Move(NamedTuple):
    """The review of one move."""

    number: int  # from 1
    by: int  # the seat that made it
    words: str
    value: float | None  # of the position before it; None if the agent has no values
    best: list[tuple[float, str]]  # the agent's most probable actions, with their probabilities
    lost: float  # to two digits; 0 if it may be chance, and for a seat that is not judged
    better: str | None  # the action that the search prefers to one that lost


class Review:
    """A game that is gone through once more, move by move."""

    def __init__(
        self,
        record: Record,
        worlds: int = WORLDS,
        load: Callable[[str, Variant], Policy] = load_policy,
        seats: Collection[int] | None = None,
    ) -> None:
        """The search judges each move of these seats, or of all, in this many worlds.

        There must be at least FEWEST of `regret`. `load` loads the agent and the search.
        """
        self.record, self.worlds, variant = record, worlds, record.variant
        self.seats = range(variant.seats) if seats is None else seats
        self.session = replay(record, 0)
        self.agent, self.spec = default_policy(variant), judge_of(variant)
        self.player, self.searcher = (
            SeatedPlayer(load(spec, variant), variant, games=1) for spec in (self.agent, self.spec)
        )
        self.earned = np.zeros(variant.seats)
        self.moves: list[Move] = []

    def judge_next(self) -> bool:
        """Judge the next move; returns False if none is left."""
        number = len(self.moves)
        if number == len(self.record.actions):
            return False
        action = self.record.actions[number]
        chances, value = judgement(self.player, self.session)
        lost, best = self._judged(action)
        move = Move(
            number + 1,
            self.session.mover,
            self._words(action),
            None if value is None else self._seen(value),
            thought_of(self.session, chances, None).choices,
            lost,
            self._words(best) if lost else None,
        )
        self.moves.append(move)
        self.session.step(action)
        self.earned += self.session.rewards()
        return True

    def _seen(self, value: float) -> float:
        """The value from seat 0, or for the team."""
        if self.record.variant.game.cooperative:
            return float(self.earned[0]) + value
        return value if self.session.mover == 0 else -value

    def _words(self, action: int) -> str:
        return self.record.variant.actions.describe(action, self.session.games[0])

    def _judged(self, action: int) -> tuple[float, int]:
        """What an action lost, and the best action."""
        if self.session.mover not in self.seats:
            return 0.0, action
        found = regret(self.searcher, turn_of(self.session), action, self.worlds)
        return round(found.clear, 2), found.best  # so that all who tell of it draw the same line


def worst(moves: Iterable[Move]) -> list[Move]:
    """The moves that lost most, the worst one first; those that lost nothing are left out."""
    return sorted((move for move in moves if move.lost > 0), key=lambda move: -move.lost)[:WORST]
