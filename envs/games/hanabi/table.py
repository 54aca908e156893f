"""The table of Hanabi as a player sees it, and as it was before each turn since his own last.

An observation is laid out as a game in which the player sits in seat ME, so that the rules
themselves say what a clue tells. The cards of his own hand are NONE; what he does not see,
`unseen`, counts them with the deck.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.engine.sets import count
from hanamachi.games.hanabi import observation as entry
from hanamachi.games.hanabi import rules as rule

ME = 0

Seen = NDArray[np.float32]  # one observation, (N,)
Games = NDArray[Any]  # (P + 1,) records: before each seat's last turn, and now


# --- From an observation


@inline
def lay_out(rules: np.record, seen: Seen, game: np.record) -> None:
    at = rules.at
    game.phase = rule.ACT
    game.player = game.mover = ME
    for suit in range(rules.suits):
        shown = seen[at[entry.FIREWORKS] + suit * rules.ranks :][: rules.ranks]
        game.fireworks[suit] = shown.sum()
    game.clues = seen[at[entry.CLUES] : at[entry.CLUES + 1]].sum()
    game.errors = rules.max_errors - seen[at[entry.LIVES] : at[entry.LIVES + 1]].sum()
    game.deck = seen[at[entry.DECK]]
    game.turns_left = seen[at[entry.TURNS_LEFT]]
    game.score = seen[at[entry.SCORE]]
    for card in range(rules.cards):
        game.discards[card] = seen[at[entry.DISCARDS] + card]
        game.unseen[card] = seen[at[entry.UNSEEN] + card]
    for seat in range(rules.seats):
        lay_out_hand(rules, seen, game, seat)
        lay_out_turn(rules, seen, game, seat)


@inline
def lay_out_hand(rules: np.record, seen: Seen, game: np.record, seat: int) -> None:
    """The cards, of which I do not see my own, and what clues have told of them."""
    at, cards, known = rules.at, rules.cards, rules.cards + rules.traits
    game.held[seat] = rules.hand_size - seen[at[entry.SHORT] + seat]
    game.hand[seat] = rule.NONE
    for slot in range(rules.hand_size):
        if seat != ME:
            place = (seat - 1) * rules.hand_size + slot
            game.hand[seat, slot] = shown(seen, at[entry.HANDS] + place * cards, cards)
        told = at[entry.MY_CARDS] + (seat * rules.hand_size + slot) * known
        game.possible[seat, slot] = bits(seen, told, cards)
        game.named[seat, slot] = bits(seen, told + cards, rules.traits)


@inline
def lay_out_turn(rules: np.record, seen: Seen, game: np.record, seat: int) -> None:
    """What a seat did last."""
    at, seats, size = rules.at, rules.seats, rules.hand_size
    game.did[seat] = shown(seen, at[entry.DID] + 3 * seat, 3)
    game.told[seat] = shown(seen, at[entry.TOLD] + seats * seat, seats)
    game.trait[seat] = shown(seen, at[entry.TRAIT] + rules.traits * seat, rules.traits)
    game.touched[seat] = bits(seen, at[entry.TOUCHED] + size * seat, size)
    game.slot[seat] = shown(seen, at[entry.SLOT] + size * seat, size)
    game.card[seat] = shown(seen, at[entry.CARD] + rules.cards * seat, rules.cards)
    game.scored[seat] = seen[at[entry.OUTCOME] + 2 * seat]
    game.regained[seat] = seen[at[entry.OUTCOME] + 2 * seat + 1]


@inline
def shown(seen: Seen, at: int, n: int) -> Any:
    """Which of n entries is 1, or NONE."""
    for i in range(n):
        if seen[at + i]:
            return i
    return rule.NONE


@inline
def bits(seen: Seen, at: int, n: int) -> Any:
    """The set that n entries of 0 and 1 spell."""
    found = 0
    for i in range(n):
        found |= int(seen[at + i]) << i
    return found


# --- The turns since my own last


@inline
def lay_out_turns(rules: np.record, seen: Seen, games: Games) -> None:
    """The present table, and those before each seat's last turn."""
    lay_out(rules, seen, games[rules.seats])
    wind_back(rules, games)


@inline
def wind_back(rules: np.record, games: Games) -> None:
    """From the last of the games, the present one, derive those before each seat's last turn.

    Hands, deck, fireworks, discards, score and tokens are as they were then. What clues have told
    of a card still in hand, `unseen` and `turns_left` stay as they are now.
    """
    for seat in range(rules.seats - 1, -1, -1):
        games[seat] = games[seat + 1]
        if games[seat].did[seat] == rule.CLUE:
            games[seat].clues += 1
        elif games[seat].did[seat] != rule.NONE:
            take_back(rules, games[seat], seat)


@inline
def take_back(rules: np.record, game: np.record, seat: int) -> None:
    """A seat's last card returns to its slot, and the one drawn for it to the deck."""
    card = game.card[seat]
    if game.scored[seat]:
        game.fireworks[card // rules.ranks] -= 1
        game.score -= 1
    else:
        game.discards[card] -= 1
        game.errors -= game.did[seat] == rule.PLAY
    game.clues -= game.regained[seat]
    if game.held[seat] == rules.hand_size:
        game.deck += 1
        game.held[seat] -= 1
    for slot in range(game.held[seat], game.slot[seat], -1):
        game.hand[seat, slot] = game.hand[seat, slot - 1]
        game.possible[seat, slot] = game.possible[seat, slot - 1]
        game.named[seat, slot] = game.named[seat, slot - 1]
    game.held[seat] += 1
    game.hand[seat, game.slot[seat]] = card
    game.possible[seat, game.slot[seat]] = 1 << int(card)
    game.named[seat, game.slot[seat]] = 0


# --- Sets of cards, as bits


@inline
def everything(rules: np.record) -> Any:
    """All cards that there are."""
    return (1 << rules.cards) - 1


@inline
def last_cards(rules: np.record) -> int:
    """Those that complete a firework."""
    return int(rules.cards_with[rules.traits - 1])


@inline
def may_hold(rules: np.record, game: np.record, seat: int) -> int:
    """The cards that a seat may hold by what both it and I see."""
    cards = 0
    for card in range(rules.cards):
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
def next_cards(rules: np.record, fireworks: NDArray[np.int8]) -> int:
    """The cards that continue a firework."""
    cards = 0
    for suit in range(rules.suits):
        if fireworks[suit] < rules.ranks:
            cards |= 1 << suit * rules.ranks + int(fireworks[suit])
    return cards


@inline
def trash(rules: np.record, game: np.record) -> int:
    """The cards that no firework can use any more: shown already, or cut off by discards."""
    cards = 0
    for suit in range(rules.suits):
        cut_off = False
        for rank in range(rules.ranks):
            card = suit * rules.ranks + rank
            cut_off |= game.discards[card] == rules.copies[card]
            if rank < game.fireworks[suit] or cut_off:
                cards |= 1 << card
    return cards


@inline
def critical(rules: np.record, game: np.record) -> int:
    """The cards that are still needed and of which one copy is left."""
    cards = 0
    for card in range(rules.cards):
        if game.discards[card] == rules.copies[card] - 1:
            cards |= 1 << card
    return cards & ~trash(rules, game)


@inline
def pace(rules: np.record, game: np.record) -> Any:
    """How often all players together may still not score if they want all points left."""
    return int(game.deck) + rules.seats - count(everything(rules) & ~trash(rules, game))


@inline
def share(rules: np.record, copies: NDArray[Any], cards: int, wanted: int) -> float:
    """Of the copies of some cards, the share that is of the wanted ones."""
    hits = total = 0
    for card in range(rules.cards):
        if cards >> card & 1:
            total += copies[card]
            hits += copies[card] * (wanted >> card & 1)
    return hits / max(total, 1)
