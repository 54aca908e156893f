"""What Hanamikoji and Geisha's Road share: four actions that each player uses once a round.

They use one, two, three and four cards of the hand. The first two offer nothing to the other
player, the last two half of their cards. `game.used_in` holds the own turn, from 1, in which each
was used, 0 for not yet; `rule_set.in_use` holds which of them are part of the game.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.engine.layout import axis
from hanamachi.errors import UserError, shown, unknown

SIZES = (1, 2, 3, 4)  # cards that each action uses

# axes of what is observed
SIDES = axis(2, "mine, theirs")
OWN_TURNS = SIDES * axis(4, "actions") * axis(4, "own turns")  # in which each action was used
SHARES = axis(2, "my cards, unseen") * axis(2, "to me, to them")


def checked_actions(actions: Any, names: Sequence[str]) -> tuple[str, ...]:
    """The actions in use, in the order of the rulebook."""
    if not isinstance(actions, list | tuple) or not actions:
        raise UserError(f"actions must list at least one action, not {shown(actions)}")
    for action in actions:
        if action not in names:
            raise unknown("action", action, names)
    if max(Counter(actions).values()) > 1:
        raise UserError(f"each action may be listed once, not {shown(actions)}")
    return tuple(action for action in names if action in actions)


def cards_used(names: Sequence[str], actions: Sequence[str], deck: int) -> int:
    """The cards that each player uses in a round, of which there must be enough for both."""
    used = sum(SIZES[names.index(action)] for action in actions)
    if 2 * used > deck:
        raise UserError(
            f"these actions use {2 * used} cards but there are only {deck}; "
            "leave out an action or add cards"
        )
    return used


def sums_by_set(numbers: Sequence[int]) -> NDArray[np.int64]:
    """For every set of things, a bit each: what a number of each of them adds up to, (2**K,)."""
    sets = np.arange(2 ** len(numbers))[:, None]
    members: NDArray[np.int64] = sets >> np.arange(len(numbers)) & 1
    sums: NDArray[np.int64] = members @ np.array(numbers)
    return sums


USES = np.maximum(sums_by_set(SIZES), 1)  # cards of each set of actions; 1 for none, to divide by


@inline
def unused(rule_set: np.record, game: np.record, seat: int, action: int) -> Any:
    return rule_set.in_use[action] == 1 and game.used_in[seat, action] == 0


@inline
def unused_actions(rule_set: np.record, game: np.record, seat: int) -> int:
    """The actions that a seat has left, a bit each."""
    left = 0
    for action in range(4):
        left |= int(unused(rule_set, game, seat, action)) << action
    return left
