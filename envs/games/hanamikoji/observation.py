"""What a player of Hanamikoji knows, as a flat row of small numbers.

From the seat's own point of view: of two sides, mine comes first. Within a round nothing is
forgotten: the hand as dealt, the draws in order, one's own hidden cards, and every public event
with the turn in which it happened. The rest is counted for the reader's convenience.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count
from hanamachi.engine.compiled import inline
from hanamachi.engine.entries import put
from hanamachi.engine.layout import Layout, Segment, axis
from hanamachi.engine.words import difference, greater, number_at, sum_of_bytes
from hanamachi.games.four_actions import OWN_TURNS, SHARES, SIDES, USES, sums_by_set, unused_actions
from hanamachi.games.hanamikoji.rules import (
    ACT,
    ANSWER_COMPETITION,
    ANSWER_GIFT,
    COMPETITION,
    ENDED,
    GEISHA,
    GIFT,
    NONE,
    cards_drawn,
    charm_of,
    favoured_by,
    one,
    packed,
    unknown_to,
)

CARDS_KEPT = (1, 0, 2, 2)  # cards of each action that end on the side of who uses it
GIVEN = (0, 0, 1, 2)  # and on the other side
KEEPS, GIVES = sums_by_set(CARDS_KEPT), sums_by_set(GIVEN)  # of each set of tiles
KEEPS_OF_EACH, GIVES_OF_EACH = KEEPS / USES, GIVES / USES  # shares of the cards that they use

ROUNDS_SHOWN = 4  # later rounds of an unlimited game look alike

(
    TO_DO,
    HAND,
    DEALT,
    DRAWN,
    MY_SECRET,
    MY_TRADE_OFF,
    MARKERS,
    TABLE,
    USED_IN,
    GIFTS,
    GIFT_TAKEN,
    PAIRS,
    PAIR_TAKEN,
    BEGAN,
    ROUND,
    UNSEEN,
    STILL_OUT,
    LEAD,
    AHEAD,
    SETTLED,
    FAVOURS,
    TO_COME,
    FLOW,
    EXPECTED_LEAD,
) = range(24)

PRIVATE = (
    "hand", "dealt", "drawn", "my secret", "my trade-off",
    "unseen", "still out", "lead", "ahead", "settled", "expected lead",
)  # fmt: skip


def layout(geisha: int, most: int, max_rounds: int) -> Layout:
    """The segments for this many geisha, with at most `most` items each."""
    each, pairs = axis(geisha, "geisha"), axis(2, "pairs")
    return Layout(
        (
            Segment(
                "to do",
                axis(3, "action, Gift, Competition"),
                0,
                1,
                "what I must decide: an action, a Gift, a Competition",
            ),
            Segment("hand", each, 0, most, "my cards of each geisha"),
            Segment("dealt", each, 0, most, "my hand as it was dealt"),
            Segment(
                "drawn", axis(4, "draws") * each, 0, 1, "the card of each of my draws, in order"
            ),
            Segment("my secret", each, 0, 1, "the card of my Secret"),
            Segment("my trade-off", each, 0, 2, "the cards of my Trade-off"),
            Segment("markers", SIDES * each, 0, 1, "geisha who favour me, then my foe"),
            Segment("table", SIDES * each, 0, most, "items on my side, then on theirs"),
            Segment(
                "used in", OWN_TURNS, 0, 1, "for my four actions, then theirs: in which own turn"
            ),
            Segment("gifts", SIDES * each, 0, 3, "the cards of my Gift, then of theirs"),
            Segment("gift taken", SIDES * each, 0, 1, "the card that was taken from each"),
            Segment(
                "pairs",
                SIDES * pairs * each,
                0,
                2,
                "the two pairs of my Competition, then of theirs",
            ),
            Segment("pair taken", SIDES * pairs, 0, 1, "the pair that was taken from each"),
            Segment("began", 1, 0, 1, "I began this round"),
            Segment("round", max_rounds or ROUNDS_SHOWN, 0, 1, "the round; the last is also later"),
            Segment("unseen", each, 0, most, "cards that I have not seen"),
            Segment(
                "still out", each, 0, most, "cards that may still reach a side: mine and unseen"
            ),
            Segment("lead", each, -most, most, "my items less theirs, my Secret counted"),
            Segment("ahead", SIDES * each, 0, 1, "the lead is mine, then theirs"),
            Segment(
                "settled", SIDES * each, 0, 1, "the lead, mine then theirs, exceeds what is out"
            ),
            Segment(
                "favours",
                SIDES * axis(2, "geisha, charm"),
                0,
                21,
                "geisha and charm that the markers give me, then them",
            ),
            Segment(
                "to come",
                axis(3, "cards, tiles, hand") * SIDES,
                0,
                8,
                "cards still to reach a side, tiles left, cards held",
            ),
            Segment(
                "flow",
                SHARES,
                0,
                1,
                "shares of my cards, and of unseen ones, that end with me, with them",
                fraction=True,
            ),
            Segment(
                "expected lead",
                each,
                -most,
                most,
                "the lead at the end, by these shares",
                fraction=True,
            ),
        ),
        private=PRIVATE,
    )


# --- What lies open, and what is mine


@inline
def observe(rule_set: np.record, game: np.record, seat: int, out: NDArray[Any]) -> None:
    out[:] = 0
    me, foe = seat, 1 - seat
    observe_duty(rule_set, game, me, out)
    observe_own_cards(rule_set, game, me, out)
    observe_side(rule_set, game, me, 0, out)
    observe_side(rule_set, game, foe, 1, out)
    observe_markers(rule_set, game, me, out)
    observe_round(rule_set, game, me, out)
    observe_counts(rule_set, game, me, out)
    observe_flow(rule_set, game, me, out)


@inline
def put_counts(
    rule_set: np.record, out: NDArray[Any], segment: int, block: int, counts: np.uint64
) -> None:
    """Write a number for each geisha, into a block of a segment."""
    begin = rule_set.at[segment] + block * rule_set.geisha
    if rule_set.geisha == GEISHA:  # known to the compiler, which then writes them together
        for g in range(GEISHA):
            out[begin + g] = number_at(counts, g)
    else:
        for g in range(rule_set.geisha):
            out[begin + g] = number_at(counts, g)


@inline
def observe_duty(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    if game.mover == me:
        at = rule_set.at[TO_DO]
        out[at] = game.phase == ACT
        out[at + 1] = game.phase == ANSWER_GIFT
        out[at + 2] = game.phase == ANSWER_COMPETITION


@inline
def observe_own_cards(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    put_counts(rule_set, out, HAND, 0, packed(game.hand[me]))
    put_counts(rule_set, out, DEALT, 0, packed(game.dealt[me]))
    put_counts(rule_set, out, MY_SECRET, 0, one(game.secret[me]))
    put_counts(rule_set, out, MY_TRADE_OFF, 0, packed(game.trade_off[me]))
    for turn in range(rule_set.tiles):
        if game.drawn[me, turn] != NONE:
            out[rule_set.at[DRAWN] + turn * rule_set.geisha + game.drawn[me, turn]] = 1


@inline
def observe_side(
    rule_set: np.record, game: np.record, seat: int, side: int, out: NDArray[Any]
) -> None:
    """What lies open on one side; `side` is 0 for mine, 1 for theirs."""
    at = rule_set.at
    put_counts(rule_set, out, TABLE, side, packed(game.table[seat]))
    put_counts(rule_set, out, GIFTS, side, packed(game.gift[seat]))
    put_counts(rule_set, out, GIFT_TAKEN, side, one(game.gift_taken[seat]))
    put_counts(rule_set, out, PAIRS, 2 * side, packed(game.pairs[seat, 0]))
    put_counts(rule_set, out, PAIRS, 2 * side + 1, packed(game.pairs[seat, 1]))
    for kind in range(4):
        if game.used_in[seat, kind] > 0:
            out[at[USED_IN] + 16 * side + 4 * kind + game.used_in[seat, kind] - 1] = 1
    if game.pair_taken[seat] != NONE:
        out[at[PAIR_TAKEN] + 2 * side + game.pair_taken[seat]] = 1


@inline
def observe_markers(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    for side in range(2):
        favoured = favoured_by(game, me if side == 0 else 1 - me)
        put_counts(rule_set, out, MARKERS, side, favoured)
        out[rule_set.at[FAVOURS] + 2 * side] = sum_of_bytes(favoured)
        out[rule_set.at[FAVOURS] + 2 * side + 1] = charm_of(rule_set, favoured)


@inline
def observe_round(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    out[rule_set.at[BEGAN]] = game.starter == me
    shown = np.int64(rule_set.at[ROUND + 1] - rule_set.at[ROUND])
    if game.round_number > 0:
        out[rule_set.at[ROUND] + min(game.round_number, shown) - 1] = 1


# --- What follows from it


@inline
def observe_counts(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    unseen = unknown_to(rule_set, game, me)
    still_out = packed(game.hand[me]) + unseen + on_offer(game)
    mine, theirs = packed(game.table[me]), packed(game.table[1 - me])
    if game.phase != ENDED:  # the Secrets lie on the table by then
        mine += one(game.secret[me])
    put_counts(rule_set, out, UNSEEN, 0, unseen)
    put_counts(rule_set, out, STILL_OUT, 0, still_out)
    put_counts(rule_set, out, LEAD, 0, difference(mine, theirs))
    put_counts(rule_set, out, AHEAD, 0, greater(mine, theirs))
    put_counts(rule_set, out, AHEAD, 1, greater(theirs, mine))
    put_counts(rule_set, out, SETTLED, 0, greater(mine, theirs + still_out))
    put_counts(rule_set, out, SETTLED, 1, greater(theirs, mine + still_out))
    for side in range(2):
        seat = me if side == 0 else 1 - me
        at = rule_set.at[TO_COME] + side
        out[at] = cards_to_come(rule_set, game, seat)
        out[at + 2] = count(unused_actions(rule_set, game, seat))
        out[at + 4] = sum_of_bytes(packed(game.hand[seat]))


@inline
def on_offer(game: np.record) -> Any:
    """Items of an offer that waits for its answer, by geisha."""
    if game.phase == ANSWER_GIFT:
        return packed(game.gift[1 - game.mover])
    if game.phase == ANSWER_COMPETITION:
        pairs = game.pairs[1 - game.mover]
        return packed(pairs[0]) + packed(pairs[1])
    return np.uint64(0)


@inline
def cards_to_come(rule_set: np.record, game: np.record, seat: int) -> Any:
    """Cards that will still be put on a side in this round, by its tiles and the other's."""
    mine, theirs = tiles_open(rule_set, game, seat), tiles_open(rule_set, game, 1 - seat)
    return KEEPS[mine] + GIVES[theirs]


@inline
def tiles_open(rule_set: np.record, game: np.record, seat: int) -> Any:
    """The tiles of a seat, a bit each, that are left or whose offer waits for its answer."""
    tiles = unused_actions(rule_set, game, seat)
    if game.mover == 1 - seat and game.phase == ANSWER_GIFT:
        tiles |= 1 << GIFT
    elif game.mover == 1 - seat and game.phase == ANSWER_COMPETITION:
        tiles |= 1 << COMPETITION
    return tiles


@inline
def observe_flow(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """Where cards will end if the tiles left take them at random."""
    foe = 1 - me
    hand, unseen = packed(game.hand[me]), unknown_to(rule_set, game, me)
    mine, theirs = unused_actions(rule_set, game, me), unused_actions(rule_set, game, foe)
    keep, give = KEEPS_OF_EACH[mine], GIVES_OF_EACH[mine]
    foe_keeps, foe_gives = KEEPS_OF_EACH[theirs], GIVES_OF_EACH[theirs]
    my_draws = rule_set.tiles - cards_drawn(game, me)
    foes = sum_of_bytes(packed(game.hand[foe])) + rule_set.tiles - cards_drawn(game, foe)
    hidden = 0 if game.phase == ENDED else game.secret[foe] != NONE
    out_of_sight = max(sum_of_bytes(unseen), 1)
    to_me = (my_draws * keep + foes * foe_gives) / out_of_sight
    to_foe = (my_draws * give + foes * foe_keeps + hidden) / out_of_sight
    for i, share in enumerate((keep, give, to_me, to_foe)):
        put(rule_set, out, FLOW, i, share)
    third = 0.0 if game.phase != ANSWER_GIFT else (-1 if game.mover == me else 1) / 3
    offer = on_offer(game)
    for g in range(rule_set.geisha):
        expected = (
            out[rule_set.at[LEAD] + g]
            + number_at(hand, g) * (keep - give)
            + number_at(unseen, g) * (to_me - to_foe)
            + number_at(offer, g) * third
        )
        put(rule_set, out, EXPECTED_LEAD, g, expected)
