"""What a player of Geisha's Road knows, as a flat row of small numbers.

From the seat's own point of view: of two sides, mine comes first. Colours are in the order of
their houses in the circle. Within a round nothing is forgotten: the hand as dealt, the draws in
order, one's own hidden cards, every offer with what became of it, and the number of each card
among those played. The rest is counted for the reader's convenience.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count
from hanamachi.engine.compiled import inline
from hanamachi.engine.entries import put
from hanamachi.engine.layout import Axes, Layout, Segment, axis
from hanamachi.engine.words import (
    ALL_BITS,
    BYTE,
    BYTES,
    ONES,
    WIDE,
    at_least,
    difference,
    equal,
    greater,
    number_at,
    places_of,
    sum_of_bytes,
    word_at,
    write_set,
    write_word,
)
from hanamachi.games.four_actions import OWN_TURNS, SHARES, SIDES, USES, sums_by_set, unused_actions
from hanamachi.games.geishas_road.rules import (
    ACT,
    ANSWER,
    CARDS,
    COLOURS,
    COMPETITION,
    GIFT,
    INTRIGUE,
    NONE,
    PHASES,
    PICK_MARKER,
    PICK_STARTER,
    PICK_TOKENS,
    PLACES,
    PUT_IN_ORDER,
    ROW,
    all_cards,
    base_points,
    bit_of,
    guest_points,
    house_of,
    influence_of,
    past,
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

CARDS_KEPT = (1, 1, 2, 2)  # cards of each action that end in the tableau of who uses it
GIVEN = (0, 0, 1, 2)  # and in the other
FACTS = 5  # of each card in hand, among the prospects
PLACE, OFFERS = axis(PLACES, "places"), axis(2, "Gift, Competition")

KEEPS, GIVES = sums_by_set(CARDS_KEPT), sums_by_set(GIVEN)  # of each set of actions
KEEPS_OF_EACH, GIVES_OF_EACH = KEEPS / USES, GIVES / USES  # shares of the cards that they use

DUTY = (ACT, ANSWER, PUT_IN_ORDER, PICK_TOKENS, PICK_MARKER, PICK_STARTER)  # what I must do
DUTIES = np.array([sum(1 << i for i in range(6) if DUTY[i] == phase) for phase in range(PHASES)])

NUMBER = np.uint64(31)  # the bits of a card's number; those of NONE are no card's
NO_HAND, NO_TABLE = np.uint64(0xFF << 56), np.uint64(0xFFFFFFFF << 32)  # bytes behind them: NONE
FULL = np.uint64(2**64 - 1)  # NONE in all bytes
OF_COLOURS = np.uint64(2**40 - 1)  # the bytes of all colours


class Sizes(NamedTuple):
    """What the layout of a rule set depends on."""

    colours: int
    item_values: tuple[int, ...]
    hand: int  # cards in the largest hand
    draws: int  # cards drawn in a round, at most
    rounds: int  # that can be played, at most
    worth: int  # points that one geisha brings, at most
    points: int  # that a player can have, at most
    guests: bool  # there are guests
    offers: bool  # there are Hidden Offer and Counteroffer

    @property
    def values(self) -> int:
        return len(self.item_values)

    @property
    def cards(self) -> int:
        return self.colours * self.values

    @property
    def colour(self) -> Axes:
        """The axis of what there is of each geisha, or house."""
        return axis(self.colours, "colours")

    @property
    def card(self) -> Axes:
        """The axes of what there is of each card."""
        return self.colour * axis(self.values, "values")

    @property
    def slot(self) -> Axes:
        """The axis of the cards in hand, then of those on offer."""
        return axis(self.hand + PLACES, "slots")

    @property
    def total(self) -> int:
        """Of the values of a colour."""
        return sum(self.item_values)


PRIVATE = (
    "hand", "slots", "dealt", "drawn", "intrigues",
    "gifts", "pairs", "my hidden", "card out", "card in",
    "unseen", "lead", "expected lead", "prospects", "gains", "harvest",
)  # fmt: skip
SLOT_BY_SLOT = "slots", "prospects", "gains", "harvest"


def layout(sizes: Sizes) -> Layout:
    """The segments of a rule set; those of tokens that it does not have are empty."""
    table = Layout(
        (
            *own_cards(sizes),
            *played_cards(sizes),
            *offer_tokens(sizes),
            *circle(sizes),
            *outlook(sizes),
        ),
        blocks=tuple(("slot", name) for name in SLOT_BY_SLOT),
        private=PRIVATE,
        by_hand_order=SLOT_BY_SLOT,
    )
    assert table.size - table.offsets[UNSEEN] >= WIDE  # the last set is written within the row
    return table


def own_cards(sizes: Sizes) -> tuple[Segment, ...]:
    """What I must do, and the cards that only I have seen."""
    card = sizes.card
    return (
        Segment(
            "to do",
            axis(6, "act, answer, order, collect, marker, starter"),
            0,
            1,
            "act, answer, order, collect, take a marker, name a starter",
        ),
        Segment("hand", card, 0, 1, "my cards"),
        Segment(
            "slots",
            sizes.slot * axis(sizes.colours + sizes.values, "colours then values"),
            0,
            1,
            "colour and value of each, then of those on offer",
        ),
        Segment("dealt", card, 0, 1, "my hand as it was dealt"),
        Segment(
            "drawn",
            axis(sizes.draws, "draws") * card,
            0,
            1,
            "the cards that I drew since, in order",
        ),
        Segment(
            "intrigues",
            axis(2, "kept, discarded") * card,
            0,
            1,
            "the card that I kept, and that I discarded",
        ),
    )


def played_cards(sizes: Sizes) -> tuple[Segment, ...]:
    """The cards that were played and offered, and what was picked."""
    card = sizes.card
    return (
        Segment("tableaus", SIDES * card, 0, 1, "cards played by me, then by them"),
        Segment("played", card, 0, sizes.cards, "the number of each card among those played"),
        Segment(
            "brought",
            axis(2 * sizes.guests, "guests, tiebreakers") * card,
            0,
            2,
            "guests and tiebreakers it collected",
        ),
        Segment("used in", OWN_TURNS, 0, 1, "for my four actions, then theirs: in which own turn"),
        Segment("gifts", SIDES * card, 0, 1, "the cards of my Gift, then of theirs"),
        Segment(
            "pairs",
            SIDES * axis(2, "pairs") * card,
            0,
            1,
            "the two pairs of my Competition, then of theirs",
        ),
        Segment(
            "picked",
            SIDES * axis(5, "places then pairs"),
            0,
            1,
            "the place of my Gift, pair of my Competition; theirs",
        ),
        Segment(
            "orders",
            SIDES * OFFERS * axis(2, "shares") * axis(2, "lower, higher"),
            0,
            1,
            "of each share: lower, higher place first; by offers",
        ),
    )


def offer_tokens(sizes: Sizes) -> tuple[Segment, ...]:
    """Hidden Offer and Counteroffer, and the cards on the table."""
    offers = sizes.offers
    laid = axis(offers * sizes.colours, "colours") * axis(sizes.values, "values")
    return (
        Segment(
            "hidden",
            SIDES * axis(3 * offers, "Gift, Competition, Counteroffer"),
            0,
            1,
            "Gift, Competition, Counteroffer; theirs",
        ),
        Segment("my hidden", laid, 0, 1, "the card that I laid face down"),
        Segment(
            "countered",
            SIDES * axis(14 * offers, "turns then places then owners"),
            0,
            1,
            "turn, place, whose hidden card; theirs",
        ),
        Segment("card out", SIDES * laid, 0, 1, "the card that it removed; theirs"),
        Segment("card in", SIDES * laid, 0, 1, "the card that it laid; theirs"),
        Segment(
            "offer tokens",
            SIDES * axis(2 * offers, "Hidden Offer, Counteroffer"),
            0,
            1,
            "unused: Hidden, Counteroffer; theirs",
        ),
        Segment("face down", PLACE * SIDES, 0, 1, "laid there by me, by them"),
        Segment(
            "to play",
            axis(2, "first, second") * PLACE,
            0,
            1,
            "first, second of the two cards to be ordered",
        ),
        Segment(
            "landed",
            axis(sizes.guests * sizes.colours, "houses"),
            0,
            1,
            "the house whose tokens are being picked",
        ),
    )


def circle(sizes: Sizes) -> tuple[Segment, ...]:
    """The circle of houses, the guests and the score."""
    each, houses = sizes.colour, axis(sizes.guests * sizes.colours, "houses")
    return (
        Segment("markers", SIDES * each, 0, 1, "held by me, then by them"),
        Segment(
            "steps",
            each * axis(sizes.colours, "steps"),
            0,
            1,
            "how far each geisha is past her house",
        ),
        Segment("returns", axis(2, "once, twice") * each, 0, 1, "she came home once, twice"),
        Segment(
            "rows",
            axis(2, "first returns, second returns") * axis(ROW, "tokens"),
            0,
            9,
            "tokens left for first, second returns, next first",
        ),
        Segment("guests", houses, 0, 3, "at each house"),
        Segment("collected", SIDES * houses, 0, 3, "guests that I have, then they"),
        Segment("began", 1, 0, 1, "I begin this round"),
        Segment("chooser", SIDES, 0, 1, "I named its starter, they did"),
        Segment("round", sizes.rounds, 0, 1, "the round"),
        Segment(
            "score",
            axis(2, "rounds won, points") * SIDES,
            0,
            max(sizes.points, sizes.rounds),
            "rounds won, then points of earlier rounds; me, them",
        ),
    )


def outlook(sizes: Sizes) -> tuple[Segment, ...]:
    """What follows from all this: who leads, and what each card would bring."""
    each, most = sizes.colour, 2 * sizes.total + 1  # twice the influence, and a marker
    return (
        Segment("unseen", sizes.card, 0, 1, "cards that I do not know the place of"),
        Segment("worth", each, 0, sizes.worth, "points that each geisha brings"),
        Segment("lead", each, -most, most, "twice my influence less theirs"),
        Segment("ahead", SIDES * each, 0, 1, "she would be mine, theirs"),
        Segment("points", SIDES, 0, sizes.points, "what this round would bring now; me, them"),
        Segment(
            "to come",
            axis(3, "cards, actions, hand") * SIDES,
            0,
            10,
            "cards still to be played, markers left, cards held",
        ),
        Segment(
            "flow",
            SHARES,
            0,
            1,
            "shares of my cards, of unseen ones: to me, to them",
            fraction=True,
        ),
        Segment(
            "expected lead",
            each,
            -most,
            most,
            "the lead at the end, so shared",
            fraction=True,
        ),
        Segment(
            "prospects",
            sizes.slot * axis(FACTS, "facts"),
            0,
            1,
            "home; she is mine, theirs; mine if I, they play it",
        ),
        Segment("gains", sizes.slot, 0, 9, "the prestige token that each would bring her"),
        Segment(
            "harvest",
            sizes.slot * axis(2 * sizes.guests, "guests, tiebreaker"),
            0,
            2,
            "guests, tiebreaker it could collect",
        ),
    )


@inline
def observe(rule_set: np.record, game: np.record, seat: int, out: NDArray[Any]) -> None:
    """The segments in their order: what is written beyond the end of one, the next overwrites."""
    me = seat
    hand, table = hand_of(game, me), seen_on_table(game, me)
    unplayed = places_of(NONE, game.played_by, 0) & all_cards(rule_set)
    held, unseen = set_of(hand), unplayed & ~seen_by(game, me, hand, table)
    leads = leads_of(rule_set, game, me, unplayed)
    observe_own_cards(rule_set, game, me, hand, table, out)
    observe_played(rule_set, game, me, out)
    observe_actions(rule_set, game, me, out)
    observe_offers(rule_set, game, me, out)
    observe_answers(rule_set, game, me, out)
    if rule_set.offer_tokens:
        observe_tokens(rule_set, game, me, out)
    observe_table(rule_set, game, me, out)
    observe_circle(rule_set, game, me, out)
    observe_round(rule_set, game, me, out)
    put_cards(rule_set, out, UNSEEN, 0, unseen)
    observe_influence(rule_set, game, me, leads, out)
    observe_future(rule_set, game, me, leads, unplayed, held, unseen, out)
    observe_prospects(rule_set, game, me, leads, hand, table, out)


# --- Cards as the bytes of a word, and as the bits of a set


@inline
def hand_of(game: np.record, seat: int) -> Any:
    return word_at(game.hand[seat], 0) | NO_HAND


@inline
def seen_on_table(game: np.record, me: int) -> Any:
    """The cards on offer but for those that the other player laid face down."""
    return word_at(game.offer, 0) | equal(word_at(game.face_down, 0), 1 - me) * ALL_BITS | NO_TABLE


@inline
def set_of(cards: Any) -> Any:
    members = np.int64(0)
    for i in range(BYTES):
        members |= np.int64(1) << np.int64(cards >> np.uint64(8 * i) & NUMBER)
    return members


@inline
def seen_by(game: np.record, me: int, hand: Any, table: Any) -> Any:
    """The cards that I hold, have put aside or see on the table."""
    kept, discarded = game.laid[me, INTRIGUE, 0], game.laid[me, INTRIGUE, 1]
    return set_of(hand) | set_of(table) | bit_of(kept) | bit_of(discarded)


@inline
def keeps(game: np.record, seat: int, unplayed: int) -> Any:
    """1 if a seat kept a card by Intrigue and has not played it yet."""
    return unplayed >> (game.laid[seat, INTRIGUE, 0] & 31) & 1


@inline
def chosen(choice: int) -> Any:
    """The set of what was chosen; nothing for NONE."""
    return np.int64(1) << choice + 1 >> 1


@inline
def put_cards(rule_set: np.record, out: NDArray[Any], segment: int, row: int, cards: int) -> None:
    """A set of cards in a row of a segment that has one entry a card."""
    write_set(out, rule_set.at[segment] + row * rule_set.cards, cards)


@inline
def put_card(rule_set: np.record, out: NDArray[Any], segment: int, row: int, card: int) -> None:
    """A card, if there is one, in such a row."""
    put_cards(rule_set, out, segment, row, bit_of(card))


# --- My cards


@inline
def observe_own_cards(
    rule_set: np.record, game: np.record, me: int, hand: Any, table: Any, out: NDArray[Any]
) -> None:
    write_set(out, rule_set.at[TO_DO], DUTIES[game.phase] if game.mover == me else 0)
    put_cards(rule_set, out, HAND, 0, set_of(hand))
    size, cards = rule_set.hand_size, rule_set.cards
    observe_slots(rule_set, 0, size + 1, hand, out)
    observe_slots(rule_set, size + 1, PLACES, table, out)
    dealt = word_at(game.received[me], 0) | FULL << np.uint64(8 * size)
    put_cards(rule_set, out, DEALT, 0, set_of(dealt))
    drawn, at = word_at(game.received[me], size), np.int64(rule_set.at[DRAWN])
    for _ in range(rule_set.draws):
        write_set(out, at, np.int64(1) << np.int64(drawn & NUMBER))
        drawn >>= BYTE
        at += cards
    put_card(rule_set, out, INTRIGUES, 0, game.laid[me, INTRIGUE, 0])
    put_card(rule_set, out, INTRIGUES, 1, game.laid[me, INTRIGUE, 1])


@inline
def observe_slots(
    rule_set: np.record, first: int, slots: int, cards: Any, out: NDArray[Any]
) -> None:
    """Colour and value of cards, in the slots from the first on."""
    width = rule_set.colours + rule_set.values
    at = rule_set.at[SLOTS] + first * width
    for _ in range(slots):
        card = cards & NUMBER
        write_word(out, at, rule_set.traits[card, 0])
        write_word(out, at + BYTES, rule_set.traits[card, 1])
        cards >>= BYTE
        at += width


# --- What was played and offered


@inline
def observe_played(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    put_cards(rule_set, out, TABLEAUS, 0, places_of(me, game.played_by, 0))
    put_cards(rule_set, out, TABLEAUS, 1, places_of(1 - me, game.played_by, 0))
    at, cards = rule_set.at[PLAYED], rule_set.cards
    for card in range(0, CARDS, BYTES):
        write_word(out, at + card, word_at(game.played_as, card))
    if rule_set.guests > 0:
        at = rule_set.at[BROUGHT]
        for card in range(cards):
            out[np.uint64(at + card)] = game.brought[card, 0]
            out[np.uint64(at + cards + card)] = game.brought[card, 1]


@inline
def observe_actions(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    turns = 0
    for side in range(2):
        for action in range(4):
            turns |= chosen(game.used_in[me ^ side, action] - 1) << 16 * side + 4 * action
    write_set(out, rule_set.at[USED_IN], turns)


@inline
def observe_offers(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """The cards of each Gift and Competition as they were laid down, if face up or mine."""
    for side in range(2):
        seat = me ^ side
        cards = offered(game, seat, GIFT, 0) | offered(game, seat, GIFT, 2)
        put_cards(rule_set, out, GIFTS, side, cards & ~secret_in(game, GIFT, seat, me))
    for side in range(2):
        seat = me ^ side
        secret = secret_in(game, COMPETITION, seat, me)
        for pair in range(2):
            cards = offered(game, seat, COMPETITION, 2 * pair)
            put_cards(rule_set, out, PAIRS, 2 * side + pair, cards & ~secret)


@inline
def offered(game: np.record, seat: int, offer: int, place: int) -> Any:
    """The cards of two places."""
    return bit_of(game.laid[seat, offer, place]) | bit_of(game.laid[seat, offer, place + 1])


@inline
def secret_in(game: np.record, offer: int, seat: int, me: int) -> Any:
    """The card of a seat's offer that I cannot see."""
    hidden = seat != me and game.hidden_use[seat] == offer
    return bit_of(game.hidden_card[seat]) if hidden else 0


@inline
def observe_answers(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """What was picked from each offer, and the order of its cards."""
    picked = orders = 0
    for side in range(2):
        seat = me ^ side
        picks = chosen(game.picked[seat, GIFT]) | chosen(game.picked[seat, COMPETITION]) << 3
        picked |= picks << 5 * side
        for offer in range(2):
            for share in range(2):
                order = chosen(game.order[seat, GIFT + offer, share])
                orders |= order << 8 * side + 4 * offer + 2 * share
    write_set(out, rule_set.at[PICKED], picked)
    write_set(out, rule_set.at[ORDERS], orders)


@inline
def observe_tokens(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """How each player used Hidden Offer and Counteroffer, as far as I know."""
    foe, uses, counters, left = 1 - me, 0, 0, 0
    for side in range(2):
        seat = me ^ side
        use, turn, out_by = game.hidden_use[seat], game.counter_to[seat], game.counter_out_by[seat]
        offers = int(use == GIFT) | int(use == COMPETITION) << 1 | int(use > COMPETITION) << 2
        uses |= offers << 3 * side
        counter = chosen(turn) | chosen(game.counter_place[seat]) << 8
        counters |= (counter | int(out_by == me) << 12 | int(out_by == foe) << 13) << 14 * side
        left |= (int(use == NONE) | int(turn == NONE) << 1) << 2 * side
    write_set(out, rule_set.at[HIDDEN_USE], uses)
    put_card(rule_set, out, MY_HIDDEN, 0, game.hidden_card[me])
    write_set(out, rule_set.at[COUNTERED], counters)
    for side in range(2):
        seat = me ^ side
        secret = game.counter_out_by[seat] == foe
        put_card(rule_set, out, CARD_OUT, side, NONE if secret else game.counter_out[seat])
    put_card(rule_set, out, CARD_IN, 0, game.counter_in[me])
    secret = game.hidden_use[foe] > COMPETITION
    put_card(rule_set, out, CARD_IN, 1, NONE if secret else game.counter_in[foe])
    write_set(out, rule_set.at[TOKENS_LEFT], left)


@inline
def observe_table(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """What lies face down, and what is asked about the cards that are still to be played."""
    asked = 0
    for place in range(PLACES):
        owner = game.face_down[place]
        asked |= (int(owner == me) | int(owner == 1 - me) << 1) << 2 * place
    if game.phase == PUT_IN_ORDER:
        share = waiting_share(game)
        for i in range(2):
            asked |= np.int64(1) << 8 + PLACES * i + game.share[share, i]
    if game.phase == PICK_TOKENS:
        asked |= np.int64(1) << 16 + house_of(rule_set, game, game.playing)
    write_set(out, rule_set.at[FACE_DOWN], asked)


# --- The circle and the score


@inline
def observe_circle(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    at, n = rule_set.at, rule_set.colours
    markers, returns, steps = word_at(game.marker, 0), word_at(game.returns, 0), 0
    for c in range(COLOURS):
        steps |= np.int64(1) << n * c + game.steps[c]
    write_word(out, at[MARKERS], equal(markers, me))
    write_word(out, at[MARKERS] + n, equal(markers, 1 - me))
    write_set(out, at[STEPS], steps)
    write_word(out, at[RETURNS], at_least(returns, 1))
    write_word(out, at[RETURNS] + n, at_least(returns, 2))
    write_word(out, at[ROWS], tokens_left(rule_set, game, 0))
    write_word(out, at[ROWS] + ROW, tokens_left(rule_set, game, 1))
    if rule_set.guests > 0:
        write_word(out, at[GUESTS], word_at(game.guests, 0))
        write_word(out, at[COLLECTED], word_at(game.collected[me], 0))
        write_word(out, at[COLLECTED] + n, word_at(game.collected[1 - me], 0))


@inline
def tokens_left(rule_set: np.record, game: np.record, row: int) -> Any:
    """The tokens that are left in a row, the next one first, a byte each."""
    others = FULL << np.uint64(8 * rule_set.row_length[row])
    return (word_at(game.row[row], 0) & ~others) >> np.uint64(8 * game.taken[row])


@inline
def observe_round(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    out[rule_set.at[BEGAN]] = game.starter == me
    named = game.starter != NONE
    out[rule_set.at[CHOOSER]] = named and game.chooser == me
    out[rule_set.at[CHOOSER] + 1] = named and game.chooser == 1 - me
    first = rule_set.at[ROUND]
    for i in range(rule_set.at[SCORE] - first):
        out[np.uint64(first + i)] = game.round_number == i + 1
    for side in range(2):
        put(rule_set, out, SCORE, side, game.wins[me ^ side])
        put(rule_set, out, SCORE, 2 + side, game.points[me ^ side])


# --- What follows from it


@inline
def leads_of(rule_set: np.record, game: np.record, me: int, unplayed: int) -> Any:
    """By colour, twice my influence, a kept card included, less theirs; a marker counts one."""
    markers, foe = word_at(game.marker, 0), 1 - me
    mine, theirs = word_at(game.influence[me], 0), word_at(game.influence[foe], 0)
    mine += rule_set.pull[game.laid[me, INTRIGUE, 0] & 31] * np.uint64(keeps(game, me, unplayed))
    return difference(mine + mine + equal(markers, me), theirs + theirs + equal(markers, foe))


@inline
def observe_influence(
    rule_set: np.record, game: np.record, me: int, leads: Any, out: NDArray[Any]
) -> None:
    """Who leads each geisha, and what the round would bring now."""
    at, n, foe = rule_set.at, rule_set.colours, 1 - me
    markers = word_at(game.marker, 0)
    mine, theirs = word_at(game.influence[me], 0), word_at(game.influence[foe], 0)
    counted = ONES if rule_set.alone_wins else at_least(mine + theirs, 1)
    mine += mine + (equal(markers, me) & counted)
    theirs += theirs + (equal(markers, foe) & counted)
    worth = word_at(game.prestige, 0) + np.uint64(base_points(rule_set, game)) * ONES
    write_word(out, at[WORTH], worth)
    write_word(out, at[LEAD], leads)
    write_word(out, at[AHEAD], greater(mine, theirs))
    write_word(out, at[AHEAD] + n, greater(theirs, mine))
    my_points = guest_points(rule_set, game, me) + unused_tokens(rule_set, game, me)
    their_points = guest_points(rule_set, game, foe) + unused_tokens(rule_set, game, foe)
    worth &= OF_COLOURS
    put(rule_set, out, POINTS, 0, my_points + sum_where(greater(mine, theirs), worth))
    put(rule_set, out, POINTS, 1, their_points + sum_where(greater(theirs, mine), worth))


@inline
def sum_where(ones: Any, numbers: Any) -> Any:
    """The sum of the bytes in whose place there is a 1."""
    return sum_of_bytes(ones * ALL_BITS & numbers)


@inline
def observe_future(
    rule_set: np.record,
    game: np.record,
    me: int,
    leads: Any,
    unplayed: int,
    held: int,
    unseen: int,
    out: NDArray[Any],
) -> None:
    """The cards that will still be played, and where they will end if taken at random."""
    foe, unknown = 1 - me, max(count(unseen), 1)
    mine, theirs = unused_actions(rule_set, game, me), unused_actions(rule_set, game, foe)
    foe_kept = keeps(game, foe, unplayed)
    at = rule_set.at[TO_COME]
    out[at] = KEEPS[mine] + GIVES[theirs] + keeps(game, me, unplayed)
    out[at + 1] = KEEPS[theirs] + GIVES[mine] + foe_kept
    out[at + 2] = count(mine)
    out[at + 3] = count(theirs)
    out[at + 4] = game.held[me]
    out[at + 5] = game.held[foe]
    keep, give = KEEPS_OF_EACH[mine], GIVES_OF_EACH[mine]
    foe_keeps, foe_gives = KEEPS_OF_EACH[theirs], GIVES_OF_EACH[theirs]
    my_draws = max(count(mine) - int(has_drawn(game, me)), 0)
    foes = game.held[foe] + max(count(theirs) - int(has_drawn(game, foe)), 0)
    to_me = (my_draws * keep + foes * foe_gives) / unknown
    to_foe = (my_draws * give + foes * foe_keeps + foe_kept) / unknown
    put(rule_set, out, FLOW, 0, keep)
    put(rule_set, out, FLOW, 1, give)
    put(rule_set, out, FLOW, 2, to_me)
    put(rule_set, out, FLOW, 3, to_foe)
    for c in range(COLOURS):  # a number known to the compiler; what is too much is overwritten
        mine_of, unseen_of = influence_of(rule_set, held, c), influence_of(rule_set, unseen, c)
        expected = 2 * (mine_of * (keep - give) + unseen_of * (to_me - to_foe))
        put(rule_set, out, EXPECTED_LEAD, c, number_at(leads, c) + expected)


@inline
def has_drawn(game: np.record, seat: int) -> Any:
    """Whether the seat holds the card of its turn and has yet to act."""
    return game.phase == ACT and game.mover == seat


@inline
def observe_prospects(
    rule_set: np.record,
    game: np.record,
    me: int,
    leads: Any,
    hand: Any,
    table: Any,
    out: NDArray[Any],
) -> None:
    """What each card in hand or on the table would do if it were played now."""
    tokens = next_tokens(rule_set, game)
    out[rule_set.at[PROSPECTS] :] = 0
    for slot in range(game.held[me]):
        observe_card(rule_set, game, slot, hand & NUMBER, leads, tokens, out)
        hand >>= BYTE
    for place in range(PLACES):
        card = table & NUMBER
        if card != NUMBER:
            slot = rule_set.hand_size + 1 + place
            observe_card(rule_set, game, slot, card, leads, tokens, out)
        table >>= BYTE


@inline
def next_tokens(rule_set: np.record, game: np.record) -> Any:
    """By colour, the prestige token that her next return brings; 0 where none is left."""
    returns = word_at(game.returns, 0)
    once, twice = at_least(returns, 1), at_least(returns, 2)
    first, second = tokens_left(rule_set, game, 0), tokens_left(rule_set, game, 1)
    return (ONES ^ once) * (first & ALL_BITS) + (once ^ twice) * (second & ALL_BITS)


@inline
def observe_card(
    rule_set: np.record,
    game: np.record,
    slot: int,
    card: Any,
    leads: Any,
    tokens: Any,
    out: NDArray[Any],
) -> None:
    """Where a card leads its geisha, who leads her before and after, and what it would bring.

    Signs are bits here, as branches could not be foreseen.
    """
    colour = rule_set.colour[card]
    steps = past(rule_set, game.steps[np.uint64(colour)], rule_set.walk[card])
    lead, change, home = number_at(leads, colour), 2 * rule_set.value[card], steps == 0
    at = rule_set.at[PROSPECTS] + FACTS * slot
    out[np.uint64(at)] = home
    out[np.uint64(at + 1)] = is_negative(-lead)
    out[np.uint64(at + 2)] = is_negative(lead)
    out[np.uint64(at + 3)] = is_negative(-lead - change)
    out[np.uint64(at + 4)] = is_negative(change - lead)
    out[np.uint64(rule_set.at[GAINS] + slot)] = number_at(tokens, colour) * home
    if rule_set.guests > 0:
        at, house = rule_set.at[HARVEST] + 2 * slot, np.uint64(past(rule_set, colour, steps))
        guests = min(rule_set.collects[card], game.guests[house])
        out[np.uint64(at)] = guests
        out[np.uint64(at + 1)] = (rule_set.collects[card] > 0) & (game.marker[house] == NONE)


@inline
def is_negative(number: int) -> Any:
    return number >> 63 & 1
