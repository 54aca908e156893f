"""The symmetries of Hanabi: its rules treat all colours alike, but for the multicolour suit."""

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Symmetries, Variant
from hanamachi.games.hanabi.rules import CLUE

# segments that repeat a row of all cards, of all traits, or of both; no other one knows colours
CARDS = "fireworks", "discards", "unseen", "hands", "card"
TRAITS = ("trait",)
BOTH = "my cards", "their cards"


def symmetries(variant: Variant) -> Symmetries:
    """All orders of the colours."""
    colours = range(variant.options["colours"])
    return Symmetries.of(relabel(variant, np.array(order)) for order in permutations(colours))


def relabel(variant: Variant, order: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries, (N,), and the actions, (A,), if colour i stands for colour `order[i]`."""
    suits, ranks = int(variant.rule_set.suits), int(variant.rule_set.ranks)
    suit = np.concatenate([order, np.arange(len(order), suits)])
    cards = (suit[:, None] * ranks + np.arange(ranks)).ravel()
    traits = np.concatenate([suit, np.arange(suits, suits + ranks)])
    both = np.concatenate([cards, len(cards) + traits])
    rows = dict.fromkeys(CARDS, cards) | dict.fromkeys(TRAITS, traits) | dict.fromkeys(BOTH, both)
    entries = variant.observation.permuted(rows)
    actions, clue = np.arange(variant.actions.size), variant.rule_set.clue
    for action, move in enumerate(variant.actions.moves):
        if move.kind == CLUE:
            actions[action] = clue[move.offset, traits[move.trait]]
    return entries, actions
