"""What a player of Hanabi knows, as a flat row of small numbers.

From the seat's own point of view: me first, then the others clockwise. All that lies open and
all that clues have told is there, with the last turn of every seat, so that nothing since one's
own last turn is missed. The rest is counted for the reader's convenience.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.compiled import inline
from hanamachi.hanabi.rules import CLUE, NONE
from hanamachi.layout import Layout, Segment

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
    cards, traits, others = suits * ranks, suits + ranks, seats - 1
    known = hand_size * (cards + traits)
    return Layout(
        (
            Segment("turn", seats, 0, 1, "whose turn it is, or would be: me, then clockwise"),
            Segment("fireworks", cards, 0, 1, "the cards that they show"),
            Segment("clues", clues, 0, 1, "clue tokens in the box: at least 1, 2, ..."),
            Segment("lives", errors, 0, 1, "errors that end the game: at least 1, 2, ..."),
            Segment("deck", 1, 0, deck, "cards in it"),
            Segment("turns left", 1, 0, seats, "turns to come once the deck is empty"),
            Segment("score", 1, 0, cards, "the points so far"),
            Segment("discards", cards, 0, copies, "copies of each card discarded"),
            Segment("unseen", cards, 0, copies, "copies in the deck or in my hand"),
            Segment("short", seats, 0, 1, "whose hand lacks a card"),
            Segment("hands", others * hand_size * cards, 0, 1, "each slot of each other hand"),
            Segment("did", 3 * seats, 0, 1, "the last turn of each seat: discard, play, clue"),
            Segment("told", seats * seats, 0, 1, "who got its clue: me, then clockwise"),
            Segment("trait", seats * traits, 0, 1, "the suit or the rank that it told"),
            Segment("touched", seats * hand_size, 0, 1, "the slots that have it"),
            Segment("slot", seats * hand_size, 0, 1, "the slot that its card left"),
            Segment("card", seats * cards, 0, 1, "that card"),
            Segment("outcome", 2 * seats, 0, 1, "it was added; a clue token came back"),
            Segment("my cards", known, 0, 1, "of each slot: cards possible by clues, traits told"),
            Segment("their cards", others * known, 0, 1, "the same, of the others"),
        ),
        blocks=(("slot", "my cards"),),
    )


@inline
def observe(rules: np.record, game: np.record, seat: int, out: NDArray[np.float32]) -> None:
    out[:] = 0
    observe_table(rules, game, out)
    observe_counts(rules, game, seat, out)
    observe_hands(rules, game, seat, out)
    observe_turns(rules, game, seat, out)
    observe_clues(rules, game, seat, out)


@inline
def observe_table(rules: np.record, game: np.record, out: NDArray[np.float32]) -> None:
    at = rules.at
    for suit in range(rules.suits):
        for rank in range(game.fireworks[suit]):
            out[at[FIREWORKS] + suit * rules.ranks + rank] = 1
    for token in range(game.clues):
        out[at[CLUES] + token] = 1
    for life in range(rules.max_errors - game.errors):
        out[at[LIVES] + life] = 1
    out[at[DECK]] = game.deck
    out[at[TURNS_LEFT]] = game.turns_left
    out[at[SCORE]] = game.score


@inline
def observe_counts(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    discards = out[rules.at[DISCARDS] : rules.at[DISCARDS + 1]]
    unseen = out[rules.at[UNSEEN] : rules.at[UNSEEN + 1]]
    for card in range(rules.cards):
        discards[card] = game.discards[card]
        unseen[card] = game.unseen[card]
    for slot in range(game.held[me]):
        unseen[game.hand[me, slot]] += 1


@inline
def observe_hands(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    """The size of every hand, and the cards of the others."""
    at = rules.at[HANDS]
    for side in range(rules.seats):
        owner = (me + side) % rules.seats
        held = game.held[owner]
        out[rules.at[SHORT] + side] = held < rules.hand_size
        if side > 0:
            for slot in range(held):
                out[at + slot * rules.cards + game.hand[owner, slot]] = 1
            at += rules.hand_size * rules.cards


@inline
def observe_turns(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    """Whose turn it is, and what every player did last."""
    at = rules.at
    for side in range(rules.seats):
        seat = (me + side) % rules.seats
        out[at[TURN] + side] = game.player == seat
        if game.did[seat] != NONE:
            out[at[DID] + 3 * side + game.did[seat]] = 1
        if game.did[seat] == CLUE:
            out[at[TOLD] + side * rules.seats + (game.told[seat] - me) % rules.seats] = 1
            out[at[TRAIT] + side * rules.traits + game.trait[seat]] = 1
            write_bits(
                game.touched[seat], rules.hand_size, at[TOUCHED] + side * rules.hand_size, out
            )
        elif game.did[seat] != NONE:
            out[at[SLOT] + side * rules.hand_size + game.slot[seat]] = 1
            out[at[CARD] + side * rules.cards + game.card[seat]] = 1
            out[at[OUTCOME] + 2 * side] = game.scored[seat]
            out[at[OUTCOME] + 2 * side + 1] = game.regained[seat]


@inline
def observe_clues(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    """What clues have told of every hand; the others follow mine."""
    at = rules.at[MY_CARDS]
    for side in range(rules.seats):
        owner = (me + side) % rules.seats
        for slot in range(rules.hand_size):
            write_bits(game.possible[owner, slot], rules.cards, at, out)
            write_bits(game.named[owner, slot], rules.traits, at + rules.cards, out)
            at += rules.cards + rules.traits


@inline
def write_bits(bits: int, n: int, at: int, out: NDArray[np.float32]) -> None:
    """A set as n entries of 0 and 1; a view of its own lets the loop run on vectors."""
    entries = out[at : at + n]
    for i in range(n):
        entries[i] = bits >> i & 1
