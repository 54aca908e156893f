"""What happens to a policy that fails: it forfeits the game.

It fails if it raises an error, or if its answer is no distribution over the legal actions. Only the
games in which it fails are forfeited: a batch that fails is asked about again in halves, down to
single games. Where a server does not answer, the evaluation stops.

Notation: n rows of one call.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.errors import Unavailable, UserError, shortened
from hanamachi.policies.entry_point import type_and_message
from hanamachi.policies.external.process import NotReady
from hanamachi.training.evaluation.judge import LossJudge
from hanamachi.training.evaluation.playing import FAILED, Deals, DecisionRequest, decide


class Failure(NamedTuple):
    """A policy that failed in a game, and thereby forfeited it."""

    side: int  # the policy: the first or the second of its pairing
    deal: int
    decision: int  # in its game, from 1
    error: str
    started: bool = True  # False for a bot that did not become ready


def in_order(failures: Iterable[Failure]) -> list[Failure]:
    """Failures in the order of their deals."""
    return sorted(failures, key=lambda failure: (failure.deal, *failure))


class Referee:
    """Lets policies that fail forfeit their games in a batch; if strict, raises their errors."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.found: list[tuple[int, int, int, str, bool]] = []  # as in a Failure, its row first

    def decide(self, asked: DecisionRequest) -> NDArray[np.int64]:
        """One action for each turn, (n,), FAILED where the policy fails."""
        try:
            return decide(asked)
        except (MemoryError, Unavailable):
            raise
        except Exception as error:
            if self.strict:
                raise
            if (turns := len(asked.uniform)) > 1:
                halves = np.array_split(np.arange(turns), 2)
                return np.concatenate([self.decide(asked.part(half)) for half in halves])
            words = str(error) if isinstance(error, UserError) else type_and_message(error)
            row, started = int(asked.turns.rows[0]), not isinstance(error, NotReady)
            self.found.append((row, asked.side, asked.decision, shortened(words), started))
            return np.array([FAILED])

    def sides(self) -> list[tuple[int, int]]:
        """The row of each game that was forfeited, and the side that did."""
        return [(row, side) for row, side, *_ in self.found]

    def failures(self, deals: Deals) -> list[Failure]:
        """All of them, in the order of the deals, given the deal of each row."""
        return in_order(
            Failure(side, int(deals[row]), decision, error, started)
            for row, side, decision, error, started in self.found
        )


class MoveJudges:
    """Lets judges look at what the policies decide."""

    def __init__(self, referee: Referee, judges: Sequence[LossJudge]) -> None:
        """`judges` has one for each policy."""
        self.referee, self.judges = referee, judges

    def decide(self, asked: DecisionRequest) -> NDArray[np.int64]:
        """One action for each turn, (n,), FAILED where the policy fails."""
        actions = self.referee.decide(asked)
        done = actions != FAILED
        self.judges[asked.side].add(asked.turns.part(done), actions[done])
        return actions
