"""Positions of Hanabi rebuilt from an observation: now, and before each seat's last turn.

A position is a game in which the player sits in seat ME, so that the rules themselves say what a
clue tells. The cards of the player's own hand are NONE; `unseen` counts them with the deck.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count
from hanamachi.engine.compiled import inline
from hanamachi.games.hanabi import observation as entry
from hanamachi.games.hanabi import rules
from hanamachi.games.hanabi.information import put_back

ME = 0

Seen = NDArray[np.float32]  # one observation, (N,)
Games = NDArray[Any]  # (P + 1,) records: before each seat's last turn, and now


# --- From an observation


@inline
def lay_out(rule_set: np.record, seen: Seen, game: np.record) -> None:
    at = rule_set.at
    game.phase = rules.ACT
    game.player = game.mover = ME
    for suit in range(rule_set.suits):
        shown = seen[at[entry.FIREWORKS] + suit * rule_set.ranks :][: rule_set.ranks]
        game.fireworks[suit] = shown.sum()
    game.clues = seen[at[entry.CLUES] : at[entry.CLUES + 1]].sum()
    game.errors = rule_set.max_errors - seen[at[entry.LIVES] : at[entry.LIVES + 1]].sum()
    game.deck = seen[at[entry.DECK]]
    game.turns_left = seen[at[entry.TURNS_LEFT]]
    game.score = seen[at[entry.SCORE]]
    for card in range(rule_set.cards):
        game.discards[card] = seen[at[entry.DISCARDS] + card]
        game.unseen[card] = seen[at[entry.UNSEEN] + card]
    for seat in range(rule_set.seats):
        lay_out_hand(rule_set, seen, game, seat)
        lay_out_turn(rule_set, seen, game, seat)


@inline
def lay_out_hand(rule_set: np.record, seen: Seen, game: np.record, seat: int) -> None:
    """The cards, of which I do not see my own, and what clues have told of them."""
    at, cards, known = rule_set.at, rule_set.cards, rule_set.cards + rule_set.traits
    game.held[seat] = rule_set.hand_size - seen[at[entry.SHORT] + seat]
    game.hand[seat] = rules.NONE
    for slot in range(rule_set.hand_size):
        if seat != ME:
            place = (seat - 1) * rule_set.hand_size + slot
            game.hand[seat, slot] = shown(seen, at[entry.HANDS] + place * cards, cards)
        told = at[entry.MY_CARDS] + (seat * rule_set.hand_size + slot) * known
        game.possible[seat, slot] = bits(seen, told, cards)
        game.named[seat, slot] = bits(seen, told + cards, rule_set.traits)


@inline
def lay_out_turn(rule_set: np.record, seen: Seen, game: np.record, seat: int) -> None:
    """What a seat did last."""
    at, seats, size = rule_set.at, rule_set.seats, rule_set.hand_size
    game.did[seat] = shown(seen, at[entry.DID] + 3 * seat, 3)
    game.told[seat] = shown(seen, at[entry.TOLD] + seats * seat, seats)
    game.trait[seat] = shown(seen, at[entry.TRAIT] + rule_set.traits * seat, rule_set.traits)
    game.touched[seat] = bits(seen, at[entry.TOUCHED] + size * seat, size)
    game.slot[seat] = shown(seen, at[entry.SLOT] + size * seat, size)
    game.card[seat] = shown(seen, at[entry.CARD] + rule_set.cards * seat, rule_set.cards)
    game.scored[seat] = seen[at[entry.OUTCOME] + 2 * seat]
    game.regained[seat] = seen[at[entry.OUTCOME] + 2 * seat + 1]


@inline
def shown(seen: Seen, at: int, n: int) -> Any:
    """Which of n entries is 1, or NONE."""
    for i in range(n):
        if seen[at + i]:
            return i
    return rules.NONE


@inline
def bits(seen: Seen, at: int, n: int) -> Any:
    """The set that n entries of 0 and 1 spell."""
    found = 0
    for i in range(n):
        found |= int(seen[at + i]) << i
    return found


# --- The turns since my own last


@inline
def lay_out_turns(rule_set: np.record, seen: Seen, games: Games) -> None:
    """The present table, and those before each seat's last turn."""
    lay_out(rule_set, seen, games[rule_set.seats])
    wind_back(rule_set, games)


@inline
def wind_back(rule_set: np.record, games: Games) -> None:
    """From the last of the games, the present one, derive those before each seat's last turn.

    Hands, deck, fireworks, discards, score and tokens are as they were then. What clues have told
    of a card still in hand, `unseen` and `turns_left` stay as they are now. A card that has left
    its hand since is known exactly, which its owner did not know then.
    """
    for seat in range(rule_set.seats - 1, -1, -1):
        games[seat] = games[seat + 1]
        if games[seat].did[seat] == rules.CLUE:
            games[seat].clues += 1
        elif games[seat].did[seat] != rules.NONE:
            take_back(rule_set, games[seat], seat)


@inline
def take_back(rule_set: np.record, game: np.record, seat: int) -> None:
    """A seat's last card returns to its slot, and the one drawn for it to the deck."""
    card = game.card[seat]
    if game.scored[seat]:
        game.fireworks[card // rule_set.ranks] -= 1
        game.score -= 1
    else:
        game.discards[card] -= 1
        game.errors -= game.did[seat] == rules.PLAY
    game.clues -= game.regained[seat]
    if game.held[seat] == rule_set.hand_size:
        game.deck += 1
        game.held[seat] -= 1
    put_back(game, seat, 1 << int(card))


# --- Sets of cards, as bits


@inline
def everything(rule_set: np.record) -> Any:
    """All cards that there are."""
    return (1 << rule_set.cards) - 1


@inline
def last_cards(rule_set: np.record) -> int:
    """Those that complete a firework."""
    return int(rule_set.cards_with[rule_set.traits - 1])


@inline
def may_hold(rule_set: np.record, game: np.record, seat: int) -> int:
    """The cards that a seat may hold by what both it and I see."""
    cards = 0
    for card in range(rule_set.cards):
        cards |= (game.unseen[card] > 0) << card
    return cards if seat == ME else cards | in_hand(game, seat)


@inline
def in_hand(game: np.record, seat: int) -> int:
    """The cards that another seat holds."""
    cards = 0
    for slot in range(game.held[seat]):
        cards |= 1 << int(game.hand[seat, slot])
    return cards


@inline
def next_cards(rule_set: np.record, fireworks: NDArray[np.int8]) -> int:
    """The cards that continue a firework."""
    cards = 0
    for suit in range(rule_set.suits):
        if fireworks[suit] < rule_set.ranks:
            cards |= 1 << suit * rule_set.ranks + int(fireworks[suit])
    return cards


@inline
def trash(rule_set: np.record, game: np.record) -> int:
    """The cards that no firework can use any more: shown already, or cut off by discards."""
    cards = 0
    for suit in range(rule_set.suits):
        cut_off = False
        for rank in range(rule_set.ranks):
            card = suit * rule_set.ranks + rank
            cut_off |= game.discards[card] == rule_set.copies[card]
            if rank < game.fireworks[suit] or cut_off:
                cards |= 1 << card
    return cards


@inline
def critical(rule_set: np.record, game: np.record) -> int:
    """The cards that are still needed and of which one copy is left."""
    cards = 0
    for card in range(rule_set.cards):
        if game.discards[card] == rule_set.copies[card] - 1:
            cards |= 1 << card
    return cards & ~trash(rule_set, game)


@inline
def pace(rule_set: np.record, game: np.record) -> Any:
    """How often all players together may still not score if they want all points left."""
    return int(game.deck) + rule_set.seats - count(everything(rule_set) & ~trash(rule_set, game))


@inline
def share(rule_set: np.record, copies: NDArray[Any], cards: int, wanted: int) -> float:
    """Of the copies of some cards, the share that is of the wanted ones."""
    hits = total = 0
    for card in range(rule_set.cards):
        if cards >> card & 1:
            total += copies[card]
            hits += copies[card] * (wanted >> card & 1)
    return hits / max(total, 1)
