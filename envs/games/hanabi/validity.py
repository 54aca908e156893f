"""Whether a record is a position of Hanabi: all cards, clues and tokens add up.

`game` is a RECORD of any bytes, `rule_set` a RULE_SET. A record holds the last turn of every seat:
these turns are taken back one by one, the latest first. What remains is either the deal, or a
position after some earlier turns, of which only numbers are known. The traits *told* of a card
are those that clues have told of it or of its neighbours, a bit each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count
from hanamachi.engine.compiled import inline
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.replay import after_use_of, same
from hanamachi.games.hanabi.information import put_back
from hanamachi.games.hanabi.rules import (
    ACT,
    CARDS,
    CHOOSE_STARTER,
    CLUE,
    DISCARD,
    DRAW,
    ENDED,
    HAND,
    NONE,
    PLAY,
    RECORD,
    SEATS,
    SUITS,
    clockwise,
    first_bits,
    seat_to_draw,
    start,
)

UNKNOWN = 0  # in place of the cards that clues leave possible, of a card taken back


@inline
def valid(rule_set: np.record, game: np.record) -> bool:
    copies = np.empty(1, RECORD)
    copies[0] = game
    if game.phase == CHOOSE_STARTER:
        start(rule_set, copies[0])
        return after_use_of(copies, same(copies[0], game))
    fits = (
        numbers_are_in_range(rule_set, game)
        and hands_are_in_range(rule_set, game)
        and turns_are_in_range(rule_set, game)
        and cards_add_up(rule_set, game)
        and stage_fits(rule_set, game)
        and rewards_fit(rule_set, game)
        and clues_fit(rule_set, game)
        and turns_fit(rule_set, game, copies[0])
    )
    return after_use_of(copies, fits)


@inline
def is_within(low: int, value: int, high: int) -> bool:
    return low <= value <= high


# --- Ranges


@inline
def numbers_are_in_range(rule_set: np.record, game: np.record) -> bool:
    fits = (
        is_within(DRAW, game.phase, ENDED)
        and is_within(0, game.player, rule_set.seats - 1)
        and is_within(0, game.clues, rule_set.max_clues)
        and is_within(0, game.errors, rule_set.max_errors)
        and is_within(0, game.turns_left, rule_set.seats)
    )
    for suit in range(SUITS):
        fits &= is_within(0, game.fireworks[suit], rule_set.ranks * (suit < rule_set.suits))
    return fits


@inline
def hands_are_in_range(rule_set: np.record, game: np.record) -> bool:
    """Whether all cards are ones that clues leave possible, and nothing else is said of any."""
    fits = True
    for seat in range(SEATS):
        held = int(game.held[seat])
        fits &= is_within(0, held, rule_set.hand_size * (seat < rule_set.seats))
        for slot in range(HAND):
            card, possible = int(game.hand[seat, slot]), int(game.possible[seat, slot])
            if slot >= held:
                fits &= card == NONE and possible == 0 and game.named[seat, slot] == 0
            elif not is_within(0, card, rule_set.cards - 1):
                fits = False
            else:
                fits &= possible >> card & 1 == 1 and possible & ~first_bits(rule_set.cards) == 0
                fits &= int(game.named[seat, slot]) & ~int(rule_set.traits_of[card]) == 0
    return fits


@inline
def turns_are_in_range(rule_set: np.record, game: np.record) -> bool:
    fits = True
    for seat in range(SEATS):
        did = game.did[seat] if seat < rule_set.seats else NONE
        if did == CLUE:
            fits &= tells(rule_set, game, seat) and leaves_no_card(game, seat)
        elif did in (DISCARD, PLAY):
            fits &= tells_nothing(game, seat) and leaves_a_card(rule_set, game, seat)
        else:
            fits &= game.did[seat] == NONE
            fits &= tells_nothing(game, seat) and leaves_no_card(game, seat)
    return fits


@inline
def tells(rule_set: np.record, game: np.record, seat: int) -> bool:
    told = game.told[seat]
    return (
        is_within(0, told, rule_set.seats - 1)
        and told != seat
        and is_within(0, game.trait[seat], rule_set.traits - 1)
    )


@inline
def tells_nothing(game: np.record, seat: int) -> bool:
    return bool(game.told[seat] == NONE and game.trait[seat] == NONE and game.touched[seat] == 0)


@inline
def leaves_a_card(rule_set: np.record, game: np.record, seat: int) -> bool:
    return (
        is_within(0, game.slot[seat], rule_set.hand_size - 1)
        and is_within(0, game.card[seat], rule_set.cards - 1)
        and is_within(0, game.scored[seat], 1)
        and is_within(0, game.regained[seat], 1)
    )


@inline
def leaves_no_card(game: np.record, seat: int) -> bool:
    nowhere = game.slot[seat] == NONE and game.card[seat] == NONE
    return bool(nowhere and game.scored[seat] == 0 and game.regained[seat] == 0)


# --- What adds up


@inline
def cards_add_up(rule_set: np.record, game: np.record) -> bool:
    """Whether each card is in one place: a hand, the deck, a firework, or discarded."""
    placed = np.zeros(CARDS, np.int64)
    for seat in range(rule_set.seats):
        for slot in range(game.held[seat]):
            placed[game.hand[seat, slot]] += 1
    fits, deck = True, 0
    for card in range(CARDS):
        fits &= game.unseen[card] >= 0 and game.discards[card] >= 0
        placed[card] += int(game.unseen[card]) + int(game.discards[card])
        if card < rule_set.cards:
            placed[card] += game.fireworks[card // rule_set.ranks] > card % rule_set.ranks
        fits &= placed[card] == rule_set.copies[card]
        deck += game.unseen[card]
    return fits and deck == game.deck


@inline
def points_of(game: np.record) -> int:
    """A point for each card of the fireworks."""
    points = 0
    for suit in range(SUITS):
        points += game.fireworks[suit]
    return points


@inline
def is_lost(rule_set: np.record, game: np.record) -> Any:
    return game.errors == rule_set.max_errors


@inline
def stage_fits(rule_set: np.record, game: np.record) -> bool:
    """Whether the game has ended, or who is to move, follows from all else; so does the score."""
    lost, points = is_lost(rule_set, game), points_of(game)
    if game.score != (0 if lost and rule_set.lost_is_zero else points):
        return False
    if game.deck > 0 and game.turns_left < rule_set.seats:
        return False
    if lost or points == rule_set.cards or game.turns_left == 0:
        drawn_in_time = game.deck > 0 or game.turns_left < rule_set.seats
        return bool(game.phase == ENDED and game.mover == OVER and drawn_in_time)
    if game.deck > 0 and seat_to_draw(rule_set, game) != NONE:
        return bool(game.phase == DRAW and game.mover == CHANCE)
    return bool(game.phase == ACT and game.mover == game.player)


@inline
def rewards_fit(rule_set: np.record, game: np.record) -> bool:
    """The last turn brought a point, or none, or took all of them away."""
    last = clockwise(rule_set, game.player, rule_set.seats - 1)
    reward = int(game.scored[last])
    if is_lost(rule_set, game) and rule_set.lost_is_zero:
        reward = -points_of(game)
    fits = True
    for seat in range(SEATS):
        fits &= game.rewards[seat] == (reward if seat < rule_set.seats else 0)
    return fits


# --- What clues have told


@inline
def clues_fit(rule_set: np.record, game: np.record) -> bool:
    """Whether what is known of each card follows from clues that its whole hand got."""
    fits = True
    for seat in range(rule_set.seats):
        for slot in range(game.held[seat]):
            fits &= follows_from_clues(rule_set, game, seat, slot)
            told = told_of(rule_set, game, seat, slot)
            for older in range(slot):
                fits &= knows(rule_set, game, seat, older, told)
    return fits


@inline
def follows_from_clues(rule_set: np.record, game: np.record, seat: int, slot: int) -> bool:
    """Whether the possible cards are those that have some traits and lack others."""
    possible, named = int(game.possible[seat, slot]), int(game.named[seat, slot])
    left = int(first_bits(rule_set.cards))
    for trait in range(rule_set.traits):
        cards = int(rule_set.cards_with[trait])
        if named >> trait & 1:
            left &= cards
        elif cards & possible == 0:
            left &= ~cards
    return left == possible


@inline
def told_of(rule_set: np.record, game: np.record, seat: int, slot: int) -> int:
    """The traits that clues must have told of a card: those it has, and those it is known to lack.

    If no suit was named, one is missing where no card of this rank is possible; so with ranks.
    """
    possible, told = int(game.possible[seat, slot]), int(game.named[seat, slot])
    suits, ranks = rule_set.suits, rule_set.ranks
    suit, rank = game.hand[seat, slot] // ranks, game.hand[seat, slot] % ranks
    lacking = 0
    if told & first_bits(suits) == 0:
        for other in range(suits):
            lacking |= (~possible >> other * ranks + rank & 1) << other
    if told >> suits == 0:
        for other in range(ranks):
            lacking |= (~possible >> suit * ranks + other & 1) << suits + other
    return told | lacking


@inline
def knows(rule_set: np.record, game: np.record, seat: int, slot: int, traits: int) -> bool:
    """Whether a card shows that all these traits were told of it."""
    possible, named = int(game.possible[seat, slot]), int(game.named[seat, slot])
    fits = True
    for trait in range(rule_set.traits):
        if traits >> trait & 1:
            fits &= named >> trait & 1 == 1 or possible & int(rule_set.cards_with[trait]) == 0
    return fits


# --- The last turns


@inline
def turns_fit(rule_set: np.record, game: np.record, earlier: np.record) -> bool:
    """Whether the last turns can be taken back in `earlier`, a copy, to where a game can come."""
    told = np.zeros(SEATS, np.int64)  # of each seat's cards, in the turns taken back
    seat, turns = int(game.player), 0
    final = rule_set.seats - int(game.turns_left)  # turns since the deck is empty
    while turns < rule_set.seats:
        before = clockwise(rule_set, seat, rule_set.seats - 1)
        if earlier.did[before] == NONE:
            break
        if game.deck == 0 and turns == final and earlier.did[before] == CLUE:
            return False  # the turn that drew the last card
        drew = turns >= final and (turns > 0 or game.phase == ACT)
        if not take_back(rule_set, earlier, before, drew, told):
            return False
        seat, turns = before, turns + 1
    for other in range(turns, rule_set.seats):
        if game.did[clockwise(rule_set, game.player, other - turns)] != NONE:
            return False
    if final > turns or not hands_are_dealt(rule_set, earlier, turns == 0 and game.phase == DRAW):
        return False
    if turns < rule_set.seats:
        return is_deal(rule_set, earlier, seat) and clues_needed(rule_set, earlier, told) == 0
    return can_come_up(rule_set, earlier, seat, told)


@inline
def take_back(
    rule_set: np.record, game: np.record, seat: int, drew: bool, told: NDArray[np.int64]
) -> bool:
    """Undo the last turn of a seat; False if it cannot have been so."""
    if game.did[seat] == CLUE:
        fits = take_clue_back(rule_set, game, seat, told)
    else:
        fits = take_card_back(rule_set, game, seat, drew, told)
    over = is_lost(rule_set, game) or points_of(game) == rule_set.cards
    return fits and game.held[seat] == rule_set.hand_size and not over


@inline
def take_clue_back(
    rule_set: np.record, game: np.record, seat: int, told: NDArray[np.int64]
) -> bool:
    """The slots that it touched have its trait, and the hand shows that it was told."""
    owner, trait = game.told[seat], int(game.trait[seat])
    touched, fits = 0, True
    for slot in range(game.held[owner]):
        touched |= (int(rule_set.traits_of[game.hand[owner, slot]]) >> trait & 1) << slot
        if game.possible[owner, slot] != UNKNOWN:
            fits &= knows(rule_set, game, owner, slot, 1 << trait)
    told[owner] |= 1 << trait
    game.clues += 1
    fits &= game.clues <= rule_set.max_clues and (touched > 0 or bool(rule_set.empty_clues))
    return fits and game.touched[seat] == touched


@inline
def take_card_back(
    rule_set: np.record, game: np.record, seat: int, drew: bool, told: NDArray[np.int64]
) -> bool:
    """The card drawn goes back into the deck, and the one discarded or played into its slot."""
    if drew and not return_to_deck(rule_set, game, seat, told):
        return False
    if game.held[seat] != rule_set.hand_size - 1:
        return False
    put_back(game, seat, UNKNOWN)
    if game.scored[seat]:
        return take_from_firework(rule_set, game, seat)
    return take_from_discards(rule_set, game, seat)


@inline
def return_to_deck(
    rule_set: np.record, game: np.record, seat: int, told: NDArray[np.int64]
) -> bool:
    """False if more was told of the newest card than the turns since tell."""
    newest = game.held[seat] - 1
    if newest < 0 or told_of(rule_set, game, seat, newest) & ~told[seat] != 0:
        return False
    game.held[seat] = newest
    return True


@inline
def take_from_firework(rule_set: np.record, game: np.record, seat: int) -> bool:
    """It was the last card of its firework; the last one of all brings a clue token if it can."""
    suit, rank = game.card[seat] // rule_set.ranks, game.card[seat] % rule_set.ranks
    if game.did[seat] != PLAY or game.fireworks[suit] != rank + 1:
        return False
    game.fireworks[suit] -= 1
    if game.regained[seat]:
        fits = rank == rule_set.ranks - 1 and game.clues > 0
        game.clues -= 1
        return bool(fits)
    return bool(rank < rule_set.ranks - 1 or game.clues == rule_set.max_clues)


@inline
def take_from_discards(rule_set: np.record, game: np.record, seat: int) -> bool:
    """It was discarded for a clue token, or by an error."""
    card = game.card[seat]
    suit, rank = card // rule_set.ranks, card % rule_set.ranks
    game.discards[card] -= 1
    if game.did[seat] == DISCARD:
        fits = game.regained[seat] == 1 and game.clues > 0
        game.clues -= 1
    else:
        fits = game.regained[seat] == 0 and game.errors > 0 and game.fireworks[suit] != rank
        game.errors -= 1
    return bool(fits and game.discards[card] >= 0)


# --- What remains


@inline
def hands_are_dealt(rule_set: np.record, game: np.record, dealing: bool) -> bool:
    """Whether all hands are full; while they are dealt, those behind the first that is not wait."""
    short = seat_to_draw(rule_set, game)
    if not dealing:
        return bool(short == NONE)
    fits = True
    for seat in range(short + 1, rule_set.seats):
        fits &= game.held[seat] == 0
    return fits


@inline
def is_deal(rule_set: np.record, game: np.record, first: int) -> bool:
    """Whether nothing has happened and this seat may begin."""
    return (
        turns_before(rule_set, game) == 0
        and game.errors == 0
        and game.clues == rule_set.max_clues
        and rule_set.starter in (NONE, first)
    )


@inline
def clues_needed(rule_set: np.record, game: np.record, told: NDArray[np.int64]) -> int:
    """How many clues the hands show that the turns taken back did not give."""
    clues = 0
    for seat in range(rule_set.seats):
        traits = 0
        for slot in range(game.held[seat]):
            if game.possible[seat, slot] != UNKNOWN:
                traits |= told_of(rule_set, game, seat, slot)
        clues += count(traits & ~told[seat])
    return clues


@inline
def discarded(game: np.record) -> int:
    cards = 0
    for card in range(CARDS):
        cards += game.discards[card]
    return cards


@inline
def clues_given(rule_set: np.record, game: np.record) -> int:
    """At least: each discard has brought a token back, and each full firework may have."""
    return int(rule_set.max_clues) - int(game.clues) + discarded(game) - int(game.errors)


@inline
def full_fireworks(rule_set: np.record, game: np.record) -> int:
    full = 0
    for suit in range(rule_set.suits):
        full += game.fireworks[suit] == rule_set.ranks
    return full


@inline
def turns_before(rule_set: np.record, game: np.record) -> int:
    """At least; each full firework may have brought a token for one more."""
    return discarded(game) + points_of(game) + clues_given(rule_set, game)


@inline
def can_come_up(rule_set: np.record, game: np.record, seat: int, told: NDArray[np.int64]) -> bool:
    """Whether a game of some turns can lead to these numbers when this seat is to move."""
    more = full_fireworks(rule_set, game)
    if discarded(game) < game.errors:
        return False
    if clues_needed(rule_set, game, told) > clues_given(rule_set, game) + more:
        return False
    if rule_set.starter == NONE:
        return True
    ahead = (seat - rule_set.starter - turns_before(rule_set, game)) % rule_set.seats
    return bool(ahead <= more)
