"""What the experts of both geisha games share: how a lead may still change, and values of actions.

Each side takes ACTIONS actions in a round, one in each of its TURNS turns.

A row of `gains` holds the probability of each change of the lead at one geisha, from the worst for
me to the best; the middle entry is that of no change.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.arrays import Float32s
from hanamachi.engine.compiled import inline

MEAN_WEIGHT = 0.25  # of the mean over replies; the worst reply has the rest
ACTIONS = TURNS = 4
FOES = ACTIONS * TURNS  # where the entries of the foe's actions begin, behind mine
BRINGS_ME, BRINGS_FOE, USES = range(3)  # how many cards an action brings me, the foe, and uses


@inline
def action_value(bonus: float, worst: float, total: float, replies: int) -> float:
    """The value of an action, from its bonus and the values after each of its replies."""
    return bonus + (1 - MEAN_WEIGHT) * worst + MEAN_WEIGHT * total / replies


@inline
def add_card(gains: Float32s, by: int, to_me: float, to_foe: float, out: Float32s) -> None:
    """Write the gains after one more card, which changes the lead by `by`."""
    stays, most = 1 - to_me - to_foe, len(gains) - 1
    for i in range(len(gains)):  # a loop, as products of slices would allocate arrays
        out[i] = stays * gains[i]
        if i >= by:
            out[i] += to_me * gains[i - by]
        if i <= most - by:
            out[i] += to_foe * gains[i + by]


@inline
def add(sums: NDArray[np.float64], terms: Float32s) -> None:
    """Add in place; a loop, as a sum of arrays takes seconds to compile."""
    for i in range(len(sums)):
        sums[i] += terms[i]


@inline
def destinations(
    rule_set: np.record,
    used_in: Float32s,
    hand: float,
    unseen: float,
    cards: Float32s,
    kind: int,
    keeping: int,
    skill: float,
) -> tuple[float, float, float, float]:
    """The probabilities that a card of my hand, and an unseen one, ends with me or the foe.

    They are those after an action of this kind. `used_in` are the observation's entries of the
    turn in which each action was used, (2 * FOES,) at least; `hand` and `unseen` are numbers of
    cards, and `cards` those of each kind of action, (kinds, 3). By `keeping` the foe has kept a
    card. The foe places unseen cards better than at random by `skill`.
    """
    mine, theirs, kept = np.zeros(3), np.zeros(3), 0.0  # of the actions that are left
    for action in range(ACTIONS):
        turns = used_in[TURNS * action :]
        if rule_set.in_use[action] and action != kind and turns[:TURNS].sum() == 0:
            add(mine, cards[action])
        if rule_set.in_use[action] and turns[FOES : FOES + TURNS].sum() == 0:
            add(theirs, cards[action])
        elif rule_set.in_use[action] and action == keeping:
            kept = 1.0
    all_unseen = max(unseen, 1)
    draws = mine[USES] + cards[kind, USES] - hand
    me, foe = mine[BRINGS_ME] / max(mine[USES], 1), mine[BRINGS_FOE] / max(mine[USES], 1)
    unseen_me = (draws * me + theirs[BRINGS_FOE]) / all_unseen
    unseen_foe = (draws * foe + theirs[BRINGS_ME] + kept) / all_unseen
    better = skill * unseen_me * unseen_foe
    return me, foe, unseen_me - better, unseen_foe + better
