"""The compiled tree of information-set Monte Carlo tree search.

A node stands for a sequence of actions, and all worlds in which these are legal share it. The legal
actions of a node differ between worlds, so the bound of an action counts the visits in which it was
legal (Cowling, Powley and Whitehouse 2012, with a single observer). Games have many actions, so a
node starts with few children and gets more with its visits (progressive widening, Coulom 2007).

Notation: W worlds, D maximum depth, S seats, A actions.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.action_masks import nth_legal
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.contract import OVER, apply, legal
from hanamachi.engine.kernels import settle
from hanamachi.engine.random_numbers import below
from hanamachi.engine.records import with_attributes

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

Tree = NDArray[Any]  # of NODE; only the first ones are in use


class Growth(NamedTuple):
    """How the tree grows."""

    explore: float  # weight of the exploration term
    widen: float  # a node gets another child while it has at most widen * sqrt(visits) legal ones


class Descents(NamedTuple):
    """What happened in each world on its way down the tree."""

    path: NDArray[np.int32]  # (W, D) the nodes visited, NOWHERE after the last
    movers: NDArray[np.int8]  # (W, D) the seats that acted
    earned: NDArray[np.float64]  # (W, S) the rewards so far


def new_descents(worlds: int, depth: int, seats: int) -> Descents:
    """Descents whose arrays are not filled yet."""
    shape = worlds, depth
    return Descents(np.empty(shape, np.int32), np.empty(shape, np.int8), np.empty((worlds, seats)))


def new_tree(size: int) -> Tree:
    """A tree with a root and room for `size` more nodes."""
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


# --- From the root down


@kernel
def descend(
    rule_set: Any,
    worlds: NDArray[Any],
    tree: Tree,
    used: int,
    growth: Growth,
    scores: NDArray[np.float32],
    descents: Descents,
) -> int:
    """Play every world until it adds a node or ends; returns the number of nodes.

    Writes `descents`. New actions at the root are tried in order of `scores` (A,). Visits count
    at once, before any result is known, so that the next worlds explore other nodes.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    mask = np.empty(len(scores), np.int8)
    path, movers, earned = descents
    path[:] = NOWHERE
    earned[:] = 0
    for w in range(len(worlds)):
        game, at, depth, before = worlds[w], ROOT, 0, used
        tree[ROOT].visits += 1
        while game.mover != OVER and depth < path.shape[1] and used == before:
            choices = legal(rule_set, game, mask)
            child, tried = best_child(tree, at, mask, growth.explore)
            if tried < choices and tried <= growth.widen * np.sqrt(tree[at].visits):
                action = untried(game, mask, choices - tried, at == ROOT, scores)
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
def best_child(tree: Tree, at: int, mask: NDArray[np.int8], explore: float) -> tuple[int, int]:
    """The legal child with the highest bound, and how many there are; clears them in `mask`."""
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
    game: np.record, mask: NDArray[np.int8], choices: int, by_score: bool, scores: Any
) -> int:
    """One of the actions left in the mask: the one with the highest score, or a random one."""
    if not by_score:
        return nth_legal(mask, below(game, choices))
    action = nth_legal(mask, 0)
    for other in range(action + 1, len(mask)):
        if mask[other] and scores[other] > scores[action]:
            action = other
    return action


@inline
def add_child(tree: Tree, parent: int, action: int, new: int) -> int:
    """Make node `new` the newest child of `parent`; returns it."""
    node = tree[new]
    node.action = action
    node.child = NOWHERE
    node.sibling = tree[parent].child
    node.available = 1
    tree[parent].child = new
    return new


# --- Back up


@kernel
def back_up(tree: Tree, descents: Descents) -> None:
    """Add the rewards of each world to the nodes it visited, for the seat that acted there."""
    path, movers, earned = descents
    for w in range(len(path)):
        depth = 0
        while depth < path.shape[1] and path[w, depth] != NOWHERE:
            tree[path[w, depth]].total += earned[w, movers[w, depth]]
            depth += 1
