"""The tree of information-set Monte Carlo tree search, compiled.

A node stands for the actions that lead to it, whatever the cards may be, and so is shared by all
worlds in which these are legal. As a node's actions differ from world to world, each is judged by
how often it was taken out of how often it could have been (Cowling, Powley and Whitehouse 2012,
with a single observer). Actions are many: a node has few children at first, and more as it is
visited more often (progressive widening, Coulom 2007).

Notation: W worlds, D most steps from the root, S seats, A actions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import OVER, apply, below, legal, with_attributes
from hanamachi.engine.kernels import settle
from hanamachi.engine.words import nth_legal

ROOT, NOWHERE = 0, -1

NODE = with_attributes(
    [
        ("action", np.int32),  # that leads here from the parent
        ("child", np.int32),  # the newest; NOWHERE for a leaf
        ("sibling", np.int32),  # the next older child of the same parent; NOWHERE for the oldest
        ("visits", np.int32),
        ("available", np.int32),  # visits of the parent with this action legal
        ("total", np.float32),  # results of the visits, for the seat that acted
    ]
)

Tree = NDArray[Any]  # of NODE, the first so many in use


def new_tree(size: int) -> Tree:
    """A root, and room for as many nodes as there will be worlds."""
    tree = np.zeros(1 + size, NODE)
    tree[ROOT].child = NOWHERE
    return tree


def visits_below_root(tree: Tree, actions: int) -> NDArray[np.float32]:
    """How often each action was taken at the root, (A,)."""
    visits = np.zeros(actions, np.float32)
    child = tree[ROOT].child
    while child != NOWHERE:
        visits[tree[child].action] = tree[child].visits
        child = tree[child].sibling
    return visits


# --- Down


@kernel
def descend(
    rule_set: Any,
    worlds: NDArray[Any],
    tree: Tree,
    used: int,
    explore: float,
    widen: float,
    liking: NDArray[np.float32],
    path: NDArray[np.int32],
    movers: NDArray[np.int8],
    earned: NDArray[np.float64],
) -> int:
    """Play every world on until it has added a node, or ended; returns how many nodes there are.

    `path` (W, D) gets the nodes that it came through, NOWHERE behind them, `movers` (W, D) the
    seats that acted, `earned` (W, S) what it has brought. New actions at the root are tried in
    order of `liking` (A,). Visits count at once: the next worlds look elsewhere although no
    result is known yet.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    mask = np.empty(len(liking), np.int8)
    path[:] = NOWHERE
    earned[:] = 0
    for w in range(len(worlds)):
        game, at, depth, before = worlds[w], ROOT, 0, used
        tree[ROOT].visits += 1
        while game.mover != OVER and depth < path.shape[1] and used == before:
            choices = legal(rule_set, game, mask)
            child, tried = favourite(tree, at, mask, explore)
            if tried < choices and tried <= widen * np.sqrt(tree[at].visits):
                action = untried(game, mask, choices - tried, at == ROOT, liking)
                child, used = add_child(tree, at, action, used), used + 1
            tree[child].visits += 1
            path[w, depth], movers[w, depth] = child, game.mover
            at, depth = child, depth + 1
            apply(rule_set, game, tree[child].action)
            settle(rule_set, game, weights)
            for seat in range(rule_set.seats):
                earned[w, seat] += game.rewards[seat]
    return used


@inline
def favourite(tree: Tree, at: int, mask: NDArray[np.int8], explore: float) -> tuple[int, int]:
    """The legal child with the highest bound, and how many there are; takes them off the mask."""
    chosen, highest, tried = NOWHERE, -np.inf, 0
    i = tree[at].child
    while i != NOWHERE:
        child = tree[i]
        if mask[child.action]:
            mask[child.action] = 0
            tried += 1
            child.available += 1
            bound = child.total + explore * np.sqrt(np.log(child.available) * child.visits)
            bound /= child.visits
            if bound > highest:
                chosen, highest = i, bound
        i = child.sibling
    return chosen, tried


@inline
def untried(
    game: np.record, mask: NDArray[np.int8], choices: int, by_liking: bool, liking: Any
) -> int:
    """One of the actions that the mask still has: the one liked best, or any."""
    if not by_liking:
        return nth_legal(mask, below(game, choices))
    action = nth_legal(mask, 0)
    for other in range(action + 1, len(mask)):
        if mask[other] and liking[other] > liking[action]:
            action = other
    return action


@inline
def add_child(tree: Tree, parent: int, action: int, new: int) -> int:
    node = tree[new]
    node.action = action
    node.child = NOWHERE
    node.sibling = tree[parent].child
    node.available = 1
    tree[parent].child = new
    return new


# --- Up


@kernel
def back_up(
    tree: Tree,
    path: NDArray[np.int32],
    movers: NDArray[np.int8],
    earned: NDArray[np.float64],
) -> None:
    """Add to each node that a world came through what it brought the seat that acted."""
    for w in range(len(path)):
        depth = 0
        while depth < path.shape[1] and path[w, depth] != NOWHERE:
            tree[path[w, depth]].total += earned[w, movers[w, depth]]
            depth += 1
