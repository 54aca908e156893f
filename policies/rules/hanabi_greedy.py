"""Greedy: play cards that are surely playable, else clue playable ones, else discard the oldest.

Of the clues, it prefers the one after which the owner is surest that a playable card is playable.
It takes clues literally. Equally good actions are equally likely.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi import rules
from hanamachi.policies.arrays import Masks, Observations, Scores
from hanamachi.policies.rules.hanabi_from_observation import (
    ME,
    Games,
    lay_out,
    may_hold,
    next_cards,
    trash,
)
from hanamachi.policies.rules.rule_policy import RulePolicy

PLAYABLE, CLUE, TRASH, OLDEST, OTHERS, RISK = 5, 3, 2, 1, 0, -1  # up to 1 is added to a clue


class Greedy(RulePolicy):
    name = "greedy"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, variant.rule_set_array)


@kernel
def score(tables: NDArray[Any], observations: Observations, masks: Masks, scores: Scores) -> None:
    rule_set = tables[0]
    games = np.zeros(2, rules.RECORD)  # now, and after a clue
    for b in range(len(masks)):
        lay_out(rule_set, observations[b], games[0])
        for action in np.flatnonzero(masks[b]):
            kind, slot = rule_set.kind[action], rule_set.slot[action]
            if kind == rules.PLAY:
                scores[b, action] = play_score(rule_set, games[0], slot)
            elif kind == rules.DISCARD:
                scores[b, action] = discard_score(rule_set, games[0], slot)
            else:
                games[1] = games[0]
                rules.give_clue(rule_set, games[1], rule_set.offset[action], rule_set.trait[action])
                scores[b, action] = clue_score(rule_set, games, rule_set.offset[action])


@inline
def play_score(rule_set: np.record, game: np.record, slot: int) -> float:
    sure = candidates(rule_set, game, ME, slot) & ~next_cards(rule_set, game.fireworks) == 0
    return PLAYABLE if sure else RISK


@inline
def discard_score(rule_set: np.record, game: np.record, slot: int) -> float:
    if candidates(rule_set, game, ME, slot) & ~trash(rule_set, game) == 0:
        return TRASH
    return OLDEST if slot == 0 else OTHERS


@inline
def clue_score(rule_set: np.record, games: Games, seat: int) -> float:
    """Higher the surer the owner of a playable card becomes, if the clue says anything new."""
    highest, playable = float(OTHERS), next_cards(rule_set, games[0].fireworks)
    for slot in range(games[0].held[seat]):
        before = candidates(rule_set, games[0], seat, slot)
        after = candidates(rule_set, games[1], seat, slot)
        learns = after != before and before & ~playable
        if learns and playable >> int(games[0].hand[seat, slot]) & 1:
            highest = max(highest, CLUE + count(after & playable) / count(after))
    return highest


@inline
def candidates(rule_set: np.record, game: np.record, seat: int, slot: int) -> int:
    """The cards that a slot can hold, by clues and by the cards that both its owner and I see."""
    return int(game.possible[seat, slot]) & may_hold(rule_set, game, seat)
