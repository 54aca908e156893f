"""Greedy: looks one decision ahead and expects the reply that is worst for it.

A geisha counts as much as she would bring now, and a little more, times lead / (lead + what may
still shake it), so that the same lead is worth more the fewer cards are to come; guests and
unused tokens count as they score. Equally good actions are equally likely.
"""

import numpy as np

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road import observation as entry
from hanamachi.games.geishas_road import rules
from hanamachi.games.geishas_road.from_observation import FOE, ME, act, lay_out, points, reply
from hanamachi.policies.policy import Masks, Observations, RulePolicy, Scores

HOPE = 1.0  # worth of a geisha beside what she would bring now
SHAKE = 0.5  # by how much each card to come may shake a lead
GUEST = 0.3  # worth of a guest beside the sets that it makes now


class Greedy(RulePolicy):
    name = "greedy"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, variant.rule_set)


@kernel
def score(rule_set: np.record, observations: Observations, masks: Masks, scores: Scores) -> None:
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
                after = worth(rule_set, games[2], SHAKE * to_come)
                scores[b, action] = min(scores[b, action], after)


@inline
def worth(rule_set: np.record, game: np.record, shake: float) -> float:
    """What the table is worth, with the reply, to who acts."""
    total = 0.0
    for c in range(rule_set.colours):
        lead = 2.0 * (game.influence[ME, c] - game.influence[FOE, c])
        lead += int(game.marker[c] == ME) - int(game.marker[c] == FOE)
        total += (game.prestige[c] + HOPE) * lead / max(abs(lead) + shake, 1)
        total += GUEST * (game.collected[ME, c] - game.collected[FOE, c])
    return total + points(rule_set, game, ME) - points(rule_set, game, FOE)
