"""The symmetries of Hanamikoji: its rules treat geisha with equally many items alike."""

from dataclasses import replace
from itertools import permutations, product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Symmetries, Variant
from hanamachi.errors import UserError
from hanamachi.games.hanamikoji.actions import Cards
from hanamachi.limits import SYMMETRIES

# segments that know no geisha; each other one repeats a row of all of them
OF_NO_GEISHA = (
    "to do", "used in", "pair taken", "began", "round", "favours", "to come", "flow",
)  # fmt: skip


def symmetries(variant: Variant) -> Symmetries:
    """All orders of the geisha in which each has as many items as before.

    UserError if there are too many to be used.
    """
    cards = variant.options["cards"]
    count = prod(factorial(cards.count(items)) for items in set(cards))
    if count > SYMMETRIES:
        raise UserError(
            f"geisha with {cards=} can be exchanged in {count} ways, and symmetries can be used up "
            f"to {SYMMETRIES}"
        )
    return Symmetries.of(relabel(variant, np.array(order)) for order in orders(cards))


def orders(cards: Cards) -> list[Cards]:
    """Which geisha stands in the place of each; first all in their own."""
    alike = [[h for h, n in enumerate(cards) if n == items] for items in dict.fromkeys(cards)]
    found = []
    for arranged in product(*map(permutations, alike)):
        order = np.arange(len(cards))
        for places, geisha in zip(alike, arranged, strict=True):
            order[places] = geisha
        found.append(tuple(order.tolist()))
    return found


def relabel(variant: Variant, order: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries, (N,), and the actions, (A,), if geisha i stands for geisha `order[i]`.

    The two pairs of an offer keep their order, on which no rule depends.
    """
    names = {segment.name for segment in variant.observation.segments}.difference(OF_NO_GEISHA)
    entries = variant.observation.permuted(dict.fromkeys(names, order))
    numbers = {move: action for action, move in enumerate(variant.actions.moves)}

    def renamed(cards: Cards) -> Cards:
        return tuple(sorted(int(order[g]) for g in cards))

    actions = []
    for move in variant.actions.moves:
        piles = sorted(map(renamed, (move.cards, move.second)), key=lambda pile: (not pile, pile))
        first, second = piles
        actions.append(numbers[replace(move, cards=first, second=second)])
    return entries, np.array(actions)
