"""The most that partners can make together, by a mixed-integer linear programme.

Some joint policy without any chance in it is best, so the sequences of all seats but one are 0 or
1; the last seat's plan may be any, as a best response to pure plans is a linear programme of its
own. A leaf counts as far as every seat plays towards it, which is at most as far as each of them
does: payoffs below 0 would break that, and Hanabi has none.

Notation: as in tree.py; V variables, the probabilities of all sequences and of the leaves that pay.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.errors import UserError, missing_extra
from hanamachi.training.exact.response import exploitability
from hanamachi.training.exact.tree import Floats, Integers, Tree

MOST = 300  # leaves that pay; the programme's branches grow too fast for more
ROUNDED = 6  # digits of a probability that the solver finds


class Team(NamedTuple):
    """The best joint policy, and what it makes."""

    policy: Floats  #: (Q,)
    value: float  #: of the game, for each of them


def best_team(tree: Tree) -> Team | None:
    """What partners make who agree on the best policies; None if the tree is too large for that.

    UserError between rivals.
    """
    paid = tree.worth[:, 0] > 0
    if (tree.payoff != tree.payoff[:, :1]).any() or (tree.payoff < 0).any():
        raise UserError("a best team is for partners, who are paid alike; rivals have none")
    return solved(tree, tree.leaves[paid], tree.worth[paid, 0]) if paid.sum() <= MOST else None


def solved(tree: Tree, leaves: Integers, worth: Floats) -> Team:
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
    except ModuleNotFoundError as error:
        raise missing_extra("scipy", "train") from error
    q = len(tree.action)
    pure = np.append(tree.seat[tree.set_of[tree.seats :]] < tree.seats - 1, np.zeros(len(leaves)))
    found = milp(
        np.append(np.zeros(q), -worth),
        integrality=np.append(np.zeros(tree.seats), pure),
        bounds=Bounds(np.append(np.ones(tree.seats), np.zeros(len(pure))), 1),
        constraints=[
            LinearConstraint(plans(tree, len(leaves)), 0, 0),
            LinearConstraint(reach_limits(leaves, q), -np.inf, 0),
        ],
        options={"mip_rel_gap": 0},
    )
    assert found.success, found.message
    policy = behaviour(tree, found.x[:q].round(ROUNDED))
    return Team(policy, float(exploitability(tree, policy).values[0]))


def plans(tree: Tree, leaves: int) -> Any:
    """(I, V) what is taken in an information set, less what leads there."""
    rows = np.concatenate([tree.set_of[tree.seats :], np.arange(tree.sets)])
    columns = np.concatenate([np.arange(tree.seats, len(tree.action)), tree.before])
    signs = np.repeat([1.0, -1.0], [len(tree.action) - tree.seats, tree.sets])
    return sparse(rows, columns, signs, (tree.sets, len(tree.action) + leaves))


def reach_limits(leaves: Integers, q: int) -> Any:
    """(L * S, V) how far a leaf counts, less how far each seat plays towards it."""
    rows = np.arange(leaves.size)
    own = np.repeat(np.arange(len(leaves)), leaves.shape[1]) + q
    columns, signs = np.append(own, leaves.ravel()), np.repeat([1.0, -1.0], leaves.size)
    return sparse(np.tile(rows, 2), columns, signs, (leaves.size, q + len(leaves)))


def sparse(rows: Integers, columns: Integers, values: Floats, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((values, (rows, columns)), shape)


def behaviour(tree: Tree, reach: Floats) -> NDArray[np.float64]:
    """The policy of these plans; every action alike where they do not come."""
    before = np.repeat(reach[tree.before], tree.choices)
    policy = tree.uniform.copy()
    met = before > 0
    policy[tree.seats :][met] = reach[tree.seats :][met] / before[met]
    return policy
