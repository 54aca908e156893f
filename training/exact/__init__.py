"""Solve small games exactly: their tree, best responses, NashConv and equilibria.

    import hanamachi
    from hanamachi.policies import load_policy
    from hanamachi.training.exact import exploitability, solve, tabulate, tree_of

    variant = hanamachi.variant("hanamikoji-gifts")
    tree = tree_of(variant)                            # the engine walks it once
    policy = load_policy("expert", variant)
    exploitability(tree, tabulate(tree, policy)).nash_conv
    solve(tree).value                                  # for seat 0, by CFR+

tree.py defines a tree; `tree_of_openspiel` walks games of OpenSpiel.
"""

from hanamachi.games.small import SMALL
from hanamachi.training.exact.cfr import Solution, solve
from hanamachi.training.exact.openspiel import tree_of_openspiel
from hanamachi.training.exact.report import Exact, exact_exploitability
from hanamachi.training.exact.response import (
    Exploitability,
    best_response,
    exploitability,
    nash_conv,
    tabulate,
)
from hanamachi.training.exact.team import Team, best_team
from hanamachi.training.exact.tree import Tree
from hanamachi.training.exact.walk import tree_of

__all__ = [
    "SMALL",
    "Exact",
    "Exploitability",
    "Solution",
    "Team",
    "Tree",
    "best_response",
    "best_team",
    "exact_exploitability",
    "exploitability",
    "nash_conv",
    "solve",
    "tabulate",
    "tree_of",
    "tree_of_openspiel",
]
