"""The rules of Hanabi, in the order of the rulebook; RULES.md tells them in prose.

`game` is a RECORD, `rule_set` a RULE_SET; `me` is the seat that acts. There are P seats, numbered
clockwise; C suits, of which a multicolour one is the last, and R ranks, both from 0. A card is
known by suit * R + rank. A trait is what a clue can tell of cards: a suit, or C + a rank. Slots
are a hand's places, the oldest card first. Sets of cards, of traits and of slots are bits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count
from hanamachi.engine.compiled import inline
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.records import record, rule_set_dtype

SEATS, HAND, SUITS, RANKS = 5, 5, 6, 5  # at most
CARDS, TRAITS = SUITS * RANKS, SUITS + RANKS
ACTIONS = 2 * HAND + (SEATS - 1) * TRAITS
NONE = -1

DISCARD, PLAY, CLUE = range(3)

CHOOSE_STARTER, DRAW, ACT, ENDED = range(4)

RECORD = record(
    SEATS,
    # public
    ("phase", np.int8),  # what happens next: CHOOSE_STARTER .. ENDED
    ("player", np.int8),  # seat whose turn is next, or would be; NONE until a starter is known
    ("clues", np.int8),  # clue tokens in the box
    ("errors", np.int8),  # error tokens in the box
    ("fireworks", np.int8, (SUITS,)),  # cards in each
    ("discards", np.int8, (CARDS,)),  # copies of each card
    ("deck", np.int8),  # cards in it
    ("turns_left", np.int8),  # turns to come once the deck is empty
    ("score", np.int8),
    ("held", np.int8, (SEATS,)),  # size of each hand
    ("possible", np.int32, (SEATS, HAND)),  # cards that clues leave possible; none where no card is
    ("named", np.int16, (SEATS, HAND)),  # traits that clues have told of it
    # the last turn of every seat
    ("did", np.int8, (SEATS,)),  # DISCARD, PLAY, CLUE; NONE before its first turn
    ("slot", np.int8, (SEATS,)),  # that its card left; NONE for a clue
    ("card", np.int8, (SEATS,)),  # discarded or played; NONE for a clue
    ("scored", np.int8, (SEATS,)),  # 1 if the card was added to a firework
    ("regained", np.int8, (SEATS,)),  # 1 if a clue token came back
    ("told", np.int8, (SEATS,)),  # seat that got the clue; NONE without
    ("trait", np.int8, (SEATS,)),  # what the clue told; NONE without
    ("touched", np.int8, (SEATS,)),  # slots that have it
    # hidden from their owner alone
    ("hand", np.int8, (SEATS, HAND)),  # oldest first, NONE behind
    # hidden from all
    ("unseen", np.int8, (CARDS,)),  # copies of each card in the deck: counts, never an order
)

RULE_SET = rule_set_dtype(
    ("hand_size", np.int64),
    ("suits", np.int64),  # C
    ("ranks", np.int64),  # R
    ("cards", np.int64),  # C * R, how many are different
    ("traits", np.int64),  # C + R
    ("copies", np.int8, (CARDS,)),  # of each card
    ("traits_of", np.int16, (CARDS,)),  # each card's suit and rank, a bit each
    ("cards_with", np.int32, (TRAITS,)),  # the cards that have a trait, a bit each
    ("max_clues", np.int64),
    ("max_errors", np.int64),
    ("starter", np.int64),  # seat, or NONE for a random one
    ("empty_clues", np.bool_),  # a clue may touch no card
    ("lost_is_zero", np.bool_),  # the last error takes all points away
    ("kind", np.int8, (ACTIONS,)),  # of each action: DISCARD, PLAY, CLUE
    ("slot", np.int8, (ACTIONS,)),  # whose card is discarded or played
    ("offset", np.int8, (ACTIONS,)),  # seats, clockwise, to the one who gets the clue
    ("trait", np.int8, (ACTIONS,)),  # that the clue tells
    ("first", np.int64, (4,)),  # first action of each kind, and how many actions there are
    ("clue", np.int64, (SEATS, TRAITS)),  # the clue by offset and trait
)


# --- Sets


@inline
def first_bits(n: int) -> Any:
    """The set of the first n."""
    return (np.int64(1) << n) - 1


@inline
def write_bits(bits: int, n: int, at: int, out: NDArray[Any]) -> None:
    """A set as n entries of 0 and 1."""
    for i in range(n):
        out[np.uint64(at + i)] = bits & 1 << i != 0


# --- Seats


@inline
def clockwise(rule_set: np.record, seat: int, steps: int) -> int:
    """The seat that is `steps` further clockwise, with fewer steps than seats."""
    seat += steps
    return seat - rule_set.seats if seat >= rule_set.seats else seat


@inline
def side_of(rule_set: np.record, me: int, seat: int) -> int:
    """How many steps clockwise a seat is from me."""
    return seat - me if seat >= me else seat - me + rule_set.seats


# --- Setup


@inline
def start(rule_set: np.record, game: np.record) -> None:
    """All clue tokens are in the box, no error is; somebody begins, and everybody gets cards."""
    game.rewards[:] = 0
    game.clues = rule_set.max_clues
    game.errors = 0
    game.fireworks[:] = 0
    game.discards[:] = 0
    for card in range(len(rule_set.copies)):
        game.unseen[card] = rule_set.copies[card]
    game.deck = rule_set.copies.sum()
    game.turns_left = rule_set.seats
    game.score = 0
    clear_hands(game)
    game.player = rule_set.starter
    if rule_set.starter == NONE:
        game.phase = CHOOSE_STARTER
        game.mover = CHANCE
    else:
        find_mover(rule_set, game)


@inline
def clear_hands(game: np.record) -> None:
    """Nobody holds a card or has had a turn."""
    game.held[:] = 0
    game.hand[:] = NONE
    game.possible[:] = 0
    game.named[:] = 0
    for seat in range(SEATS):
        forget_turn(game, seat)


@inline
def find_mover(rule_set: np.record, game: np.record) -> None:
    """Hands are filled up as long as there are cards; then whose turn it is acts."""
    if game.deck > 0 and seat_to_draw(rule_set, game) != NONE:
        game.phase = DRAW
        game.mover = CHANCE
    else:
        game.phase = ACT
        game.mover = game.player


@inline
def seat_to_draw(rule_set: np.record, game: np.record) -> int:
    """The first seat that lacks a card; hands are dealt one after the other."""
    first = NONE
    for seat in range(rule_set.seats - 1, -1, -1):  # to the end, as who it is cannot be foreseen
        if game.held[seat] < rule_set.hand_size:
            first = seat
    return first


@inline
def chance(rule_set: np.record, game: np.record, weights: NDArray[np.int64]) -> Any:
    """Any seat may begin; the next card is any of the deck."""
    if game.phase == CHOOSE_STARTER:
        weights[: rule_set.seats] = 1
        return rule_set.seats
    cards = rule_set.cards
    for card in range(cards):
        weights[card] = game.unseen[card]
    return cards


@inline
def resolve(rule_set: np.record, game: np.record, outcome: int) -> None:
    if game.phase == CHOOSE_STARTER:
        game.player = outcome
    else:
        draw(rule_set, game, seat_to_draw(rule_set, game), outcome)
    find_mover(rule_set, game)


@inline
def draw(rule_set: np.record, game: np.record, seat: int, card: int) -> None:
    """A new card is the last of the hand, and its owner knows nothing of it."""
    slot = game.held[seat]
    game.unseen[card] -= 1
    game.deck -= 1
    game.hand[seat, slot] = card
    game.possible[seat, slot] = (1 << rule_set.cards) - 1
    game.named[seat, slot] = 0
    game.held[seat] += 1


# --- A turn


@inline
def apply(rule_set: np.record, game: np.record, action: int) -> None:
    """Give a clue, discard a card or play one."""
    me, score = game.mover, game.score
    if game.deck == 0:  # the final round
        game.turns_left -= 1
    kind = rule_set.kind[action]
    forget_turn(game, me)
    game.did[me] = kind
    if kind == CLUE:
        give_clue(
            rule_set, game, clockwise(rule_set, me, rule_set.offset[action]), rule_set.trait[action]
        )
    elif kind == DISCARD:
        discard(rule_set, game, rule_set.slot[action])
    else:
        play(rule_set, game, rule_set.slot[action])
    for seat in range(rule_set.seats):
        game.rewards[seat] = game.score - score
    end_turn(rule_set, game)


@inline
def forget_turn(game: np.record, seat: int) -> None:
    """Only the last turn of a seat is kept."""
    game.did[seat] = NONE
    game.slot[seat] = NONE
    game.card[seat] = NONE
    game.scored[seat] = 0
    game.regained[seat] = 0
    game.told[seat] = NONE
    game.trait[seat] = NONE
    game.touched[seat] = 0


@inline
def give_clue(rule_set: np.record, game: np.record, seat: int, trait: int) -> None:
    """A clue costs a token and points out all cards of a suit or rank, and so all that are not."""
    game.clues -= 1
    touched, cards = 0, rule_set.cards_with[trait]
    for slot in range(game.held[seat]):
        if cards >> int(game.hand[seat, slot]) & 1:
            touched |= 1 << slot
            game.possible[seat, slot] &= cards
            game.named[seat, slot] |= 1 << int(trait)
        else:
            game.possible[seat, slot] &= ~cards
    game.told[game.mover] = seat
    game.trait[game.mover] = trait
    game.touched[game.mover] = touched


@inline
def discard(rule_set: np.record, game: np.record, slot: int) -> None:
    """A discarded card brings a clue token back."""
    game.discards[take_from_hand(game, slot)] += 1
    regain_clue(rule_set, game)


@inline
def play(rule_set: np.record, game: np.record, slot: int) -> None:
    """The next card of a firework is added to it; any other is an error and is discarded."""
    card = take_from_hand(game, slot)
    suit, rank = card // rule_set.ranks, card % rule_set.ranks
    if game.fireworks[suit] == rank:
        game.fireworks[suit] += 1
        game.score += 1
        game.scored[game.mover] = 1
        if rank == rule_set.ranks - 1:  # the firework is complete
            regain_clue(rule_set, game)
    else:
        game.discards[card] += 1
        err(rule_set, game)


@inline
def err(rule_set: np.record, game: np.record) -> None:
    """The last error burns everything down."""
    game.errors += 1
    if game.errors == rule_set.max_errors and rule_set.lost_is_zero:
        game.score = 0


@inline
def take_from_hand(game: np.record, slot: int) -> Any:
    """A card that leaves the hand; the newer ones close up."""
    me = game.mover
    card, last = game.hand[me, slot], game.held[me] - 1
    for i in range(slot, last):
        game.hand[me, i] = game.hand[me, i + 1]
        game.possible[me, i] = game.possible[me, i + 1]
        game.named[me, i] = game.named[me, i + 1]
    game.hand[me, last] = NONE
    game.possible[me, last] = 0
    game.named[me, last] = 0
    game.held[me] = last
    game.slot[me] = slot
    game.card[me] = card
    return card


@inline
def regain_clue(rule_set: np.record, game: np.record) -> None:
    if game.clues < rule_set.max_clues:
        game.clues += 1
        game.regained[game.mover] = 1


# --- End of the game


@inline
def end_turn(rule_set: np.record, game: np.record) -> None:
    """The last error loses at once, a full display wins at once; else the deck ends the game."""
    game.player = clockwise(rule_set, game.mover, 1)
    lost, complete = game.errors == rule_set.max_errors, game.score == rule_set.cards
    if lost or complete or game.turns_left == 0:
        game.phase = ENDED
        game.mover = OVER
    else:
        find_mover(rule_set, game)


# --- What a player may do


@inline
def legal(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    """Play always; discard unless the box is full of clue tokens; tell while there is one."""
    actions = 0
    if game.phase == ACT:
        slots = first_bits(game.held[game.mover])
        actions = slots << rule_set.first[PLAY]
        if game.clues < rule_set.max_clues:
            actions |= slots << rule_set.first[DISCARD]
        if game.clues > 0:
            actions |= legal_clues(rule_set, game)
    write_bits(actions, len(mask), 0, mask)
    return count(actions)


@inline
def legal_clues(rule_set: np.record, game: np.record) -> int:
    """Any trait of a card that another player holds, or any at all with empty clues."""
    clues = 0
    for offset in range(1, rule_set.seats):
        traits = traits_held(rule_set, game, clockwise(rule_set, game.mover, offset))
        clues |= (traits & first_bits(rule_set.suits)) << rule_set.clue[offset, 0]
        clues |= traits >> rule_set.suits << rule_set.clue[offset, rule_set.suits]
    return clues


@inline
def traits_held(rule_set: np.record, game: np.record, seat: int) -> Any:
    """What a seat can be told."""
    if rule_set.empty_clues:
        return first_bits(rule_set.traits)
    traits = 0
    owner = np.uint64(seat)
    for slot in range(game.held[owner]):
        traits |= int(rule_set.traits_of[np.uint64(game.hand[owner, slot])])
    return traits
