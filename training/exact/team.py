"""The best joint policy of a cooperative game, by a mixed-integer linear programme.

Some deterministic joint policy is optimal, so the sequences of all seats but one are 0 or 1. The
last seat's plan is continuous: a best response to pure plans is a linear programme of its own. The
probability of a leaf is at most each seat's reach of it; this bound needs payoffs of at least 0,
which Hanabi has.

Notation: as in tree.py; V variables, the probabilities of all sequences and of the leaves that pay.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.errors import UserError, missing_extra
from hanamachi.training.exact.response import exploitability
from hanamachi.training.exact.tree import Float64s, Integers, Tree

MAX_LEAVES = 300  # that pay; with more, the programme takes too long
DIGITS = 6  # of a probability from the solver


class Team(NamedTuple):
    """The best joint policy and its value."""

    policy: Float64s  #: (Q,)
    value: float  #: for each seat


def best_team(tree: Tree) -> Team | None:
    """The best joint policy; None if the tree is too large. UserError in a competitive game."""
    paid = tree.weighted_payoff[:, 0] > 0
    if (tree.payoff != tree.payoff[:, :1]).any() or (tree.payoff < 0).any():
        raise UserError(
            "only cooperative games, with equal payoffs of at least 0, have a best team"
        )
    if paid.sum() > MAX_LEAVES:
        return None
    return solved(tree, tree.leaves[paid], tree.weighted_payoff[paid, 0])


def solved(tree: Tree, leaves: Integers, weighted_payoff: Float64s) -> Team:
    """Solve the programme with SciPy."""
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
    except ModuleNotFoundError as error:
        raise missing_extra("scipy", "train") from error
    q = len(tree.action)
    pure = np.append(tree.seat[tree.set_of[tree.seats :]] < tree.seats - 1, np.zeros(len(leaves)))
    solution = milp(
        np.append(np.zeros(q), -weighted_payoff),
        integrality=np.append(np.zeros(tree.seats), pure),
        bounds=Bounds(np.append(np.ones(tree.seats), np.zeros(len(pure))), 1),
        constraints=[
            LinearConstraint(plans(tree, len(leaves)), 0, 0),
            LinearConstraint(reach_limits(leaves, q), -np.inf, 0),
        ],
        options={"mip_rel_gap": 0},
    )
    assert solution.success, solution.message
    policy = behaviour(tree, solution.x[:q].round(DIGITS))
    return Team(policy, float(exploitability(tree, policy).values[0]))


def plans(tree: Tree, leaves: int) -> Any:
    """(I, V) the reach of an information set's sequences, minus the reach of the set."""
    rows = np.concatenate([tree.set_of[tree.seats :], np.arange(tree.sets)])
    columns = np.concatenate([np.arange(tree.seats, len(tree.action)), tree.before])
    signs = np.repeat([1.0, -1.0], [len(tree.action) - tree.seats, tree.sets])
    return sparse(rows, columns, signs, (tree.sets, len(tree.action) + leaves))


def reach_limits(leaves: Integers, q: int) -> Any:
    """(L * S, V) the probability of a leaf, minus each seat's reach of it."""
    rows = np.arange(leaves.size)
    own = np.repeat(np.arange(len(leaves)), leaves.shape[1]) + q
    columns, signs = np.append(own, leaves.ravel()), np.repeat([1.0, -1.0], leaves.size)
    return sparse(np.tile(rows, 2), columns, signs, (leaves.size, q + len(leaves)))


def sparse(rows: Integers, columns: Integers, values: Float64s, shape: tuple[int, int]) -> Any:
    """A sparse matrix of SciPy."""
    from scipy.sparse import csr_array

    return csr_array((values, (rows, columns)), shape)


def behaviour(tree: Tree, reach: Float64s) -> NDArray[np.float64]:
    """The policy of these plans, (Q,); uniform in information sets that are not reached."""
    before = np.repeat(reach[tree.before], tree.choices)
    policy = tree.uniform.copy()
    reached = before > 0
    policy[tree.seats :][reached] = reach[tree.seats :][reached] / before[reached]
    return policy
