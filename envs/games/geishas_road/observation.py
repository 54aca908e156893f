"""What a player of Geisha's Road knows, as a flat row of small numbers.

From the seat's own point of view: of two sides, mine comes first. Colours are in the order of
their houses in the circle. Within a round nothing is forgotten: the hand as dealt, the draws in
order, one's own hidden cards, every offer with what became of it, and the number of each card
among those played. The rest is counted for the reader's convenience.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count, lowest
from hanamachi.engine.compiled import inline
from hanamachi.engine.game import put
from hanamachi.engine.layout import Layout, Segment
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
    def slots(self) -> int:
        """Cards in hand, then those on offer."""
        return self.hand + PLACES

    @property
    def total(self) -> int:
        """Of the values of a colour."""
        return sum(self.item_values)


PRIVATE = (
    "hand", "slots", "dealt", "drawn", "intrigues",
    "gifts", "pairs", "my hidden", "card out", "card in",
    "unseen", "lead", "expected lead", "prospects", "gains", "harvest",
)  # fmt: skip


def layout(sizes: Sizes) -> Layout:
    """The segments of a rule set; those of tokens that it does not have are empty."""
    return Layout(
        (
            *own_cards(sizes),
            *played_cards(sizes),
            *offer_tokens(sizes),
            *circle(sizes),
            *outlook(sizes),
        ),
        blocks=tuple(("slot", name) for name in ("slots", "prospects", "gains", "harvest")),
        private=PRIVATE,
    )


def own_cards(sizes: Sizes) -> tuple[Segment, ...]:
    """What I must do, and the cards that only I have seen."""
    return (
        Segment("to do", 6, 0, 1, "act, answer, order, collect, take a marker, name a starter"),
        Segment("hand", sizes.cards, 0, 1, "my cards"),
        Segment(
            "slots",
            sizes.slots * (sizes.colours + sizes.values),
            0,
            1,
            "colour and value of each, then of those on offer",
        ),
        Segment("dealt", sizes.cards, 0, 1, "my hand as it was dealt"),
        Segment("drawn", sizes.draws * sizes.cards, 0, 1, "the cards that I drew since, in order"),
        Segment("intrigues", 2 * sizes.cards, 0, 1, "the card that I kept, and that I discarded"),
    )


def played_cards(sizes: Sizes) -> tuple[Segment, ...]:
    """The cards that were played and offered, and what was picked."""
    return (
        Segment("tableaus", 2 * sizes.cards, 0, 1, "cards played by me, then by them"),
        Segment(
            "played", sizes.cards, 0, sizes.cards, "the number of each card among those played"
        ),
        Segment(
            "brought", sizes.guests * 2 * sizes.cards, 0, 2, "guests and tiebreakers it collected"
        ),
        Segment("used in", 32, 0, 1, "for my four actions, then theirs: in which own turn"),
        Segment("gifts", 2 * sizes.cards, 0, 1, "the cards of my Gift, then of theirs"),
        Segment("pairs", 4 * sizes.cards, 0, 1, "the two pairs of my Competition, then of theirs"),
        Segment("picked", 10, 0, 1, "the place of my Gift, pair of my Competition; theirs"),
        Segment("orders", 16, 0, 1, "of each share: lower, higher place first; by offers"),
    )


def offer_tokens(sizes: Sizes) -> tuple[Segment, ...]:
    """Hidden Offer and Counteroffer, and the cards on the table."""
    return (
        Segment("hidden", sizes.offers * 6, 0, 1, "Gift, Competition, Counteroffer; theirs"),
        Segment("my hidden", sizes.offers * sizes.cards, 0, 1, "the card that I laid face down"),
        Segment("countered", sizes.offers * 28, 0, 1, "turn, place, whose hidden card; theirs"),
        Segment(
            "card out", sizes.offers * 2 * sizes.cards, 0, 1, "the card that it removed; theirs"
        ),
        Segment("card in", sizes.offers * 2 * sizes.cards, 0, 1, "the card that it laid; theirs"),
        Segment("offer tokens", sizes.offers * 4, 0, 1, "unused: Hidden, Counteroffer; theirs"),
        Segment("face down", PLACES * 2, 0, 1, "laid there by me, by them"),
        Segment("to play", PLACES * 2, 0, 1, "first, second of the two cards to be ordered"),
        Segment(
            "landed", sizes.guests * sizes.colours, 0, 1, "the house whose tokens are being picked"
        ),
    )


def circle(sizes: Sizes) -> tuple[Segment, ...]:
    """The circle of houses, the guests and the score."""
    return (
        Segment("markers", 2 * sizes.colours, 0, 1, "held by me, then by them"),
        Segment("steps", sizes.colours**2, 0, 1, "how far each geisha is past her house"),
        Segment("returns", 2 * sizes.colours, 0, 1, "she came home once, twice"),
        Segment("rows", 2 * ROW, 0, 9, "tokens left for first, second returns, next first"),
        Segment("guests", sizes.guests * sizes.colours, 0, 3, "at each house"),
        Segment(
            "collected", sizes.guests * 2 * sizes.colours, 0, 3, "guests that I have, then they"
        ),
        Segment("began", 1, 0, 1, "I begin this round"),
        Segment("chooser", 2, 0, 1, "I named its starter, they did"),
        Segment("round", sizes.rounds, 0, 1, "the round"),
        Segment(
            "score",
            4,
            0,
            max(sizes.points, sizes.rounds),
            "rounds won, then points of earlier rounds; me, them",
        ),
    )


def outlook(sizes: Sizes) -> tuple[Segment, ...]:
    """What follows from all this: who leads, and what each card would bring."""
    n, most = sizes.colours, 2 * sizes.total + 1  # twice the influence, and a marker
    return (
        Segment("unseen", sizes.cards, 0, 1, "cards that I do not know the place of"),
        Segment("worth", n, 0, sizes.worth, "points that each geisha brings"),
        Segment("lead", n, -most, most, "twice my influence less theirs"),
        Segment("ahead", 2 * n, 0, 1, "she would be mine, theirs"),
        Segment("points", 2, 0, sizes.points, "what this round would bring now; me, them"),
        Segment("to come", 6, 0, 10, "cards still to be played, markers left, cards held"),
        Segment(
            "flow", 4, 0, 1, "shares of my cards, of unseen ones: to me, to them", fraction=True
        ),
        Segment(
            "expected lead",
            n,
            -most,
            most,
            "the lead at the end, so shared",
            fraction=True,
        ),
        Segment(
            "prospects",
            sizes.slots * FACTS,
            0,
            1,
            "home; she is mine, theirs; mine if I, they play it",
        ),
        Segment("gains", sizes.slots, 0, 9, "the prestige token that each would bring her"),
        Segment(
            "harvest", sizes.guests * 2 * sizes.slots, 0, 2, "guests, tiebreaker it could collect"
        ),
    )


@inline
def observe(rule_set: np.record, game: np.record, seat: int, out: NDArray[Any]) -> None:
    out[:] = 0
    me, foe = seat, 1 - seat
    observe_duty(rule_set, game, me, out)
    observe_round(rule_set, game, me, out)
    observe_circle(rule_set, game, me, out)
    observe_influence(rule_set, game, me, out)
    observe_played(rule_set, game, me, out)
    for side in range(2):
        owner = me if side == 0 else foe
        observe_actions(rule_set, game, owner, side, out)
        observe_offers(rule_set, game, me, owner, side, out)
        if rule_set.offer_tokens:
            observe_tokens(rule_set, game, me, owner, side, out)
    observe_own_cards(rule_set, game, me, out)
    if game.phase != ACT:
        observe_table(rule_set, game, me, out)
    observe_future(rule_set, game, me, out)


@inline
def mark(rule_set: np.record, out: NDArray[Any], segment: int, row: int, card: int) -> None:
    """A card, if there is one, in a row of a segment that has one entry a card."""
    out[rule_set.at[segment] + row * rule_set.cards + max(card, 0)] += card != NONE


@inline
def choose(rule_set: np.record, out: NDArray[Any], segment: int, row: int, choice: int) -> None:
    """What was chosen, if anything was, in the row of entries from `row` on."""
    out[rule_set.at[segment] + row + max(choice, 0)] = choice != NONE


@inline
def observe_duty(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    if game.mover == me:
        out[rule_set.at[TO_DO]] = game.phase == ACT
        out[rule_set.at[TO_DO] + 1] = game.phase == ANSWER
        out[rule_set.at[TO_DO] + 2] = game.phase == PUT_IN_ORDER
        out[rule_set.at[TO_DO] + 3] = game.phase == PICK_TOKENS
        out[rule_set.at[TO_DO] + 4] = game.phase == PICK_MARKER
        out[rule_set.at[TO_DO] + 5] = game.phase == PICK_STARTER


@inline
def observe_round(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    out[rule_set.at[BEGAN]] = game.starter == me
    named = game.starter != NONE
    out[rule_set.at[CHOOSER]] = named and game.chooser == me
    out[rule_set.at[CHOOSER] + 1] = named and game.chooser == 1 - me
    if game.round_number > 0:
        out[rule_set.at[ROUND] + game.round_number - 1] = 1
    for side in range(2):
        seat = me if side == 0 else 1 - me
        put(rule_set, out, SCORE, side, game.wins[seat])
        put(rule_set, out, SCORE, 2 + side, game.points[seat])


@inline
def observe_circle(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    n = rule_set.colours
    for c in range(n):
        out[rule_set.at[STEPS] + n * c + game.steps[c]] = 1
        out[rule_set.at[RETURNS] + c] = game.returns[c] > 0
        out[rule_set.at[RETURNS] + n + c] = game.returns[c] > 1
        out[rule_set.at[MARKERS] + c] = game.marker[c] == me
        out[rule_set.at[MARKERS] + n + c] = game.marker[c] == 1 - me
        if rule_set.guests > 0:
            out[rule_set.at[GUESTS] + c] = game.guests[c]
            out[rule_set.at[COLLECTED] + c] = game.collected[me, c]
            out[rule_set.at[COLLECTED] + n + c] = game.collected[1 - me, c]
    for row in range(2):
        for i in range(ROW):
            token = game.taken[row] + i
            left = token < rule_set.row_length[row]
            out[rule_set.at[ROWS] + ROW * row + i] = game.row[row, min(token, ROW - 1)] * left


@inline
def observe_influence(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """Who leads each geisha, and what the round would bring now."""
    n, base, foe = rule_set.colours, base_points(rule_set, game), 1 - me
    mine = guest_points(rule_set, game, me) + unused_tokens(rule_set, game, me)
    theirs = guest_points(rule_set, game, foe) + unused_tokens(rule_set, game, foe)
    kept = kept_card(game, me)
    for c in range(n):
        worth, owner = base + game.prestige[c], favoured(rule_set, game, c)
        out[rule_set.at[WORTH] + c] = worth
        out[rule_set.at[AHEAD] + c] = owner == me
        out[rule_set.at[AHEAD] + n + c] = owner == foe
        mine += worth * (owner == me)
        theirs += worth * (owner == foe)
        lead = 2 * (game.influence[me, c] - game.influence[foe, c])
        if kept != NONE and rule_set.colour[kept] == c:
            lead += 2 * rule_set.value[kept]
        lead += int(game.marker[c] == me) - int(game.marker[c] == foe)
        out[rule_set.at[LEAD] + c] = lead
    put(rule_set, out, POINTS, 0, mine)
    put(rule_set, out, POINTS, 1, theirs)


@inline
def kept_card(game: np.record, seat: int) -> Any:
    """The card that a seat kept by Intrigue and has not played yet, or NONE."""
    kept = game.laid[seat, INTRIGUE, 0]
    return NONE if kept == NONE or game.played_as[kept] > 0 else kept


@inline
def observe_played(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    left = played(game)
    while left != 0:
        card = lowest(left)
        left &= left - 1
        mark(rule_set, out, TABLEAUS, int(game.played_by[card] != me), card)
        out[rule_set.at[PLAYED] + card] = game.played_as[card]
        if rule_set.guests > 0:
            out[rule_set.at[BROUGHT] + card] = game.brought[card, 0]
            out[rule_set.at[BROUGHT] + rule_set.cards + card] = game.brought[card, 1]


@inline
def observe_actions(
    rule_set: np.record, game: np.record, seat: int, side: int, out: NDArray[Any]
) -> None:
    """What a player did with each action; `side` is 0 for mine, 1 for theirs."""
    for action in range(4):
        turn = game.used_in[seat, action] - 1
        choose(rule_set, out, USED_IN, 16 * side + 4 * action, turn)
    choose(rule_set, out, PICKED, 5 * side, game.picked[seat, GIFT])
    choose(rule_set, out, PICKED, 5 * side + 3, game.picked[seat, COMPETITION])
    for offer in range(2):
        for share in range(2):
            order = game.order[seat, GIFT + offer, share]
            choose(rule_set, out, ORDERS, 8 * side + 4 * offer + 2 * share, order)


@inline
def observe_offers(
    rule_set: np.record, game: np.record, me: int, seat: int, side: int, out: NDArray[Any]
) -> None:
    """The cards of a player's Gift and Competition as they were laid down, if face up or mine."""
    hidden = game.hidden_card[seat] if seat != me else NONE
    for place in range(PLACES):
        card = game.laid[seat, GIFT, place]
        secret = card == hidden and game.hidden_use[seat] == GIFT
        mark(rule_set, out, GIFTS, side, NONE if secret else card)
    for place in range(PLACES):
        card = game.laid[seat, COMPETITION, place]
        secret = card == hidden and game.hidden_use[seat] == COMPETITION
        mark(rule_set, out, PAIRS, 2 * side + place // 2, NONE if secret else card)


@inline
def observe_tokens(
    rule_set: np.record, game: np.record, me: int, seat: int, side: int, out: NDArray[Any]
) -> None:
    """How a player used Hidden Offer and Counteroffer, as far as I know."""
    use, turn, out_by = game.hidden_use[seat], game.counter_to[seat], game.counter_out_by[seat]
    out[rule_set.at[TOKENS_LEFT] + 2 * side] = use == NONE
    out[rule_set.at[TOKENS_LEFT] + 2 * side + 1] = turn == NONE
    out[rule_set.at[HIDDEN_USE] + 3 * side] = use == GIFT
    out[rule_set.at[HIDDEN_USE] + 3 * side + 1] = use == COMPETITION
    out[rule_set.at[HIDDEN_USE] + 3 * side + 2] = use > COMPETITION
    choose(rule_set, out, COUNTERED, 14 * side, turn)
    choose(rule_set, out, COUNTERED, 14 * side + 8, game.counter_place[seat])
    out[rule_set.at[COUNTERED] + 14 * side + 12] = out_by == me
    out[rule_set.at[COUNTERED] + 14 * side + 13] = out_by == 1 - me
    mark(rule_set, out, CARD_OUT, side, NONE if out_by == 1 - me else game.counter_out[seat])
    if seat == me:
        mark(rule_set, out, MY_HIDDEN, 0, game.hidden_card[me])
        mark(rule_set, out, CARD_IN, side, game.counter_in[me])
    else:
        mark(rule_set, out, CARD_IN, side, NONE if use > COMPETITION else game.counter_in[seat])


@inline
def observe_own_cards(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    for slot in range(game.held[me]):
        card = game.hand[me, slot]
        mark(rule_set, out, HAND, 0, card)
        observe_slot(rule_set, game, slot, card, out)
    for number in range(rule_set.hand_size):
        mark(rule_set, out, DEALT, 0, game.received[me, number])
    for number in range(rule_set.draws):
        mark(rule_set, out, DRAWN, number, game.received[me, rule_set.hand_size + number])
    mark(rule_set, out, INTRIGUES, 0, game.laid[me, INTRIGUE, 0])
    mark(rule_set, out, INTRIGUES, 1, game.laid[me, INTRIGUE, 1])


@inline
def observe_table(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """The cards that are still to be played, and what is asked about them."""
    for place in range(PLACES):
        card, owner = game.offer[place], game.face_down[place]
        if card != NONE and owner != 1 - me:
            observe_slot(rule_set, game, rule_set.hand_size + 1 + place, card, out)
        out[rule_set.at[FACE_DOWN] + 2 * place] = owner == me
        out[rule_set.at[FACE_DOWN] + 2 * place + 1] = owner == 1 - me
    if game.phase == PUT_IN_ORDER:
        share = waiting_share(game)
        for i in range(2):
            out[rule_set.at[TO_PLAY] + PLACES * i + game.share[share, i]] = 1
    if game.phase == PICK_TOKENS:
        out[rule_set.at[LANDED] + house_of(rule_set, game, game.playing)] = 1


@inline
def observe_slot(
    rule_set: np.record, game: np.record, slot: int, card: int, out: NDArray[Any]
) -> None:
    """A card in hand or on offer, and what it would do if it were played now.

    Where it leads its geisha, who leads her before and after, and what it would bring.
    """
    colour, value = rule_set.colour[card], rule_set.value[card]
    row = slot * (rule_set.colours + rule_set.values)
    out[rule_set.at[SLOTS] + row + colour] = 1
    out[rule_set.at[SLOTS] + row + rule_set.colours + rule_set.rank[card]] = 1
    house, lead = lands_at(rule_set, game, card), out[rule_set.at[LEAD] + colour]
    home = house == colour
    out[rule_set.at[PROSPECTS] + FACTS * slot] = home
    out[rule_set.at[PROSPECTS] + FACTS * slot + 1] = lead > 0
    out[rule_set.at[PROSPECTS] + FACTS * slot + 2] = lead < 0
    out[rule_set.at[PROSPECTS] + FACTS * slot + 3] = lead + 2 * value > 0
    out[rule_set.at[PROSPECTS] + FACTS * slot + 4] = lead - 2 * value > 0
    out[rule_set.at[GAINS] + slot] = next_prestige(rule_set, game, colour) * home
    if rule_set.guests > 0:
        tokens = rule_set.collects[card]
        out[rule_set.at[HARVEST] + 2 * slot] = min(tokens, game.guests[house])
        out[rule_set.at[HARVEST] + 2 * slot + 1] = tokens > 0 and game.marker[house] == NONE


@inline
def observe_future(rule_set: np.record, game: np.record, me: int, out: NDArray[Any]) -> None:
    """The cards that will still be played, and where they will end if taken at random."""
    hand, unseen = held_by(game, me), unseen_by(rule_set, game, me)
    for card in range(rule_set.cards):
        out[rule_set.at[UNSEEN] + card] = unseen >> card & 1
    foe = 1 - me
    mine, theirs = unused_actions(rule_set, game, me), unused_actions(rule_set, game, foe)
    my_kept, foe_kept = kept_card(game, me) != NONE, kept_card(game, foe) != NONE
    out[rule_set.at[TO_COME]] = KEEPS[mine] + GIVES[theirs] + my_kept
    out[rule_set.at[TO_COME] + 1] = KEEPS[theirs] + GIVES[mine] + foe_kept
    out[rule_set.at[TO_COME] + 2] = count(mine)
    out[rule_set.at[TO_COME] + 3] = count(theirs)
    out[rule_set.at[TO_COME] + 4] = game.held[me]
    out[rule_set.at[TO_COME] + 5] = game.held[foe]
    keep, give = KEEPS_OF_EACH[mine], GIVES_OF_EACH[mine]
    foe_keeps, foe_gives = KEEPS_OF_EACH[theirs], GIVES_OF_EACH[theirs]
    my_draws = max(count(mine) - int(has_drawn(game, me)), 0)
    foes = game.held[foe] + max(count(theirs) - int(has_drawn(game, foe)), 0)
    to_me = (my_draws * keep + foes * foe_gives) / max(count(unseen), 1)
    to_foe = (my_draws * give + foes * foe_keeps + foe_kept) / max(count(unseen), 1)
    put(rule_set, out, FLOW, 0, keep)
    put(rule_set, out, FLOW, 1, give)
    put(rule_set, out, FLOW, 2, to_me)
    put(rule_set, out, FLOW, 3, to_foe)
    for c in range(rule_set.colours):
        held, unknown = influence_of(rule_set, hand, c), influence_of(rule_set, unseen, c)
        expected = 2 * (held * (keep - give) + unknown * (to_me - to_foe))
        put(rule_set, out, EXPECTED_LEAD, c, out[rule_set.at[LEAD] + c] + expected)


@inline
def unseen_by(rule_set: np.record, game: np.record, me: int) -> Any:
    """All cards but what was played, lies face up or is mine, a bit each."""
    seen = played(game) | held_by(game, me)
    for place in range(2):
        seen |= bit_of(game.laid[me, INTRIGUE, place])
    for place in range(PLACES):
        if game.face_down[place] != 1 - me:
            seen |= bit_of(game.offer[place])
    return all_cards(rule_set) & ~seen


@inline
def has_drawn(game: np.record, seat: int) -> Any:
    """Whether the seat holds the card of its turn and has yet to act."""
    return game.phase == ACT and game.mover == seat
