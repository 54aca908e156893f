"""What a player of Geisha's Road knows, as a flat row of small numbers.

From the seat's own point of view: of two sides, mine comes first. Colours are in the order of
their houses in the circle. Within a round nothing is forgotten: the hand as dealt, the draws in
order, one's own hidden cards, every offer with what became of it, and the number of each card
among those played. The rest is counted for the reader's convenience.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.engine.game import put
from hanamachi.engine.layout import Layout, Segment
from hanamachi.engine.sets import count, lowest
from hanamachi.games.four_actions import USES, sums_by_set, unused_actions
from hanamachi.games.geishas_road.rules import (
    ACT,
    ANSWER,
    COMPETITION,
    GIFT,
    INTRIGUE,
    NONE,
    PICK_MARKER,
    PICK_STARTER,
    PICK_TOKENS,
    PLACES,
    PUT_IN_ORDER,
    ROW,
    all_cards,
    base_points,
    bit_of,
    favoured,
    guest_points,
    held_by,
    house_of,
    influence_of,
    lands_at,
    next_prestige,
    played,
    unused_tokens,
    waiting_share,
)

(
    TO_DO,
    HAND,
    SLOTS,
    DEALT,
    DRAWN,
    INTRIGUES,
    TABLEAUS,
    PLAYED,
    BROUGHT,
    USED_IN,
    GIFTS,
    PAIRS,
    PICKED,
    ORDERS,
    HIDDEN_USE,
    MY_HIDDEN,
    COUNTERED,
    CARD_OUT,
    CARD_IN,
    TOKENS_LEFT,
    FACE_DOWN,
    TO_PLAY,
    LANDED,
    MARKERS,
    STEPS,
    RETURNS,
    ROWS,
    GUESTS,
    COLLECTED,
    BEGAN,
    CHOOSER,
    ROUND,
    SCORE,
    UNSEEN,
    WORTH,
    LEAD,
    AHEAD,
    POINTS,
    TO_COME,
    FLOW,
    EXPECTED_LEAD,
    PROSPECTS,
    GAINS,
    HARVEST,
) = range(44)

KEPT = (1, 1, 2, 2)  # cards of each action that end in the tableau of who uses it
GIVEN = (0, 0, 1, 2)  # and in the other
FACTS = 5  # of each card in hand, among the prospects

KEEPS, GIVES = sums_by_set(KEPT), sums_by_set(GIVEN)  # of each set of actions
KEEPS_OF_EACH, GIVES_OF_EACH = KEEPS / USES, GIVES / USES  # shares of the cards that they use


def layout(
    colours: int,
    item_values: tuple[int, ...],
    hand: int,
    draws: int,
    rounds: int,
    worth: int,
    points: int,
    guests: bool,
    offers: bool,
) -> Layout:
    """The segments of a rule set; those of tokens that it does not have are empty.

    `hand` is the largest hand, `draws` the most cards drawn in a round, `rounds` the most that
    can be played, `worth` the most that one geisha can be, `points` that a player can have.
    """
    n, v = colours, len(item_values)
    cards, total, slots = n * v, sum(item_values), hand + PLACES
    with_guests, with_offers = int(guests), int(offers)
    return Layout(
        (
            Segment("to do", 6, 0, 1, "act, answer, order, collect, take a marker, name a starter"),
            Segment("hand", cards, 0, 1, "my cards"),
            Segment(
                "slots", slots * (n + v), 0, 1, "colour and value of each, then of those on offer"
            ),
            Segment("dealt", cards, 0, 1, "my hand as it was dealt"),
            Segment("drawn", draws * cards, 0, 1, "the cards that I drew since, in order"),
            Segment("intrigues", 2 * cards, 0, 1, "the card that I kept, and that I discarded"),
            Segment("tableaus", 2 * cards, 0, 1, "cards played by me, then by them"),
            Segment("played", cards, 0, cards, "the number of each card among those played"),
            Segment(
                "brought", with_guests * 2 * cards, 0, 2, "guests and tiebreakers it collected"
            ),
            Segment("used in", 32, 0, 1, "for my four actions, then theirs: in which own turn"),
            Segment("gifts", 2 * cards, 0, 1, "the cards of my Gift, then of theirs"),
            Segment("pairs", 4 * cards, 0, 1, "the two pairs of my Competition, then of theirs"),
            Segment("picked", 10, 0, 1, "the place of my Gift, pair of my Competition; theirs"),
            Segment("orders", 16, 0, 1, "of each share: lower, higher place first; by offers"),
            Segment("hidden", with_offers * 6, 0, 1, "Gift, Competition, Counteroffer; theirs"),
            Segment("my hidden", with_offers * cards, 0, 1, "the card that I laid face down"),
            Segment("countered", with_offers * 28, 0, 1, "turn, place, whose hidden card; theirs"),
            Segment("card out", with_offers * 2 * cards, 0, 1, "the card that it removed; theirs"),
            Segment("card in", with_offers * 2 * cards, 0, 1, "the card that it laid; theirs"),
            Segment("offer tokens", with_offers * 4, 0, 1, "unused: Hidden, Counteroffer; theirs"),
            Segment("face down", PLACES * 2, 0, 1, "laid there by me, by them"),
            Segment("to play", PLACES * 2, 0, 1, "first, second of the two cards to be ordered"),
            Segment("landed", with_guests * n, 0, 1, "the house whose tokens are being picked"),
            Segment("markers", 2 * n, 0, 1, "held by me, then by them"),
            Segment("steps", n * n, 0, 1, "how far each geisha is past her house"),
            Segment("returns", 2 * n, 0, 1, "she came home once, twice"),
            Segment("rows", 2 * ROW, 0, 9, "tokens left for first, second returns, next first"),
            Segment("guests", with_guests * n, 0, 3, "at each house"),
            Segment("collected", with_guests * 2 * n, 0, 3, "guests that I have, then they"),
            Segment("began", 1, 0, 1, "I begin this round"),
            Segment("chooser", 2, 0, 1, "I named its starter, they did"),
            Segment("round", rounds, 0, 1, "the round"),
            Segment(
                "score",
                4,
                0,
                max(points, rounds),
                "rounds won, then points of earlier rounds; me, them",
            ),
            Segment("unseen", cards, 0, 1, "cards that I do not know the place of"),
            Segment("worth", n, 0, worth, "points that each geisha brings"),
            Segment("lead", n, -2 * total - 1, 2 * total + 1, "twice my influence less theirs"),
            Segment("ahead", 2 * n, 0, 1, "she would be mine, theirs"),
            Segment("points", 2, 0, points, "what this round would bring now; me, them"),
            Segment("to come", 6, 0, 10, "cards still to be played, markers left, cards held"),
            Segment(
                "flow", 4, 0, 1, "shares of my cards, of unseen ones: to me, to them", fraction=True
            ),
            Segment(
                "expected lead",
                n,
                -2 * total - 1,
                2 * total + 1,
                "the lead at the end, so shared",
                fraction=True,
            ),
            Segment(
                "prospects",
                slots * FACTS,
                0,
                1,
                "home; she is mine, theirs; mine if I, they play it",
            ),
            Segment("gains", slots, 0, 9, "the prestige token that each would bring her"),
            Segment(
                "harvest", with_guests * 2 * slots, 0, 2, "guests, tiebreaker it could collect"
            ),
        ),
        blocks=tuple(("slot", name) for name in ("slots", "prospects", "gains", "harvest")),
    )


@inline
def observe(rules: np.record, game: np.record, seat: int, out: NDArray[Any]) -> None:
    out[:] = 0
    me, foe = seat, 1 - seat
    observe_duty(rules, game, me, out)
    observe_round(rules, game, me, out)
    observe_circle(rules, game, me, out)
    observe_influence(rules, game, me, out)
    observe_played(rules, game, me, out)
    for side in range(2):
        owner = me if side == 0 else foe
        observe_actions(rules, game, owner, side, out)
        observe_offers(rules, game, me, owner, side, out)
        if rules.offer_tokens:
            observe_tokens(rules, game, me, owner, side, out)
    observe_own_cards(rules, game, me, out)
    if game.phase != ACT:
        observe_table(rules, game, me, out)
    observe_future(rules, game, me, out)


@inline
def mark(rules: np.record, out: NDArray[Any], segment: int, row: int, card: int) -> None:
    """A card, if there is one, in a row of a segment that has one entry a card."""
    out[rules.at[segment] + row * rules.cards + max(card, 0)] += card != NONE


@inline
def choose(rules: np.record, out: NDArray[Any], segment: int, row: int, choice: int) -> None:
    """What was chosen, if anything was, in the row of entries from `row` on."""
    out[rules.at[segment] + row + max(choice, 0)] = choice != NONE


@inline
def observe_duty(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    if game.mover == me:
        out[rules.at[TO_DO]] = game.phase == ACT
        out[rules.at[TO_DO] + 1] = game.phase == ANSWER
        out[rules.at[TO_DO] + 2] = game.phase == PUT_IN_ORDER
        out[rules.at[TO_DO] + 3] = game.phase == PICK_TOKENS
        out[rules.at[TO_DO] + 4] = game.phase == PICK_MARKER
        out[rules.at[TO_DO] + 5] = game.phase == PICK_STARTER


@inline
def observe_round(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    out[rules.at[BEGAN]] = game.starter == me
    named = game.starter != NONE
    out[rules.at[CHOOSER]] = named and game.chooser == me
    out[rules.at[CHOOSER] + 1] = named and game.chooser == 1 - me
    if game.round_number > 0:
        out[rules.at[ROUND] + game.round_number - 1] = 1
    for side in range(2):
        seat = me if side == 0 else 1 - me
        put(rules, out, SCORE, side, game.wins[seat])
        put(rules, out, SCORE, 2 + side, game.points[seat])


@inline
def observe_circle(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    n = rules.colours
    for c in range(n):
        out[rules.at[STEPS] + n * c + game.steps[c]] = 1
        out[rules.at[RETURNS] + c] = game.returns[c] > 0
        out[rules.at[RETURNS] + n + c] = game.returns[c] > 1
        out[rules.at[MARKERS] + c] = game.marker[c] == me
        out[rules.at[MARKERS] + n + c] = game.marker[c] == 1 - me
        if rules.guests > 0:
            out[rules.at[GUESTS] + c] = game.guests[c]
            out[rules.at[COLLECTED] + c] = game.collected[me, c]
            out[rules.at[COLLECTED] + n + c] = game.collected[1 - me, c]
    for row in range(2):
        for i in range(ROW):
            token = game.taken[row] + i
            left = token < rules.row_length[row]
            out[rules.at[ROWS] + ROW * row + i] = game.row[row, min(token, ROW - 1)] * left


@inline
def observe_influence(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """Who leads each geisha, and what the round would bring now."""
    n, base, foe = rules.colours, base_points(rules, game), 1 - me
    mine = guest_points(rules, game, me) + unused_tokens(rules, game, me)
    theirs = guest_points(rules, game, foe) + unused_tokens(rules, game, foe)
    kept = kept_card(game, me)
    for c in range(n):
        worth, owner = base + game.prestige[c], favoured(rules, game, c)
        out[rules.at[WORTH] + c] = worth
        out[rules.at[AHEAD] + c] = owner == me
        out[rules.at[AHEAD] + n + c] = owner == foe
        mine += worth * (owner == me)
        theirs += worth * (owner == foe)
        lead = 2 * (game.influence[me, c] - game.influence[foe, c])
        if kept != NONE and rules.colour[kept] == c:
            lead += 2 * rules.value[kept]
        lead += int(game.marker[c] == me) - int(game.marker[c] == foe)
        out[rules.at[LEAD] + c] = lead
    put(rules, out, POINTS, 0, mine)
    put(rules, out, POINTS, 1, theirs)


@inline
def kept_card(game: np.record, seat: int) -> Any:
    """The card that a seat kept by Intrigue and has not played yet, or NONE."""
    kept = game.laid[seat, INTRIGUE, 0]
    return NONE if kept == NONE or game.played_as[kept] > 0 else kept


@inline
def observe_played(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    left = played(game)
    while left != 0:
        card = lowest(left)
        left &= left - 1
        mark(rules, out, TABLEAUS, int(game.played_by[card] != me), card)
        out[rules.at[PLAYED] + card] = game.played_as[card]
        if rules.guests > 0:
            out[rules.at[BROUGHT] + card] = game.brought[card, 0]
            out[rules.at[BROUGHT] + rules.cards + card] = game.brought[card, 1]


@inline
def observe_actions(
    rules: np.record, game: np.record, seat: int, side: int, out: NDArray[Any]
) -> None:
    """What a player did with each action; `side` is 0 for mine, 1 for theirs."""
    for action in range(4):
        turn = game.used_in[seat, action] - 1
        choose(rules, out, USED_IN, 16 * side + 4 * action, turn)
    choose(rules, out, PICKED, 5 * side, game.picked[seat, GIFT])
    choose(rules, out, PICKED, 5 * side + 3, game.picked[seat, COMPETITION])
    for offer in range(2):
        for share in range(2):
            order = game.order[seat, GIFT + offer, share]
            choose(rules, out, ORDERS, 8 * side + 4 * offer + 2 * share, order)


@inline
def observe_offers(
    rules: np.record, game: np.record, me: int, seat: int, side: int, out: NDArray[Any]
) -> None:
    """The cards of a player's Gift and Competition as they were laid down, if face up or mine."""
    hidden = game.hidden_card[seat] if seat != me else NONE
    for place in range(PLACES):
        card = game.laid[seat, GIFT, place]
        secret = card == hidden and game.hidden_use[seat] == GIFT
        mark(rules, out, GIFTS, side, NONE if secret else card)
    for place in range(PLACES):
        card = game.laid[seat, COMPETITION, place]
        secret = card == hidden and game.hidden_use[seat] == COMPETITION
        mark(rules, out, PAIRS, 2 * side + place // 2, NONE if secret else card)


@inline
def observe_tokens(
    rules: np.record, game: np.record, me: int, seat: int, side: int, out: NDArray[Any]
) -> None:
    """How a player used Hidden Offer and Counteroffer, as far as I know."""
    use, turn, out_by = game.hidden_use[seat], game.counter_to[seat], game.counter_out_by[seat]
    out[rules.at[TOKENS_LEFT] + 2 * side] = use == NONE
    out[rules.at[TOKENS_LEFT] + 2 * side + 1] = turn == NONE
    out[rules.at[HIDDEN_USE] + 3 * side] = use == GIFT
    out[rules.at[HIDDEN_USE] + 3 * side + 1] = use == COMPETITION
    out[rules.at[HIDDEN_USE] + 3 * side + 2] = use > COMPETITION
    choose(rules, out, COUNTERED, 14 * side, turn)
    choose(rules, out, COUNTERED, 14 * side + 8, game.counter_place[seat])
    out[rules.at[COUNTERED] + 14 * side + 12] = out_by == me
    out[rules.at[COUNTERED] + 14 * side + 13] = out_by == 1 - me
    mark(rules, out, CARD_OUT, side, NONE if out_by == 1 - me else game.counter_out[seat])
    if seat == me:
        mark(rules, out, MY_HIDDEN, 0, game.hidden_card[me])
        mark(rules, out, CARD_IN, side, game.counter_in[me])
    else:
        mark(rules, out, CARD_IN, side, NONE if use > COMPETITION else game.counter_in[seat])


@inline
def observe_own_cards(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    for slot in range(game.held[me]):
        card = game.hand[me, slot]
        mark(rules, out, HAND, 0, card)
        observe_slot(rules, game, slot, card, out)
    for number in range(rules.hand_size):
        mark(rules, out, DEALT, 0, game.received[me, number])
    for number in range(rules.draws):
        mark(rules, out, DRAWN, number, game.received[me, rules.hand_size + number])
    mark(rules, out, INTRIGUES, 0, game.laid[me, INTRIGUE, 0])
    mark(rules, out, INTRIGUES, 1, game.laid[me, INTRIGUE, 1])


@inline
def observe_table(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """The cards that are still to be played, and what is asked about them."""
    for place in range(PLACES):
        card, owner = game.offer[place], game.face_down[place]
        if card != NONE and owner != 1 - me:
            observe_slot(rules, game, rules.hand_size + 1 + place, card, out)
        out[rules.at[FACE_DOWN] + 2 * place] = owner == me
        out[rules.at[FACE_DOWN] + 2 * place + 1] = owner == 1 - me
    if game.phase == PUT_IN_ORDER:
        share = waiting_share(game)
        for i in range(2):
            out[rules.at[TO_PLAY] + PLACES * i + game.share[share, i]] = 1
    if game.phase == PICK_TOKENS:
        out[rules.at[LANDED] + house_of(rules, game, game.playing)] = 1


@inline
def observe_slot(
    rules: np.record, game: np.record, slot: int, card: int, out: NDArray[Any]
) -> None:
    """A card in hand or on offer, and what it would do if it were played now.

    Where it leads its geisha, who leads her before and after, and what it would bring.
    """
    colour, value = rules.colour[card], rules.value[card]
    row = slot * (rules.colours + rules.values)
    out[rules.at[SLOTS] + row + colour] = 1
    out[rules.at[SLOTS] + row + rules.colours + rules.rank[card]] = 1
    house, lead = lands_at(rules, game, card), out[rules.at[LEAD] + colour]
    home = house == colour
    out[rules.at[PROSPECTS] + FACTS * slot] = home
    out[rules.at[PROSPECTS] + FACTS * slot + 1] = lead > 0
    out[rules.at[PROSPECTS] + FACTS * slot + 2] = lead < 0
    out[rules.at[PROSPECTS] + FACTS * slot + 3] = lead + 2 * value > 0
    out[rules.at[PROSPECTS] + FACTS * slot + 4] = lead - 2 * value > 0
    out[rules.at[GAINS] + slot] = next_prestige(rules, game, colour) * home
    if rules.guests > 0:
        tokens = rules.collects[card]
        out[rules.at[HARVEST] + 2 * slot] = min(tokens, game.guests[house])
        out[rules.at[HARVEST] + 2 * slot + 1] = tokens > 0 and game.marker[house] == NONE


@inline
def observe_future(rules: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """The cards that will still be played, and where they will end if taken at random."""
    hand, unseen = held_by(game, me), unseen_by(rules, game, me)
    for card in range(rules.cards):
        out[rules.at[UNSEEN] + card] = unseen >> card & 1
    foe = 1 - me
    mine, theirs = unused_actions(rules, game, me), unused_actions(rules, game, foe)
    my_kept, foe_kept = kept_card(game, me) != NONE, kept_card(game, foe) != NONE
    out[rules.at[TO_COME]] = KEEPS[mine] + GIVES[theirs] + my_kept
    out[rules.at[TO_COME] + 1] = KEEPS[theirs] + GIVES[mine] + foe_kept
    out[rules.at[TO_COME] + 2] = count(mine)
    out[rules.at[TO_COME] + 3] = count(theirs)
    out[rules.at[TO_COME] + 4] = game.held[me]
    out[rules.at[TO_COME] + 5] = game.held[foe]
    keep, give = KEEPS_OF_EACH[mine], GIVES_OF_EACH[mine]
    foe_keeps, foe_gives = KEEPS_OF_EACH[theirs], GIVES_OF_EACH[theirs]
    my_draws = max(count(mine) - int(has_drawn(game, me)), 0)
    foes = game.held[foe] + max(count(theirs) - int(has_drawn(game, foe)), 0)
    to_me = (my_draws * keep + foes * foe_gives) / max(count(unseen), 1)
    to_foe = (my_draws * give + foes * foe_keeps + foe_kept) / max(count(unseen), 1)
    put(rules, out, FLOW, 0, keep)
    put(rules, out, FLOW, 1, give)
    put(rules, out, FLOW, 2, to_me)
    put(rules, out, FLOW, 3, to_foe)
    for c in range(rules.colours):
        held, unknown = influence_of(rules, hand, c), influence_of(rules, unseen, c)
        expected = 2 * (held * (keep - give) + unknown * (to_me - to_foe))
        put(rules, out, EXPECTED_LEAD, c, out[rules.at[LEAD] + c] + expected)


@inline
def unseen_by(rules: np.record, game: np.record, me: int) -> Any:
    """All cards but what was played, lies face up or is mine, a bit each."""
    seen = played(game) | held_by(game, me)
    for place in range(2):
        seen |= bit_of(game.laid[me, INTRIGUE, place])
    for place in range(PLACES):
        if game.face_down[place] != 1 - me:
            seen |= bit_of(game.offer[place])
    return all_cards(rules) & ~seen


@inline
def has_drawn(game: np.record, seat: int) -> Any:
    """Whether the seat holds the card of its turn and has yet to act."""
    return game.phase == ACT and game.mover == seat
