"""Best responses by plain recursion over a game's whole tree: slow, and short enough to be seen
to be right. A seat's view is all that it has observed at its own decisions, and what it did there.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from positions import copied, legal, observed, outcomes

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant


class Plain(NamedTuple):
    """A state and all that can follow."""

    mover: int
    view: tuple  # of the mover
    payoff: list[float]  # all that has been earned
    children: dict[int, "Plain"]  # by outcome or action
    chances: list[float]  # of the outcomes


def plain_tree(variant: Variant) -> Plain:
    game = variant.new(np.zeros(1, np.uint64))[0]
    kernels.start_one(variant.rule_set, game)
    return grown(variant, game, ((),) * variant.seats, [0.0] * variant.seats)


def grown(variant: Variant, game: np.record, views: tuple, earned: list[float]) -> Plain:
    if game.mover == OVER:
        return Plain(OVER, (), earned, {}, [])
    if game.mover == CHANCE:
        possible = outcomes(variant, game)
        children = {
            o: grown(variant, resolved(variant, game, o), views, earned) for o, _ in possible
        }
        return Plain(CHANCE, (), earned, children, [p for _, p in possible])
    mover = int(game.mover)
    games = np.array([game], variant.game.record)
    view = (*views[mover], observed(variant, games, np.array([mover])).tobytes())
    children = {}
    for action in np.flatnonzero(legal(variant, game)).tolist():
        after = copied(game)
        kernels.apply_one(variant.rule_set, after, action)
        seen = (*views[:mover], (*view, action), *views[mover + 1 :])
        total = [e + float(r) for e, r in zip(earned, after.rewards, strict=False)]
        children[action] = grown(variant, after, seen, total)
    return Plain(mover, view, earned, children, [])


def resolved(variant: Variant, game: np.record, outcome: int) -> np.record:
    after = copied(game)
    kernels.resolve_one(variant.rule_set, after, outcome)
    return after


Policy = dict[Any, dict[int, float]]  # (seat, view) -> action -> probability


def decisions(node: Plain) -> Any:
    """All states in which a seat decides."""
    if node.mover >= 0:
        yield node
    for child in node.children.values():
        yield from decisions(child)


def value(node: Plain, policy: Policy, seat: int) -> float:
    """What a seat can expect if all play by the policy."""
    if node.mover == OVER:
        return node.payoff[seat]
    return sum(p * value(child, policy, seat) for p, child in ways(node, policy))


def ways(node: Plain, policy: Policy) -> list[tuple[float, Plain]]:
    """What can follow, and how likely."""
    if node.mover == OVER:
        return []
    if node.mover == CHANCE:
        return list(zip(node.chances, node.children.values(), strict=True))
    chosen = policy[node.mover, node.view]
    return [(chosen[action], child) for action, child in node.children.items()]


def response_value(root: Plain, policy: Policy, seat: int) -> float:
    """What a seat can expect at most if the others play by the policy."""
    states: dict[tuple, list[tuple[float, Plain]]] = defaultdict(list)  # by view; how likely

    def collect(node: Plain, reach: float) -> None:
        if node.mover == seat:
            states[node.view].append((reach, node))
            following = [(1.0, child) for child in node.children.values()]
        else:
            following = ways(node, policy)
        for p, child in following:
            collect(child, reach * p)

    best: dict[tuple, int] = {}

    def choice(view: tuple) -> int:
        if view not in best:
            actions = states[view][0][1].children
            worth = {a: sum(p * at(node.children[a]) for p, node in states[view]) for a in actions}
            best[view] = max(worth, key=lambda a: worth[a])
        return best[view]

    def at(node: Plain) -> float:
        if node.mover == OVER:
            return node.payoff[seat]
        if node.mover == seat:
            return at(node.children[choice(node.view)])
        return sum(p * at(child) for p, child in ways(node, policy))

    collect(root, 1.0)
    return at(root)
