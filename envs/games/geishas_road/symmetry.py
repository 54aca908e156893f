"""The symmetries of Geisha's Road: its rules treat all houses alike, but for their order in the
circle, so that it can be turned.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Symmetries, Variant
from hanamachi.games.geishas_road.rules import TAKE_MARKER

# segments that repeat a row of all cards, or of all colours; of the others, two know colours
CARDS = (
    "hand", "dealt", "drawn", "intrigues", "tableaus", "played", "brought", "gifts", "pairs",
    "my hidden", "card out", "card in", "unseen",
)  # fmt: skip
COLOURS = (
    "landed", "markers", "returns", "guests", "collected", "worth", "lead", "ahead",
    "expected lead",
)  # fmt: skip


def symmetries(variant: Variant) -> Symmetries:
    """All turns of the circle."""
    colours = np.arange(variant.rule_set.colours)
    turns = (np.roll(colours, -steps) for steps in range(len(colours)))
    return Symmetries.of(relabel(variant, order) for order in turns)


def relabel(variant: Variant, order: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries, (N,), and the actions, (A,), if colour i stands for colour `order[i]`.

    Slots and places keep their numbers, whatever the order in which they list the cards.
    """
    colours, values = len(order), int(variant.rule_set.values)
    cards = (order[:, None] * values + np.arange(values)).ravel()
    traits = np.concatenate([order, np.arange(colours, colours + values)])
    steps = (order[:, None] * colours + np.arange(colours)).ravel()
    rows = dict.fromkeys(CARDS, cards) | dict.fromkeys(COLOURS, order)
    entries = variant.observation.permuted({**rows, "slots": traits, "steps": steps})
    numbers = {move: action for action, move in enumerate(variant.actions.moves)}
    actions = np.arange(variant.actions.size)
    for action, move in enumerate(variant.actions.moves):
        if move.kind == TAKE_MARKER:
            actions[action] = numbers[replace(move, number=int(order[move.number]))]
    return entries, actions
