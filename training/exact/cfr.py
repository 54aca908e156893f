"""CFR+: an equilibrium of a two-player zero-sum game, as a reference to measure policies against.

The seats improve in turn. Regrets never fall below 0, a policy is proportional to its regrets, and
iteration t counts t times in the average (Tammelin, "Solving Large Imperfect Information Games
Using CFR+", 2014). Averages are taken over whole sequences, whose probabilities are linear in what
is averaged.

Notation: as in tree.py.
"""

from dataclasses import dataclass

import numpy as np

from hanamachi.engine.compiled import kernel
from hanamachi.errors import UserError
from hanamachi.training.exact.response import Exploitability, exploitability, gain, multiply
from hanamachi.training.exact.tree import Floats, Integers, Tree

ITERATIONS = 1000
ZERO_SUM = 1e-9  # what payoffs may sum to, by rounding


@dataclass(frozen=True)
class Solution:
    """The average policy of all iterations, and how far it is from an equilibrium."""

    policy: Floats  #: (Q,)
    found: Exploitability

    @property
    def value(self) -> float:
        """Of the game, for seat 0: right within the NashConv found."""
        return float(self.found.values[0])


def solve(tree: Tree, iterations: int = ITERATIONS) -> Solution:
    """So many iterations of CFR+; UserError unless the game is one of two rivals."""
    if tree.seats != 2 or np.abs(tree.payoff.sum(1)).max() > ZERO_SUM:
        raise UserError("CFR+ solves games of two rivals; choose Hanamikoji or Geisha's Road")
    regrets, average = np.zeros((2, len(tree.action)))
    iterate(
        tree.leaves, tree.worth, tree.seat, tree.before, tree.first, iterations, regrets, average
    )
    policy = np.ones(len(average))
    normalise(tree.first, average, policy)
    return Solution(policy, exploitability(tree, policy))


# --- Compiled


@kernel
def iterate(
    leaves: Integers,
    worth: Floats,
    seats: Integers,
    before: Integers,
    first: Integers,
    iterations: int,
    regrets: Floats,
    average: Floats,
) -> None:
    """Bring regrets and average forward; both (Q,), 0 at first."""
    policy = np.ones(len(regrets))
    normalise(first, regrets, policy)
    for iteration in range(iterations):
        for seat in range(leaves.shape[1]):
            reach = policy.copy()
            multiply(before, first, reach)
            gains = np.zeros(len(reach))
            gain(leaves, worth, reach, seat, gains)
            regret(seats, before, first, seat, policy, gains, regrets)
            add(seats, first, seat, (iteration + 1) * reach, average)
            normalise(first, regrets, policy)


@kernel
def regret(
    seats: Integers,
    before: Integers,
    first: Integers,
    seat: int,
    policy: Floats,
    gains: Floats,
    regrets: Floats,
) -> None:
    """Add what each action of a seat would have gained over its policy."""
    for i in range(len(before) - 1, -1, -1):
        if seats[i] == seat:
            value = 0.0
            for q in range(first[i], first[i + 1]):
                value += policy[q] * gains[q]
            for q in range(first[i], first[i + 1]):
                regrets[q] = max(regrets[q] + gains[q] - value, 0.0)
            gains[before[i]] += value


@kernel
def add(seats: Integers, first: Integers, seat: int, reach: Floats, average: Floats) -> None:
    for i in range(len(seats)):
        if seats[i] == seat:
            for q in range(first[i], first[i + 1]):
                average[q] += reach[q]


@kernel
def normalise(first: Integers, weights: Floats, policy: Floats) -> None:
    """A policy in proportion to these weights; every action alike where there are none."""
    for i in range(len(first) - 1):
        total = 0.0
        for q in range(first[i], first[i + 1]):
            total += weights[q]
        for q in range(first[i], first[i + 1]):
            policy[q] = weights[q] / total if total > 0 else 1 / (first[i + 1] - first[i])
