"""Greedy: look one decision ahead and assume the worst reply.

The value of a table is the charm of the geisha who would favour the player if the round ended now,
minus the foe's, plus lead / (1 + cards on neither side) for each geisha, which prefers a safe
majority to an unsafe one. The player's Secret counts as played. Equally good actions are equally
likely.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji.observation import LEAD, MARKERS, MY_SECRET, TABLE
from hanamachi.games.hanamikoji.rules import GIFT, SECRET, TAKE_CARD, TAKE_PAIR, TRADE_OFF
from hanamachi.policies.arrays import Masks, Observations, Scores
from hanamachi.policies.rules.hanamikoji_from_observation import Seen, foes_gift, foes_pairs
from hanamachi.policies.rules.rule_policy import RulePolicy


class Greedy(RulePolicy):
    name = "greedy"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, variant.rule_set_array)


@kernel
def score(tables: NDArray[Any], observations: Observations, masks: Masks, scores: Scores) -> None:
    rule_set = tables[0]
    for b in range(len(masks)):
        for action in np.flatnonzero(masks[b]):
            scores[b, action] = score_after(rule_set, observations[b], action)


@inline
def score_after(rule_set: np.record, seen: Seen, action: np.intp) -> float:
    """The value of the table after an action and the reply that is worst for the actor."""
    n, kind = rule_set.geisha, rule_set.kind[action]
    first, second = rule_set.piles[action, 0, :n], rule_set.piles[action, 1, :n]
    no_cards = np.zeros(n, np.int8)
    if kind == SECRET:
        return table_value(rule_set, seen, first, no_cards)
    if kind == TRADE_OFF:
        return table_value(rule_set, seen, no_cards, no_cards)
    if kind == TAKE_CARD:
        offer = seen[foes_gift(rule_set) :][:n]
        return table_value(rule_set, seen, first, offer - first)
    if kind == TAKE_PAIR:
        pair = action - rule_set.first[TAKE_PAIR]
        offer = seen[foes_pairs(rule_set) :][: 2 * n].reshape(2, n)
        return table_value(rule_set, seen, offer[pair], offer[1 - pair])
    if kind == GIFT:
        lowest, taken = np.inf, no_cards.copy()
        for g in range(n):
            if first[g] > 0:
                taken[g] = 1
                lowest = min(lowest, table_value(rule_set, seen, first - taken, taken))
                taken[g] = 0
        return lowest
    return min(
        table_value(rule_set, seen, first, second), table_value(rule_set, seen, second, first)
    )


@inline
def table_value(rule_set: np.record, seen: Seen, mine: NDArray, theirs: NDArray) -> float:
    """The value of the table after these cards have been added to the two sides."""
    at, n, total = rule_set.at, rule_set.geisha, 0.0
    for g in range(n):
        laid = seen[at[TABLE] + g] + seen[at[TABLE] + n + g] + seen[at[MY_SECRET] + g]
        out = rule_set.cards[g] - laid - mine[g] - theirs[g]
        lead = seen[at[LEAD] + g] + mine[g] - theirs[g]
        marker = seen[at[MARKERS] + g] - seen[at[MARKERS] + n + g]
        favour = np.sign(lead) if lead != 0 else marker
        total += rule_set.cards[g] * favour + lead / (1 + out)
    return total
