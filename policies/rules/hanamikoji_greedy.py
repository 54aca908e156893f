"""Greedy: looks one decision ahead and expects the reply that is worst for it.

A table is worth the charm of the geisha who would favour the player if the round ended now, less
the foe's, and for each geisha lead / (1 + her cards that lie on neither side), which tells a safe
majority from a shaky one. The own Secret counts as played. Equally good actions are equally
likely.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji.observation import GIFTS, LEAD, MARKERS, MY_SECRET, PAIRS, TABLE
from hanamachi.games.hanamikoji.rules import GIFT, SECRET, TAKE_CARD, TAKE_PAIR, TRADE_OFF
from hanamachi.policies.policy import Masks, Observations, RulePolicy, Scores


class Greedy(RulePolicy):
    name = "greedy"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, variant.rule_set)


@kernel
def score(rule_set: np.record, observations: Observations, masks: Masks, scores: Scores) -> None:
    for b in range(len(masks)):
        for action in np.flatnonzero(masks[b]):
            scores[b, action] = outlook(rule_set, observations[b], action)


@inline
def outlook(rule_set: np.record, seen: NDArray[np.float32], action: np.intp) -> float:
    """The worth of the table after an action and the reply that is worst for the actor."""
    at, n, kind = rule_set.at, rule_set.geisha, rule_set.kind[action]
    first, second = rule_set.piles[action, 0, :n], rule_set.piles[action, 1, :n]
    nothing = np.zeros(n, np.int8)
    if kind == SECRET:
        return worth(rule_set, seen, first, nothing)
    if kind == TRADE_OFF:
        return worth(rule_set, seen, nothing, nothing)
    if kind == TAKE_CARD:
        offer = seen[at[GIFTS] + n : at[GIFTS] + 2 * n]
        return worth(rule_set, seen, first, offer - first)
    if kind == TAKE_PAIR:
        pair = action - rule_set.first[TAKE_PAIR]
        offer = seen[at[PAIRS] + 2 * n : at[PAIRS] + 4 * n].reshape(2, n)
        return worth(rule_set, seen, offer[pair], offer[1 - pair])
    if kind == GIFT:
        lowest = np.inf
        for g in range(n):
            if first[g] > 0:
                nothing[g] = 1
                lowest = min(lowest, worth(rule_set, seen, first - nothing, nothing))
                nothing[g] = 0
        return lowest
    return min(worth(rule_set, seen, first, second), worth(rule_set, seen, second, first))


@inline
def worth(rule_set: np.record, seen: NDArray[np.float32], mine: NDArray, theirs: NDArray) -> float:
    """What the table is worth once these cards have been added to the two sides."""
    at, n, total = rule_set.at, rule_set.geisha, 0.0
    for g in range(n):
        laid = seen[at[TABLE] + g] + seen[at[TABLE] + n + g] + seen[at[MY_SECRET] + g]
        out = rule_set.cards[g] - laid - mine[g] - theirs[g]
        lead = seen[at[LEAD] + g] + mine[g] - theirs[g]
        marker = seen[at[MARKERS] + g] - seen[at[MARKERS] + n + g]
        favour = np.sign(lead) if lead != 0 else marker
        total += rule_set.cards[g] * favour + lead / (1 + out)
    return total
