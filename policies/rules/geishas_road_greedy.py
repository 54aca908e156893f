"""Greedy: look one decision ahead and assume the worst reply.

Each geisha counts her current points and a bonus, times lead / (lead + the change that cards to
come may bring), so that a lead counts more the fewer cards are to come. Guests and unused tokens
count as they score. Equally good actions are equally likely.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road import observation as entry
from hanamachi.games.geishas_road import rules
from hanamachi.policies.arrays import Masks, Observations, Scores
from hanamachi.policies.rules.geishas_road_from_observation import (
    FOE,
    ME,
    act,
    lay_out,
    points,
    reply,
)
from hanamachi.policies.rules.rule_policy import RulePolicy

BONUS = 1.0  # value of a geisha in addition to her current points
CHANGE = 0.5  # that each card to come may bring to a lead
GUEST = 0.3  # value of a guest in addition to its current sets


class Greedy(RulePolicy):
    name = "greedy"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, variant.rule_set_array)


@kernel
def score(tables: NDArray[Any], observations: Observations, masks: Masks, scores: Scores) -> None:
    rule_set = tables[0]
    games = np.zeros(3, rules.RECORD)  # now, after an action, and after its reply
    for b in range(len(masks)):
        seen = observations[b]
        lay_out(rule_set, seen, games[0])
        to_come = seen[rule_set.at[entry.TO_COME]] + seen[rule_set.at[entry.TO_COME] + 1]
        for action in np.flatnonzero(masks[b]):
            games[1] = games[0]
            replies = act(rule_set, seen, games[1], action)
            scores[b, action] = np.inf
            for number in range(replies):
                games[2] = games[1]
                reply(rule_set, games[2], replies, number)
                after = table_value(rule_set, games[2], CHANGE * to_come)
                scores[b, action] = min(scores[b, action], after)


@inline
def table_value(rule_set: np.record, game: np.record, change: float) -> float:
    """The value of the table for the player who acts."""
    total = 0.0
    for c in range(rule_set.colours):
        lead = 2.0 * (game.influence[ME, c] - game.influence[FOE, c])
        lead += int(game.marker[c] == ME) - int(game.marker[c] == FOE)
        total += (game.prestige[c] + BONUS) * lead / max(abs(lead) + change, 1)
        total += GUEST * (game.collected[ME, c] - game.collected[FOE, c])
    return total + points(rule_set, game, ME) - points(rule_set, game, FOE)
