"""Exact solving of small games: the whole tree, best responses, NashConv, equilibria.

    from hanamachi.policies import load_policy
    from hanamachi.training.exact import SMALL, asked, exploitability, solve, tree_of

    variant = SMALL["hanamikoji-9"].variant()
    tree = tree_of(variant)                            # walked once, by the engine
    policy = load_policy("expert", variant.id, **variant.options)
    exploitability(tree, asked(tree, policy)).nash_conv
    solve(tree).value                                  # for seat 0, by CFR+

tree.py says what a tree is; `tree_of_openspiel` walks the games of OpenSpiel as well.
"""

from hanamachi.training.exact.cfr import Solution, solve
from hanamachi.training.exact.openspiel import tree_of_openspiel
from hanamachi.training.exact.response import (
    Exploitability,
    asked,
    best_response,
    exploitability,
    nash_conv,
)
from hanamachi.training.exact.small import SMALL, Small
from hanamachi.training.exact.tree import Tree
from hanamachi.training.exact.walk import tree_of

__all__ = [
    "SMALL",
    "Exploitability",
    "Small",
    "Solution",
    "Tree",
    "asked",
    "best_response",
    "exploitability",
    "nash_conv",
    "solve",
    "tree_of",
    "tree_of_openspiel",
]
