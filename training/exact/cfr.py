"""CFR+: compute an equilibrium of a competitive game, as a reference for policies.

The seats are updated in turn. Regrets never fall below 0, a policy is proportional to its regrets,
and iteration t has weight t in the average (Tammelin, "Solving Large Imperfect Information Games
Using CFR+", 2014). The average is over the probabilities of whole sequences.

Notation: as in tree.py.
"""

from dataclasses import dataclass

import numpy as np

from hanamachi.engine.compiled import kernel
from hanamachi.errors import UserError, shown
from hanamachi.sessions.arguments import whole_number
from hanamachi.training.exact.response import Exploitability, exploitability, gain, multiply
from hanamachi.training.exact.tree import Float64s, Integers, Tree

ITERATIONS = 1000
ZERO_SUM = 1e-9  # rounding error allowed in the sum of payoffs


@dataclass(frozen=True)
class Solution:
    """The average policy of all iterations, and its exploitability."""

    policy: Float64s  #: (Q,)
    exploitability: Exploitability

    @property
    def value(self) -> float:
        """The value of the game for seat 0; its error is at most the NashConv of the policy."""
        return float(self.exploitability.values[0])


def solve(tree: Tree, iterations: int = ITERATIONS) -> Solution:
    """Run CFR+; UserError unless the game is a two-player zero-sum game."""
    if tree.seats != 2 or np.abs(tree.payoff.sum(1)).max() > ZERO_SUM:
        raise UserError("CFR+ solves competitive games only: choose Hanamikoji or Geisha's Road")
    if whole_number(iterations, "iterations") < 1:
        raise UserError(f"iterations must be at least 1, not {shown(iterations)}")
    regrets, average = np.zeros((2, len(tree.action)))
    iterate(
        tree.leaves,
        tree.weighted_payoff,
        tree.seat,
        tree.before,
        tree.first,
        iterations,
        regrets,
        average,
    )
    policy = np.ones(len(average))
    normalise(tree.first, average, policy)
    return Solution(policy, exploitability(tree, policy))


# --- Compiled


@kernel
def iterate(
    leaves: Integers,  # (L, S)
    weighted_payoff: Float64s,  # (L, S)
    seats: Integers,  # (I,)
    before: Integers,  # (I,)
    first: Integers,  # (I + 1,)
    iterations: int,
    regrets: Float64s,  # (Q,)
    average: Float64s,  # (Q,)
) -> None:
    """Update regrets and average, both 0 at first."""
    policy = np.ones(len(regrets))
    normalise(first, regrets, policy)
    for iteration in range(iterations):
        for seat in range(leaves.shape[1]):
            reach = policy.copy()
            multiply(before, first, reach)
            gains = np.zeros(len(reach))
            gain(leaves, weighted_payoff, reach, seat, gains)
            regret(seats, before, first, seat, policy, gains, regrets)
            add(seats, first, seat, (iteration + 1) * reach, average)
            normalise(first, regrets, policy)


@kernel
def regret(
    seats: Integers,  # (I,)
    before: Integers,  # (I,)
    first: Integers,  # (I + 1,)
    seat: int,
    policy: Float64s,  # (Q,)
    gains: Float64s,  # (Q,)
    regrets: Float64s,  # (Q,)
) -> None:
    """Add the gain of each action of a seat over its policy to the regrets."""
    for i in range(len(before) - 1, -1, -1):
        if seats[i] == seat:
            value = 0.0
            for q in range(first[i], first[i + 1]):
                value += policy[q] * gains[q]
            for q in range(first[i], first[i + 1]):
                regrets[q] = max(regrets[q] + gains[q] - value, 0.0)
            gains[before[i]] += value


@kernel
def add(
    seats: Integers,  # (I,)
    first: Integers,  # (I + 1,)
    seat: int,
    reach: Float64s,  # (Q,)
    average: Float64s,  # (Q,)
) -> None:
    """Add the reach of a seat's sequences to the average."""
    for i in range(len(seats)):
        if seats[i] == seat:
            for q in range(first[i], first[i + 1]):
                average[q] += reach[q]


@kernel
def normalise(
    first: Integers,  # (I + 1,)
    weights: Float64s,  # (Q,)
    policy: Float64s,  # (Q,)
) -> None:
    """Write the policy proportional to these weights; uniform where all are 0."""
    for i in range(len(first) - 1):
        total = 0.0
        for q in range(first[i], first[i + 1]):
            total += weights[q]
        for q in range(first[i], first[i + 1]):
            policy[q] = weights[q] / total if total > 0 else 1 / (first[i + 1] - first[i])
