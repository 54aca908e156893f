"""Whether a record is a position of Hanamikoji: the round in progress is played again.

`game` is a RECORD of any bytes, `rule_set` a RULE_SET. A record holds all events of its round.
What carried over from earlier rounds is checked by itself.
"""

import numpy as np

from hanamachi.engine.compiled import inline
from hanamachi.engine.replay import after_use_of, leads_to, same
from hanamachi.games.four_actions import sums_by_set
from hanamachi.games.hanamikoji.information import rewind
from hanamachi.games.hanamikoji.rules import (
    ENDED,
    GEISHA,
    NONE,
    RECORD,
    TAKE_PAIR,
    goal_reached,
    start,
)

ITEMS = sums_by_set((1, 0, 3, 4))  # of each set of tiles: items that reach a side in a round
MOST_ROUNDS = 2**30  # of a game without a limit; the number of a round has room for as many more


@inline
def valid(rule_set: np.record, game: np.record) -> bool:
    earlier = np.empty(1, RECORD)
    earlier[0] = game
    if game.round_number == 0:
        start(rule_set, earlier[0])
        return after_use_of(earlier, same(earlier[0], game))
    if game.phase == ENDED:
        move_markers_back(earlier[0])
    if not can_begin(rule_set, earlier[0]):
        return False
    earlier[0].winner = NONE
    earlier[0].rewards[:] = 0
    rewind(rule_set, earlier[0])
    mask = np.empty(rule_set.first[TAKE_PAIR + 1], np.int8)
    return after_use_of(earlier, leads_to(rule_set, earlier[0], game, game, mask))


@inline
def move_markers_back(game: np.record) -> None:
    """The last round may have found each marker that it moved in the centre."""
    for g in range(GEISHA):
        if game.table[0, g] != game.table[1, g]:
            game.marker[g] = NONE


@inline
def can_begin(rule_set: np.record, game: np.record) -> bool:
    """Whether a round can have this number, this starter, and these markers at its beginning."""
    number, starter = int(game.round_number), int(game.starter)
    if not 1 <= number <= (rule_set.max_rounds or MOST_ROUNDS) or not 0 <= starter <= 1:
        return False
    if rule_set.starter not in (NONE, (starter + number - 1) % 2):  # they take turns
        return False
    moved = 0
    for g in range(GEISHA):
        if not NONE <= game.marker[g] <= 1 or (g >= rule_set.geisha and game.marker[g] != NONE):
            return False
        moved += game.marker[g] != NONE
    if moved > (number - 1) * 2 * items_of_a_side(rule_set):
        return False
    return goal_reached(rule_set, game) == NONE


@inline
def items_of_a_side(rule_set: np.record) -> int:
    """How many items each side gets in a round."""
    tiles = 0
    for action in range(4):
        tiles |= int(rule_set.in_use[action]) << action
    items: int = ITEMS[tiles]
    return items
