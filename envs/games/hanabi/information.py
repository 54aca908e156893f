"""Hidden cards of Hanabi: `redeal` deals a player's own hand again, as the clues allow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.engine.random_numbers import below
from hanamachi.games.hanabi.rules import CARDS, NONE

# --- What a player cannot see


@inline
def redeal(rule_set: np.record, world: np.record, seat: int) -> None:
    """Deal the seat's own hand and the deck again, as all clues and all open cards allow.

    Every way to fill the slots of the hand with different physical cards that their clues allow is
    equally likely. Each slot draws a card by itself, evenly among those that its clues allow; a
    hand that holds the same physical card twice is drawn again. The true hand is one way, so at
    least one draw in h! is kept for a hand of h: at worst its slots allow 1, 2, ... h of the same
    cards.
    """
    held = count_as_unseen(world, seat)
    taken = np.zeros(CARDS, np.int8)  # copies of each card, a bit each
    kept = False
    while not kept:
        taken[:] = 0
        kept = True
        for slot in range(held):
            card, copy = random_copy(rule_set, world, world.possible[seat, slot])
            kept &= taken[card] >> copy & 1 == 0
            taken[card] |= 1 << copy
            world.hand[seat, slot] = card
    for slot in range(held):
        world.unseen[world.hand[seat, slot]] -= 1


@inline
def count_as_unseen(world: np.record, seat: int) -> int:
    """Put a hand's cards among the unseen ones; returns how many it has."""
    held = int(world.held[seat])
    for slot in range(held):
        world.unseen[world.hand[seat, slot]] += 1
    return held


@inline
def count_among(rule_set: np.record, copies: NDArray[Any], cards: int) -> int:
    """The number of copies of a set of cards."""
    total = 0
    for card in range(rule_set.cards):
        total += copies[card] * (cards >> card & 1)
    return total


@inline
def random_copy(rule_set: np.record, world: np.record, possible: int) -> tuple[int, int]:
    """One of all unseen copies of the possible cards: the card, and which of its copies."""
    skip = below(world, count_among(rule_set, world.unseen, possible))
    card = 0
    while skip >= world.unseen[card] * (possible >> card & 1):
        skip -= world.unseen[card] * (possible >> card & 1)
        card += 1
    return card, skip


# --- What has happened


@inline
def rewind(rule_set: np.record, game: np.record) -> None:
    """A record keeps only the last turn of every seat, so it stays as it is."""


@inline
def put_back(game: np.record, seat: int, possible: int) -> None:
    """The card of a seat's last turn returns to its slot; of clues it is known to be `possible`."""
    slot = game.slot[seat]
    for later in range(game.held[seat], slot, -1):
        game.hand[seat, later] = game.hand[seat, later - 1]
        game.possible[seat, later] = game.possible[seat, later - 1]
        game.named[seat, later] = game.named[seat, later - 1]
    game.held[seat] += 1
    game.hand[seat, slot] = game.card[seat]
    game.possible[seat, slot] = possible
    game.named[seat, slot] = 0


@inline
def next_event(rule_set: np.record, world: np.record, earlier: np.record) -> int:
    return NONE
