"""What a player of Hanabi knows, as a flat row of small numbers.

From the seat's own point of view: me first, then the others clockwise. All that lies open and
all that clues have told is there, with the last turn of every seat, so that nothing since one's
own last turn is missed. The rest is counted for the reader's convenience.

The loops are written for speed: entries have unsigned numbers, as any other could count from the
end, and the rule set is read before a loop, as compiled code would read it again at every entry.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.engine.layout import Layout, Segment, axis
from hanamachi.games.hanabi.rules import CLUE, NONE, clockwise, first_bits, side_of, write_bits

(
    TURN,
    FIREWORKS,
    CLUES,
    LIVES,
    DECK,
    TURNS_LEFT,
    SCORE,
    DISCARDS,
    UNSEEN,
    SHORT,
    HANDS,
    DID,
    TOLD,
    TRAIT,
    TOUCHED,
    SLOT,
    CARD,
    OUTCOME,
    MY_CARDS,
    THEIR_CARDS,
) = range(20)


def layout(
    seats: int,
    hand_size: int,
    suits: int,
    ranks: int,
    deck: int,
    copies: int,
    clues: int,
    errors: int,
) -> Layout:
    """The segments of a rule set: `deck` is the cards left after the deal, `copies` the most."""
    cards, traits = suits * ranks, suits + ranks
    players, other = axis(seats, "players"), axis(seats - 1, "others")
    slot, card = axis(hand_size, "slots"), axis(suits, "suits") * axis(ranks, "ranks")
    known = axis(cards + traits, "cards then traits")
    return Layout(
        (
            Segment("turn", players, 0, 1, "whose turn it is, or would be: me, then clockwise"),
            Segment("fireworks", card, 0, 1, "the cards that they show"),
            Segment("clues", clues, 0, 1, "clue tokens in the box: at least 1, 2, ..."),
            Segment("lives", errors, 0, 1, "errors that end the game: at least 1, 2, ..."),
            Segment("deck", 1, 0, deck, "cards in it"),
            Segment("turns left", 1, 0, seats, "turns to come once the deck is empty"),
            Segment("score", 1, 0, cards, "the points so far"),
            Segment("discards", card, 0, copies, "copies of each card discarded"),
            Segment("unseen", card, 0, copies, "copies in the deck or in my hand"),
            Segment("short", players, 0, 1, "whose hand lacks a card"),
            Segment("hands", other * slot * card, 0, 1, "each slot of each other hand"),
            Segment(
                "did",
                players * axis(3, "discard, play, clue"),
                0,
                1,
                "the last turn of each seat: discard, play, clue",
            ),
            Segment(
                "told",
                players * axis(seats, "receivers"),
                0,
                1,
                "who got its clue: me, then clockwise",
            ),
            Segment(
                "trait", players * axis(traits, "traits"), 0, 1, "the suit or the rank that it told"
            ),
            Segment("touched", players * slot, 0, 1, "the slots that have it"),
            Segment("slot", players * slot, 0, 1, "the slot that its card left"),
            Segment("card", players * card, 0, 1, "that card"),
            Segment(
                "outcome",
                players * axis(2, "added, regained"),
                0,
                1,
                "it was added; a clue token came back",
            ),
            Segment(
                "my cards", slot * known, 0, 1, "of each slot: cards possible by clues, traits told"
            ),
            Segment("their cards", other * slot * known, 0, 1, "the same, of the others"),
        ),
        blocks=(("slot", "my cards"),),
        private=("unseen", "hands"),
    )


@inline
def observe(rule_set: np.record, game: np.record, seat: int, out: NDArray[Any]) -> None:
    out[rule_set.at[SHORT] : rule_set.at[MY_CARDS]] = 0
    observe_table(rule_set, game, seat, out)
    observe_counts(rule_set, game, seat, out)
    observe_hands(rule_set, game, seat, out)
    observe_turns(rule_set, game, seat, out)
    observe_clues(rule_set, game, seat, out)


@inline
def observe_table(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    at = rule_set.at
    table = 0  # what is ahead of the numbers, as a set
    for side in range(rule_set.seats):
        table |= int(game.player == clockwise(rule_set, me, side)) << side
    for suit in range(rule_set.suits):
        table |= first_bits(game.fireworks[suit]) << at[FIREWORKS] + suit * rule_set.ranks
    table |= first_bits(game.clues) << at[CLUES]
    table |= first_bits(rule_set.max_errors - game.errors) << at[LIVES]
    write_bits(table, at[DECK], 0, out)
    out[at[DECK]] = game.deck
    out[at[TURNS_LEFT]] = game.turns_left
    out[at[SCORE]] = game.score


@inline
def observe_counts(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    discards, unseen, cards = rule_set.at[DISCARDS], rule_set.at[UNSEEN], rule_set.cards
    for card in range(cards):
        out[np.uint64(discards + card)] = game.discards[card]
    for card in range(cards):
        out[np.uint64(unseen + card)] = game.unseen[card]
    for slot in range(game.held[me]):
        out[np.uint64(unseen + game.hand[me, slot])] += 1


@inline
def observe_hands(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """The size of every hand, and the cards of the others."""
    seats, hand_size, cards = rule_set.seats, rule_set.hand_size, rule_set.cards
    short, at = rule_set.at[SHORT], rule_set.at[HANDS]
    for side in range(seats):
        owner = np.uint64(clockwise(rule_set, me, side))
        held = game.held[owner]
        out[np.uint64(short + side)] = held < hand_size
        if side > 0:
            for slot in range(held):
                out[np.uint64(at + slot * cards + game.hand[owner, slot])] = 1
            at += hand_size * cards


@inline
def observe_turns(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """What every player did last."""
    seats, hand_size, cards, traits = (
        rule_set.seats,
        rule_set.hand_size,
        rule_set.cards,
        rule_set.traits,
    )
    at, touched = rule_set.at, 0
    for side in range(seats):
        seat = np.uint64(clockwise(rule_set, me, side))
        did = game.did[seat]
        if did != NONE:
            out[np.uint64(at[DID] + 3 * side + did)] = 1
        if did == CLUE:
            out[np.uint64(at[TOLD] + side * seats + side_of(rule_set, me, game.told[seat]))] = 1
            out[np.uint64(at[TRAIT] + side * traits + game.trait[seat])] = 1
            touched |= int(game.touched[seat]) << side * hand_size
        elif did != NONE:
            out[np.uint64(at[SLOT] + side * hand_size + game.slot[seat])] = 1
            out[np.uint64(at[CARD] + side * cards + game.card[seat])] = 1
            out[np.uint64(at[OUTCOME] + 2 * side)] = game.scored[seat]
            out[np.uint64(at[OUTCOME] + 2 * side + 1)] = game.regained[seat]
    write_bits(touched, seats * hand_size, at[TOUCHED], out)


@inline
def observe_clues(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """What clues have told of every hand; the others follow mine."""
    seats, hand_size, cards = rule_set.seats, rule_set.hand_size, rule_set.cards
    at, size = rule_set.at[MY_CARDS], cards + rule_set.traits
    for side in range(seats):
        owner = np.uint64(clockwise(rule_set, me, side))
        for slot in range(hand_size):
            known = game.possible[owner, slot] | int(game.named[owner, slot]) << cards
            write_bits(known, size, at, out)
            at += size
