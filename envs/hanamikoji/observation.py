"""What a player of Hanamikoji knows, as a flat row of small numbers.

From the seat's own point of view: of two sides, mine comes first. Within a round nothing is
forgotten: the hand as dealt, the draws in order, one's own hidden cards, and every public event
with the turn in which it happened. The rest is counted for the reader's convenience.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.compiled import inline
from hanamachi.four_actions import actions_left, flow
from hanamachi.game import put
from hanamachi.hanamikoji.rules import (
    ACT,
    ANSWER_COMPETITION,
    ANSWER_GIFT,
    COMPETITION,
    ENDED,
    GIFT,
    NONE,
    SECRET,
    cards_drawn,
    favours,
    unknown_to,
)
from hanamachi.layout import Layout, Segment

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

KEPT = (1, 0, 2, 2)  # cards of each action that end on the side of who uses it
GIVEN = (0, 0, 1, 2)  # and on the other side


def layout(geisha: int, most: int, max_rounds: int) -> Layout:
    """The segments for so many geisha with at most so many items each."""
    g = geisha
    return Layout(
        (
            Segment("to do", 3, 0, 1, "what I must decide: an action, a Gift, a Competition"),
            Segment("hand", g, 0, most, "my cards of each geisha"),
            Segment("dealt", g, 0, most, "my hand as it was dealt"),
            Segment("drawn", 4 * g, 0, 1, "the card of each of my draws, in order"),
            Segment("my secret", g, 0, 1, "the card of my Secret"),
            Segment("my trade-off", g, 0, 2, "the cards of my Trade-off"),
            Segment("markers", 2 * g, 0, 1, "geisha who favour me, then my foe"),
            Segment("table", 2 * g, 0, most, "items on my side, then on theirs"),
            Segment("used in", 32, 0, 1, "for my four actions, then theirs: in which own turn"),
            Segment("gifts", 2 * g, 0, 3, "the cards of my Gift, then of theirs"),
            Segment("gift taken", 2 * g, 0, 1, "the card that was taken from each"),
            Segment("pairs", 4 * g, 0, 2, "the two pairs of my Competition, then of theirs"),
            Segment("pair taken", 4, 0, 1, "the pair that was taken from each"),
            Segment("began", 1, 0, 1, "I began this round"),
            Segment("round", max_rounds or ROUNDS_SHOWN, 0, 1, "the round; the last is also later"),
            Segment("unseen", g, 0, most, "cards that I have not seen"),
            Segment("still out", g, 0, most, "cards that may still reach a side: mine and unseen"),
            Segment("lead", g, -most, most, "my items less theirs, my Secret counted"),
            Segment("ahead", 2 * g, 0, 1, "the lead is mine, then theirs"),
            Segment("settled", 2 * g, 0, 1, "the lead, mine then theirs, exceeds what is out"),
            Segment("favours", 4, 0, 21, "geisha and charm that the markers give me, then them"),
            Segment("to come", 6, 0, 8, "cards still to reach a side, tiles left, cards held"),
            Segment(
                "flow",
                4,
                0,
                1,
                "shares of my cards, and of unseen ones, that end with me, with them",
                fraction=True,
            ),
            Segment(
                "expected lead",
                g,
                -most,
                most,
                "the lead at the end, by these shares",
                fraction=True,
            ),
        )
    )


@inline
def observe(rules: np.record, game: np.record, seat: int, out: NDArray[np.float32]) -> None:
    out[:] = 0
    me, foe = seat, 1 - seat
    observe_duty(rules, game, me, out)
    observe_own_cards(rules, game, me, out)
    observe_side(rules, game, me, 0, out)
    observe_side(rules, game, foe, 1, out)
    observe_round(rules, game, me, out)
    observe_counts(rules, game, me, out)


@inline
def observe_duty(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    if game.mover == me:
        at = rules.at[TO_DO]
        out[at] = game.phase == ACT
        out[at + 1] = game.phase == ANSWER_GIFT
        out[at + 2] = game.phase == ANSWER_COMPETITION


@inline
def observe_own_cards(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    at = rules.at
    for g in range(rules.geisha):
        out[at[HAND] + g] = game.hand[me, g]
        out[at[DEALT] + g] = game.dealt[me, g]
        out[at[MY_TRADE_OFF] + g] = game.trade_off[me, g]
    for turn in range(rules.tiles):
        if game.drawn[me, turn] != NONE:
            out[at[DRAWN] + turn * rules.geisha + game.drawn[me, turn]] = 1
    if game.secret[me] != NONE:
        out[at[MY_SECRET] + game.secret[me]] = 1


@inline
def observe_side(
    rules: np.record, game: np.record, seat: int, side: int, out: NDArray[np.float32]
) -> None:
    """What lies open on one side; `side` is 0 for mine, 1 for theirs."""
    at, n = rules.at, rules.geisha
    for g in range(n):
        out[at[MARKERS] + side * n + g] = game.marker[g] == seat
        out[at[TABLE] + side * n + g] = game.table[seat, g]
        out[at[GIFTS] + side * n + g] = game.gift[seat, g]
        out[at[PAIRS] + 2 * side * n + g] = game.pairs[seat, 0, g]
        out[at[PAIRS] + (2 * side + 1) * n + g] = game.pairs[seat, 1, g]
    for kind in range(4):
        if game.used_in[seat, kind] > 0:
            out[at[USED_IN] + 16 * side + 4 * kind + game.used_in[seat, kind] - 1] = 1
    if game.gift_taken[seat] != NONE:
        out[at[GIFT_TAKEN] + side * n + game.gift_taken[seat]] = 1
    if game.pair_taken[seat] != NONE:
        out[at[PAIR_TAKEN] + 2 * side + game.pair_taken[seat]] = 1


@inline
def observe_round(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    out[rules.at[BEGAN]] = game.starter == me
    shown = rules.at[ROUND + 1] - rules.at[ROUND]
    if game.round_number > 0:
        out[rules.at[ROUND] + min(game.round_number, shown) - 1] = 1
    for side in range(2):
        geisha, charm = favours(rules, game, me if side == 0 else 1 - me)
        out[rules.at[FAVOURS] + 2 * side] = geisha
        out[rules.at[FAVOURS] + 2 * side + 1] = charm


@inline
def observe_counts(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    at, n, foe = rules.at, rules.geisha, 1 - me
    unseen_total = 0
    for g in range(n):
        lead = game.table[me, g] - game.table[foe, g]
        if game.phase != ENDED:  # the Secrets lie on the table by then
            lead += game.secret[me] == g
        unseen = unknown_to(rules, game, me, g)
        still_out = game.hand[me, g] + unseen + on_offer(game, g)
        unseen_total += unseen
        out[at[UNSEEN] + g] = unseen
        out[at[STILL_OUT] + g] = still_out
        out[at[LEAD] + g] = lead
        out[at[AHEAD] + g] = lead > 0
        out[at[AHEAD] + n + g] = lead < 0
        out[at[SETTLED] + g] = lead > still_out
        out[at[SETTLED] + n + g] = -lead > still_out
    for side in range(2):
        seat = me if side == 0 else foe
        out[at[TO_COME] + side] = cards_to_come(rules, game, seat)
        out[at[TO_COME] + 2 + side] = actions_left(rules, game, seat)
        out[at[TO_COME] + 4 + side] = cards_held(rules, game, seat)
    observe_flow(rules, game, me, unseen_total, out)


@inline
def on_offer(game: np.record, g: int) -> Any:
    """Items of an offer that waits for its answer."""
    if game.phase == ANSWER_GIFT:
        return game.gift[1 - game.mover, g]
    if game.phase == ANSWER_COMPETITION:
        return game.pairs[1 - game.mover, 0, g] + game.pairs[1 - game.mover, 1, g]
    return 0


@inline
def cards_to_come(rules: np.record, game: np.record, seat: int) -> int:
    """Cards that will still be put on a side in this round, by its tiles and the other's."""
    mine, theirs = game.used_in[seat], game.used_in[1 - seat]
    cards = 0
    if rules.in_use[SECRET]:
        cards += mine[SECRET] == 0
    if rules.in_use[GIFT]:
        cards += 2 * (mine[GIFT] == 0 or game.gift_taken[seat] == NONE)
        cards += theirs[GIFT] == 0 or game.gift_taken[1 - seat] == NONE
    if rules.in_use[COMPETITION]:
        cards += 2 * (mine[COMPETITION] == 0 or game.pair_taken[seat] == NONE)
        cards += 2 * (theirs[COMPETITION] == 0 or game.pair_taken[1 - seat] == NONE)
    return cards


@inline
def cards_held(rules: np.record, game: np.record, seat: int) -> int:
    """The size of a hand, which is public."""
    held = 0
    for g in range(rules.geisha):
        held += game.hand[seat, g]
    return held


@inline
def observe_flow(
    rules: np.record, game: np.record, me: int, unseen: int, out: NDArray[np.float32]
) -> None:
    """Where cards will end if the tiles left take them at random."""
    at, n, foe = rules.at, rules.geisha, 1 - me
    keep, give = flow(rules, game, me, KEPT, GIVEN)
    foe_keeps, foe_gives = flow(rules, game, foe, KEPT, GIVEN)
    my_draws = rules.tiles - cards_drawn(game, me)
    foes = cards_held(rules, game, foe) + rules.tiles - cards_drawn(game, foe)
    hidden = 0 if game.phase == ENDED else game.secret[foe] != NONE
    to_me = (my_draws * keep + foes * foe_gives) / max(unseen, 1)
    to_foe = (my_draws * give + foes * foe_keeps + hidden) / max(unseen, 1)
    for i, share in enumerate((keep, give, to_me, to_foe)):
        put(rules, out, FLOW, i, share)
    third = 0.0 if game.phase != ANSWER_GIFT else (-1 if game.mover == me else 1) / 3
    for g in range(n):
        expected = (
            out[at[LEAD] + g]
            + game.hand[me, g] * (keep - give)
            + out[at[UNSEEN] + g] * (to_me - to_foe)
            + on_offer(game, g) * third
        )
        put(rules, out, EXPECTED_LEAD, g, expected)
