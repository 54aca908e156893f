"""Play games in a batch: policies in seats, one decision in every game at a time.

Random numbers for chance and for every decision come from a hash of the seed, the deal and the
number of decisions made, never from the order in which games are played.

Notation: G games, S seats, n rows of one call.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.random_numbers import scatter
from hanamachi.engine.threads import parallel_for
from hanamachi.policies.arrays import Probabilities
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import best, sample, uniforms
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.sessions.events import History
from hanamachi.sessions.players import SeatedPlayer, Turns, in_progress, turns_of
from hanamachi.sessions.worlds import Histories
from hanamachi.training.evaluation.statistics import Float64s

Play = Literal["sample", "argmax"]
Deals = NDArray[np.uint64]  # their numbers
Keep = Callable[[Histories], None]  # takes the games that have been played, by their rows
FAILED = -1  # in place of an action


# --- Decisions


class DecisionRequest(NamedTuple):
    """What a policy is asked: to decide in these turns."""

    side: int  # the policy, by its place among those that play
    decision: int  # of these games, from 1
    player: SeatedPlayer[Policy]
    turns: Turns
    uniform: Float64s  # (n,) the random number of each turn
    play: Play

    def part(self, rows: NDArray[np.int64]) -> "DecisionRequest":
        """The same about some of the turns."""
        return self._replace(turns=self.turns.part(rows), uniform=self.uniform[rows])


# One action for each turn, (n,), or FAILED where the game ends here. The function may do more, such
# as keeping what it sees.
Decider = Callable[[DecisionRequest], NDArray[np.int64]]


def decide(asked: DecisionRequest) -> NDArray[np.int64]:
    """One action for each turn, (n,); UserError if the policy's distribution is not valid."""
    distribution, _ = asked.player.distribution(asked.turns)
    return drawn(distribution, asked.uniform, asked.play)


def own_play(variant: Variant) -> Play:
    """How policies play unless told otherwise: teammates expect each other's likeliest action."""
    return "argmax" if variant.game.cooperative else "sample"


def drawn(distribution: Probabilities, uniform: Float64s, play: Play) -> NDArray[np.int64]:
    """One action for each row of a distribution, (n,)."""
    return sample(best(distribution) if play == "argmax" else distribution, uniform)


# --- Games


def play_games(
    policies: Sequence[Policy],
    variant: Variant,
    seating: NDArray[np.int64],
    deals: Deals,
    seed: int,
    play: Play,
    decider: Decider | None = None,
    keep: Keep | None = None,
) -> tuple[Float64s, NDArray[Any]]:
    """Play one game in each row of `seating`, (G, S).

    Returns what each seat earned, (G, S), and the games as they ended, (G,). `decider` replaces
    `decide`.
    """
    table, deciding = new_games(variant, deals, seed)
    by_views = any(isinstance(policy, ViewPolicy) for policy in policies)
    history = followed(variant, table) if keep or by_views else None
    parallel_for(kernels.reset, variant.rule_set, table)
    players = [SeatedPlayer(policy, variant, len(seating)) for policy in policies]
    returns = np.zeros(seating.shape)
    decider = decider or decide
    decisions = 0
    while (going := in_progress(table)).size:
        turns = turns_of(variant, table, going, history=history)
        uniform = uniforms(deciding + deals[going], decisions)
        decisions += 1
        actions = np.zeros(len(going), np.int64)
        for i, player in enumerate(players):
            own = np.flatnonzero(seating[going, turns.seats] == i)
            if own.size:
                asked = DecisionRequest(i, decisions, player, turns.part(own), uniform[own], play)
                actions[own] = decider(asked)
        if (failed := actions == FAILED).any():
            table["mover"][going[failed]] = OVER
            turns, actions = turns.part(~failed), actions[~failed]
        returns[turns.rows] += turns.step(table, actions)
    if keep and history:
        keep(history)
    return returns, table


def new_games(variant: Variant, deals: Deals, seed: int) -> tuple[NDArray[Any], np.uint64]:
    """Games that chance has not begun yet, (G,), and the generator of the policies' decisions."""
    dealing, deciding = scatter(np.array([2 * seed, 2 * seed + 1], np.uint64))
    return variant.new(dealing + deals), deciding


def followed(variant: Variant, table: NDArray[Any]) -> Histories:
    """The histories of new games, (G,), which chance has not begun yet."""
    first = table.copy()
    for game in first:
        kernels.start_one(variant.rule_set, game)
    histories = [History(variant, first[row : row + 1]) for row in range(len(first))]
    return histories.__getitem__
