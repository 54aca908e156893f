"""What the moves of a policy lose, by the judgement of a search that knows what the seat knew.

The search plays out the move and the ones that it would try in the same worlds, see
`policies/search/regret.py`. A loss is in what the seat earns: at most 2 in competitive games, in
points in cooperative ones. Moves without a choice do not count.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.agents import default_policy
from hanamachi.policies.load import load_policy
from hanamachi.policies.search.regret import regret
from hanamachi.sessions.players import SeatedPlayer, Turns

WORLDS = 32  # in which a review judges each move, unless told


def judge_of(variant: Variant) -> str:
    """The search that judges moves in this game; its budget is that of a review."""
    if variant.game.cooperative:
        return f"search:single_agent:{default_policy(variant)}:worlds={WORLDS},hands=500,top=8"
    return f"search:improve:{default_policy(variant)}:worlds={WORLDS}"


class LossSum(NamedTuple):
    """How much moves with a choice lost in all."""

    moves: int = 0
    lost: float = 0.0


class LossJudge:
    """Judges the moves of one policy in some games."""

    def __init__(self, variant: Variant, games: int, worlds: int) -> None:
        """Each move is judged in this many worlds."""
        self.player: SeatedPlayer[Any] = SeatedPlayer(
            load_policy(judge_of(variant), variant), variant, games
        )
        self.worlds = worlds
        self.moves, self.lost = 0, 0.0

    def add(self, turns: Turns, actions: NDArray[np.int64]) -> None:
        """Add these moves, one for each turn, (n,)."""
        for row, action in enumerate(actions.tolist()):
            turn = turns.part(np.array([row]))
            self.lost += regret(self.player, turn, action, self.worlds).mean
            self.moves += int(np.count_nonzero(turn.masks) > 1)

    def sum(self) -> LossSum:
        return LossSum(self.moves, self.lost)


@dataclass(frozen=True)
class MoveLoss:
    """How much a policy's moves lost in all games of an evaluation."""

    policy: str
    moves: int  #: with a choice
    lost: float  #: by a move on average; see `Regret.mean`


def sum_of(losses: Iterable[LossSum]) -> LossSum:
    moves, lost = zip(*losses, strict=True)
    return LossSum(sum(moves), sum(lost))


def move_loss(name: str, whole: LossSum) -> MoveLoss:
    return MoveLoss(name, whole.moves, round(whole.lost / whole.moves, 6))
