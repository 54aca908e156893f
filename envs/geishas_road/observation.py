"""What a player of Geisha's Road knows, as a flat row of small numbers.

From the seat's own point of view: of two sides, mine comes first. Colours are in the order of
their houses in the circle. Within a round nothing is forgotten: the hand as dealt, the draws in
order, one's own hidden cards, every offer with what became of it, and the number of each card
among those played. The rest is counted for the reader's convenience.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.compiled import inline
from hanamachi.four_actions import actions_left, flow, unused
from hanamachi.game import put
from hanamachi.geishas_road.rules import (
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
    base_points,
    favoured,
    guest_points,
    house_of,
    lands_at,
    next_prestige,
    unused_tokens,
    waiting_share,
)
from hanamachi.layout import Layout, Segment

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
            Segment("score", 4, 0, points, "rounds won, then points of earlier rounds; me, them"),
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
def observe(rules: np.record, game: np.record, seat: int, out: NDArray[np.float32]) -> None:
    out[:] = 0
    me, foe = seat, 1 - seat
    observe_duty(rules, game, me, out)
    observe_own_cards(rules, game, me, out)
    observe_played(rules, game, me, out)
    observe_offer(rules, game, me, out)
    for side in range(2):
        owner = me if side == 0 else foe
        observe_actions(rules, game, owner, side, out)
        observe_offers(rules, game, me, owner, side, out)
        if rules.offer_tokens:
            observe_tokens(rules, game, me, owner, side, out)
    observe_circle(rules, game, me, out)
    observe_round(rules, game, me, out)
    observe_counts(rules, game, me, out)


@inline
def observe_duty(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    if game.mover == me:
        at = rules.at[TO_DO]
        out[at] = game.phase == ACT
        out[at + 1] = game.phase == ANSWER
        out[at + 2] = game.phase == PUT_IN_ORDER
        out[at + 3] = game.phase == PICK_TOKENS
        out[at + 4] = game.phase == PICK_MARKER
        out[at + 5] = game.phase == PICK_STARTER


@inline
def mark(rules: np.record, out: NDArray[np.float32], segment: int, row: int, card: int) -> None:
    """A card in a row of a segment that has one entry a card."""
    if card != NONE:
        out[rules.at[segment] + row * rules.cards + card] = 1


@inline
def show(rules: np.record, out: NDArray[np.float32], segment: int, row: int, card: int) -> None:
    """A card in a row of a segment, as its colour and its value."""
    at = rules.at[segment] + row * (rules.colours + rules.values)
    out[at + rules.colour[card]] = 1
    out[at + rules.colours + card % rules.values] = 1


@inline
def observe_own_cards(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    for slot in range(game.held[me]):
        mark(rules, out, HAND, 0, game.hand[me, slot])
        show(rules, out, SLOTS, slot, game.hand[me, slot])
    for number in range(rules.hand_size):
        mark(rules, out, DEALT, 0, game.received[me, number])
    draws = np.int64(rules.at[DRAWN + 1] - rules.at[DRAWN]) // rules.cards
    for number in range(draws):
        mark(rules, out, DRAWN, number, game.received[me, rules.hand_size + number])
    mark(rules, out, INTRIGUES, 0, game.laid[me, INTRIGUE, 0])
    mark(rules, out, INTRIGUES, 1, game.laid[me, INTRIGUE, 1])


@inline
def observe_played(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    for card in range(rules.cards):
        if game.played_as[card] > 0:
            mark(rules, out, TABLEAUS, int(game.played_by[card] != me), card)
            out[rules.at[PLAYED] + card] = game.played_as[card]
            if rules.guests > 0:
                out[rules.at[BROUGHT] + card] = game.brought[card, 0]
                out[rules.at[BROUGHT] + rules.cards + card] = game.brought[card, 1]


@inline
def observe_offer(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    """The cards on the table that are still to be played, and what is asked about them."""
    for place in range(PLACES):
        card, owner = game.offer[place], game.face_down[place]
        if card != NONE:
            if owner != 1 - me:
                show(rules, out, SLOTS, rules.hand_size + 1 + place, card)
            if owner != NONE:
                out[rules.at[FACE_DOWN] + 2 * place + int(owner != me)] = 1
    if game.phase == PUT_IN_ORDER:
        share = waiting_share(game)
        for i in range(2):
            out[rules.at[TO_PLAY] + PLACES * i + game.share[share, i]] = 1
    if game.phase == PICK_TOKENS:
        out[rules.at[LANDED] + house_of(rules, game, game.playing)] = 1


@inline
def observe_actions(
    rules: np.record, game: np.record, seat: int, side: int, out: NDArray[np.float32]
) -> None:
    """What a player did with each action; `side` is 0 for mine, 1 for theirs."""
    at = rules.at
    for action in range(4):
        if game.used_in[seat, action] > 0:
            out[at[USED_IN] + 16 * side + 4 * action + game.used_in[seat, action] - 1] = 1
    if game.picked[seat, GIFT] != NONE:
        out[at[PICKED] + 5 * side + game.picked[seat, GIFT]] = 1
    if game.picked[seat, COMPETITION] != NONE:
        out[at[PICKED] + 5 * side + 3 + game.picked[seat, COMPETITION]] = 1
    for offer in range(2):
        for share in range(2):
            order = game.order[seat, GIFT + offer, share]
            if order != NONE:
                out[at[ORDERS] + 8 * side + 4 * offer + 2 * share + order] = 1


@inline
def observe_offers(
    rules: np.record, game: np.record, me: int, seat: int, side: int, out: NDArray[np.float32]
) -> None:
    """The cards of a player's Gift and Competition as they were laid down, if face up or mine."""
    for action in range(GIFT, COMPETITION + 1):
        for place in range(PLACES):
            card = game.laid[seat, action, place]
            hidden = game.hidden_use[seat] == action and card == game.hidden_card[seat]
            if seat == me or not hidden:
                if action == GIFT:
                    mark(rules, out, GIFTS, side, card)
                else:
                    mark(rules, out, PAIRS, 2 * side + place // 2, card)


@inline
def observe_tokens(
    rules: np.record, game: np.record, me: int, seat: int, side: int, out: NDArray[np.float32]
) -> None:
    """How a player used Hidden Offer and Counteroffer, as far as I know."""
    at, use, turn = rules.at, game.hidden_use[seat], game.counter_to[seat]
    out[at[TOKENS_LEFT] + 2 * side] = use == NONE
    out[at[TOKENS_LEFT] + 2 * side + 1] = turn == NONE
    if use != NONE:
        out[at[HIDDEN_USE] + 3 * side + (use - GIFT if use <= COMPETITION else 2)] = 1
        if seat == me:
            mark(rules, out, MY_HIDDEN, 0, game.hidden_card[me])
    if turn != NONE:
        out_by = game.counter_out_by[seat]
        out[at[COUNTERED] + 14 * side + turn] = 1
        out[at[COUNTERED] + 14 * side + 8 + game.counter_place[seat]] = 1
        if out_by != NONE:
            out[at[COUNTERED] + 14 * side + 12 + int(out_by != me)] = 1
        if out_by != 1 - me:
            mark(rules, out, CARD_OUT, side, game.counter_out[seat])
        hidden = use > COMPETITION
        if seat == me or not hidden:
            mark(rules, out, CARD_IN, side, game.counter_in[seat])


@inline
def observe_circle(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    at, n = rules.at, rules.colours
    for c in range(n):
        out[at[STEPS] + n * c + game.steps[c]] = 1
        out[at[RETURNS] + c] = game.returns[c] > 0
        out[at[RETURNS] + n + c] = game.returns[c] > 1
        if game.marker[c] != NONE:
            out[at[MARKERS] + n * int(game.marker[c] != me) + c] = 1
        if rules.guests > 0:
            out[at[GUESTS] + c] = game.guests[c]
            out[at[COLLECTED] + c] = game.collected[me, c]
            out[at[COLLECTED] + n + c] = game.collected[1 - me, c]
    for row in range(2):
        taken = game.taken[row]
        for i in range(taken, rules.row_length[row]):
            out[at[ROWS] + ROW * row + i - taken] = game.row[row, i]


@inline
def observe_round(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    at = rules.at
    out[at[BEGAN]] = game.starter == me
    if game.chooser != NONE and game.starter != NONE:
        out[at[CHOOSER] + int(game.chooser != me)] = 1
    if game.round_number > 0:
        out[at[ROUND] + game.round_number - 1] = 1
    for side in range(2):
        seat = me if side == 0 else 1 - me
        put(rules, out, SCORE, side, game.wins[seat])
        put(rules, out, SCORE, 2 + side, game.points[seat])


@inline
def observe_counts(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    at, n, foe = rules.at, rules.colours, 1 - me
    unseen = observe_unseen(rules, game, me, out)
    base = base_points(rules, game)
    for c in range(n):
        out[at[WORTH] + c] = base + game.prestige[c]
        out[at[LEAD] + c] = lead(rules, game, me, c)
        owner = favoured(rules, game, c)
        if owner != NONE:
            out[at[AHEAD] + int(owner != me) * n + c] = 1
    for side in range(2):
        seat = me if side == 0 else foe
        points = guest_points(rules, game, seat) + unused_tokens(rules, game, seat)
        for c in range(n):
            points += out[at[AHEAD] + side * n + c] * (base + game.prestige[c])
        put(rules, out, POINTS, side, points)
        out[at[TO_COME] + side] = cards_to_come(rules, game, seat)
        out[at[TO_COME] + 2 + side] = actions_left(rules, game, seat)
        out[at[TO_COME] + 4 + side] = game.held[seat]
    observe_flow(rules, game, me, unseen, out)
    observe_prospects(rules, game, me, out)


@inline
def observe_prospects(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> None:
    """What every card in hand and on offer would do if it were played now."""
    for slot in range(game.held[me]):
        observe_prospect(rules, game, game.hand[me, slot], slot, out)
    for place in range(PLACES):
        if game.offer[place] != NONE and game.face_down[place] != 1 - me:
            slot = rules.hand_size + 1 + place
            observe_prospect(rules, game, game.offer[place], slot, out)


@inline
def observe_prospect(
    rules: np.record, game: np.record, card: int, slot: int, out: NDArray[np.float32]
) -> None:
    """Where it leads its geisha, who leads her before and after, and what it would bring."""
    at, colour, value = rules.at, rules.colour[card], rules.value[card]
    house, lead = lands_at(rules, game, card), out[rules.at[LEAD] + colour]
    facts = out[at[PROSPECTS] + FACTS * slot : at[PROSPECTS] + FACTS * (slot + 1)]
    facts[0] = house == colour
    facts[1] = lead > 0
    facts[2] = lead < 0
    facts[3] = lead + 2 * value > 0
    facts[4] = lead - 2 * value > 0
    if house == colour:
        out[at[GAINS] + slot] = next_prestige(rules, game, colour)
    if rules.collects[card] > 0:
        out[at[HARVEST] + 2 * slot] = min(rules.collects[card], game.guests[house])
        out[at[HARVEST] + 2 * slot + 1] = game.marker[house] == NONE


@inline
def observe_unseen(rules: np.record, game: np.record, me: int, out: NDArray[np.float32]) -> int:
    """All but what was played, lies face up or is mine; returns how many cards these are."""
    at = rules.at[UNSEEN]
    for card in range(rules.cards):
        out[at + card] = game.played_as[card] == 0
    for slot in range(game.held[me]):
        out[at + game.hand[me, slot]] = 0
    for place in range(2):
        if game.laid[me, INTRIGUE, place] != NONE:
            out[at + game.laid[me, INTRIGUE, place]] = 0
    for place in range(PLACES):
        if game.offer[place] != NONE and game.face_down[place] != 1 - me:
            out[at + game.offer[place]] = 0
    unseen = 0
    for card in range(rules.cards):
        unseen += int(out[at + card])
    return unseen


@inline
def lead(rules: np.record, game: np.record, me: int, c: int) -> Any:
    """Twice the influence that I have over a geisha less the foe's, my kept card included."""
    lead = 2 * (game.influence[me, c] - game.influence[1 - me, c])
    kept = game.laid[me, INTRIGUE, 0]
    if kept != NONE and game.played_as[kept] == 0 and rules.colour[kept] == c:
        lead += 2 * rules.value[kept]
    return lead + int(game.marker[c] == me) - int(game.marker[c] == 1 - me)


@inline
def cards_to_come(rules: np.record, game: np.record, seat: int) -> int:
    """Cards that will still be played by a seat in this round, beside those on the table."""
    cards = 0
    for action in range(4):
        cards += KEPT[action] * unused(rules, game, seat, action)
        cards += GIVEN[action] * unused(rules, game, 1 - seat, action)
    kept = game.laid[seat, INTRIGUE, 0]
    if kept != NONE:
        cards += game.played_as[kept] == 0
    return cards


@inline
def observe_flow(
    rules: np.record, game: np.record, me: int, unseen: int, out: NDArray[np.float32]
) -> None:
    """Where cards will end if the actions left take them at random."""
    at, n, foe = rules.at, rules.colours, 1 - me
    keep, give = flow(rules, game, me, KEPT, GIVEN)
    foe_keeps, foe_gives = flow(rules, game, foe, KEPT, GIVEN)
    my_draws = max(actions_left(rules, game, me) - int(has_drawn(game, me)), 0)
    foes = game.held[foe] + max(actions_left(rules, game, foe) - int(has_drawn(game, foe)), 0)
    hidden = 0
    kept = game.laid[foe, INTRIGUE, 0]
    if kept != NONE:
        hidden = int(game.played_as[kept] == 0)
    to_me = (my_draws * keep + foes * foe_gives) / max(unseen, 1)
    to_foe = (my_draws * give + foes * foe_keeps + hidden) / max(unseen, 1)
    for i, share in enumerate((keep, give, to_me, to_foe)):
        put(rules, out, FLOW, i, share)
    for c in range(n):
        mine = unknown = 0  # influence of my hand, and of the cards that I have not seen
        for slot in range(game.held[me]):
            card = game.hand[me, slot]
            mine += (rules.colour[card] == c) * rules.value[card]
        for card in range(c * rules.values, (c + 1) * rules.values):
            unknown += int(out[at[UNSEEN] + card]) * rules.value[card]
        expected = out[at[LEAD] + c] + 2 * (mine * (keep - give) + unknown * (to_me - to_foe))
        put(rules, out, EXPECTED_LEAD, c, expected)


@inline
def has_drawn(game: np.record, seat: int) -> Any:
    """Whether the seat holds the card of its turn and has yet to act."""
    return game.phase == ACT and game.mover == seat
