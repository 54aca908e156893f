"""The rules of Geisha's Road, in the order of the rulebooks; RULES.md tells them in prose.

`game` is a RECORD, `rule_set` a RULE_SET; `me` is the seat that acts and `foe` the other. Colours
are numbered by the place of their own teahouse in the circle, clockwise, N of them, V cards of
each; a card is known by colour * V + its rank among the values of a colour.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import lowest
from hanamachi.engine.compiled import inline
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.records import record, rule_set_dtype
from hanamachi.engine.words import places_of, word_at
from hanamachi.games.four_actions import SIZES

SEATS = 2
COLOURS, RANKS, CARDS, ROW = 5, 9, 30, 5  # at most: geisha, values, item cards, tokens in a row
NUMBERS = 32  # of cards, and what the last five bits of NONE make of it: a card of no worth
HAND, RECEIVED = 7, 11  # at most: cards in a hand, cards that a player gets in a round
WORTHS = 10  # of prestige tokens, from 0
PLACES, TWO_PLACES = 4, 2  # at most in an offer; of a share and of a pair
MOVES, ROUNDS = 800, 100  # at most
NONE = -1

REVEAL, INTRIGUE, GIFT, COMPETITION, HIDDEN_GIFT, HIDDEN_COMPETITION = range(6)
COUNTEROFFER, HIDDEN_COUNTEROFFER = 6, 7
TAKE_CARD, TAKE_PAIR, ORDER, COLLECT, TAKE_MARKER, STARTER = range(8, 14)
KINDS, PHASES = 14, 13
ACTIONS = ("reveal", "intrigue", "gift", "competition")
INSERTED = 4  # after the four actions: the card of a Counteroffer

GUESTS_ONLY, TIEBREAKER, NOTHING = range(3)  # what to COLLECT

DRAW_STARTER, LAY_TOKENS, DRAW_MARKERS, DEAL, PICK_STARTER, PICK_MARKER = range(6)
DRAW, ACT, ANSWER, REDRAW, PUT_IN_ORDER, PICK_TOKENS, ENDED = range(6, 13)

MIDDLE, CHOSEN, DRAWN = range(3)  # markers at the start: left alone, two chosen, two drawn

RECORD = record(
    SEATS,
    # public
    ("phase", np.int8),  # what happens next: DRAW_STARTER .. ENDED
    ("round_number", np.int32),  # 1 for the first
    ("starter", np.int8),  # seat that begins this round; NONE until it is known
    ("chooser", np.int8),  # seat that chose this round's starter, or is to; NONE in round 1
    ("turn", np.int8),  # turns completed in this round
    ("winner", np.int8),  # seat; NONE while nobody has won
    ("wins", np.int8, (2,)),  # rounds won
    ("points", np.int32, (2,)),  # prestige points of the earlier rounds
    ("marker", np.int8, (COLOURS,)),  # seat that holds a marker or tiebreaker; NONE elsewhere
    ("steps", np.int8, (COLOURS,)),  # how far a geisha stands past her own house
    ("returns", np.int8, (COLOURS,)),  # her landings at home in this round
    ("prestige", np.int8, (COLOURS,)),  # value of the tokens that she has won so
    ("row", np.int8, (2, ROW)),  # tokens of first and of second returns, the next one first
    ("laid_out", np.int8),  # tokens turned up in this round
    ("taken", np.int8, (2,)),  # tokens taken from each row
    ("guests", np.int8, (COLOURS,)),  # at each house
    ("collected", np.int8, (2, COLOURS)),  # guests that each player has
    ("influence", np.int8, (2, COLOURS)),  # sum of the cards in each tableau
    ("plays", np.int8),  # cards played in this round
    ("played_by", np.int8, (CARDS,)),  # seat whose tableau a card is in; NONE
    ("played_as", np.int8, (CARDS,)),  # its number among the cards played, from 1; 0 not yet
    ("brought", np.int8, (CARDS, 2)),  # guests, tiebreakers that it collected
    ("used_in", np.int8, (2, 4)),  # own turn, from 1, in which an action was used; 0 not yet
    ("picked", np.int8, (2, 4)),  # place or pair picked from a seat's offer; NONE
    ("order", np.int8, (2, 4, 2)),  # of each share of it: 1 the higher place first; NONE not asked
    ("offer", np.int8, (PLACES,)),  # cards on the table still to be played; NONE
    ("face_down", np.int8, (PLACES,)),  # seat that laid it face down; NONE for a card face up
    ("share", np.int8, (2, TWO_PLACES)),  # places to be played first, and then; NONE
    ("share_of", np.int8, (2,)),  # seat that plays each share
    ("playing", np.int8),  # card that waits for the choice of tokens; NONE
    ("hidden_use", np.int8, (2,)),  # GIFT, COMPETITION, COUNTEROFFER: where a seat hid a card; NONE
    ("counter_to", np.int8, (2,)),  # turn of the offer that a seat countered; NONE
    ("counter_place", np.int8, (2,)),  # the place that it changed
    ("counter_out_by", np.int8, (2,)),  # seat that had laid the removed card face down; NONE
    # private
    ("held", np.int8, (2,)),  # size of each hand, which is public
    ("hand", np.int8, (2, HAND)),  # ascending, NONE behind
    ("received", np.int8, (2, RECEIVED)),  # cards dealt, then drawn, in order; NONE behind
    ("laid", np.int8, (2, 4, PLACES)),  # cards of each action as they were laid down; NONE
    ("hidden_card", np.int8, (2,)),  # the card that a seat laid face down in an offer; NONE
    ("counter_in", np.int8, (2,)),  # the card that its Counteroffer laid down; NONE
    ("counter_out", np.int8, (2,)),  # the card that it removed; NONE
    # hidden from both
    ("dealt_cards", np.int8),  # cards dealt so far in this round
    ("tokens", np.int8, (WORTHS,)),  # prestige tokens still face down, by value
    ("unseen", np.int32),  # cards in the deck: a bit each, never an order
)


RULE_SET = rule_set_dtype(
    ("colours", np.int64),  # N
    ("values", np.int64),  # V
    ("cards", np.int64),  # N * V
    ("colour", np.int8, (CARDS,)),  # of each card
    ("rank", np.int8, (CARDS,)),  # among the values of its colour
    ("value", np.int8, (CARDS,)),
    ("pull", np.uint64, (NUMBERS,)),  # its value, in the byte of its colour
    ("traits", np.uint64, (NUMBERS, 2)),  # 1 in the bytes of its colour and of its rank behind them
    ("walk", np.int8, (CARDS,)),  # houses that it leads its geisha on, whole rounds left out
    ("around", np.int8, (3 * COLOURS,)),  # the house that so many steps from the first lead to
    ("influence", np.int8, (2**RANKS,)),  # of cards of one colour, a bit for each rank
    ("in_use", np.int8, (4,)),  # 1 where the action is part of the game
    ("markers", np.int64),  # K action markers a player
    ("hand_size", np.int64),  # cards dealt to each
    ("draws", np.int64),  # cards that a player draws in a round, at most
    ("starter", np.int64),  # seat, or NONE for a random one
    ("after_deal", np.bool_),  # the loser sees the new hand before naming the starter
    ("start_markers", np.int64),  # MIDDLE, CHOSEN, DRAWN
    ("shuffled", np.bool_),  # prestige tokens are shuffled, not stacked
    ("tokens", np.int8, (WORTHS,)),  # how many of each value are shuffled
    ("rows", np.int8, (2, ROW)),  # the stacks, if they are not shuffled
    ("row_length", np.int8, (2,)),
    ("guests", np.int64),  # at each house; 0 in games without
    ("collects", np.int8, (CARDS,)),  # tokens that a card collects
    ("decline", np.bool_),  # collecting may be declined
    ("guest_points", np.int8, (4**COLOURS,)),  # best sets, by guests of each colour in base 4
    ("offer_tokens", np.bool_),  # Hidden Offer and Counteroffer are part of the game
    ("keep_shares", np.bool_),  # the offerer of a Gift always plays two cards
    ("can_counter_hidden", np.bool_),
    ("counter_own", np.bool_),  # a Counteroffer may remove a card that its player has laid
    ("going_home", np.bool_),  # geisha stand at home when a round begins
    ("alone_wins", np.bool_),  # a marker without any card wins its geisha
    ("base_points", np.int8, (ROUNDS,)),  # of each geisha in each round
    ("rounds", np.int64),  # that are played; 0 where rounds are won
    ("rounds_to_win", np.int64),
    ("instant_win", np.int64),  # geisha won in one round; 0 for never
    ("kind", np.int8, (MOVES,)),  # of each action: REVEAL .. STARTER
    ("first", np.int64, (KINDS + 1,)),  # first action of each kind, and A
    ("slots", np.int8, (MOVES, PLACES)),  # slot of the hand for each place; NONE
    ("fitting", np.int16, (HIDDEN_COMPETITION + 1, HAND + 1)),  # actions of a kind, by the hand
    ("places", np.int64),  # that an offer of this rule set can have
)


# --- Sets of cards, a bit each


@inline
def all_cards(rule_set: np.record) -> Any:
    return (1 << rule_set.cards) - 1


@inline
def bit_of(card: int) -> Any:
    """The set of one card; NONE becomes a bit that is no card's."""
    return np.int64(1) << (card & 31)


@inline
def played(game: np.record) -> int:
    cards = 0
    for card in range(CARDS):
        cards |= int(game.played_as[card] > 0) << card
    return cards


@inline
def influence_of(rule_set: np.record, cards: int, c: int) -> Any:
    """The influence that a set of cards has over one geisha."""
    return rule_set.influence[cards >> c * rule_set.values & (1 << rule_set.values) - 1]


# --- Setup


@inline
def start(rule_set: np.record, game: np.record) -> None:
    """Geisha stand at their own teahouses; the first starter is given or drawn."""
    game.rewards[:] = 0
    game.winner = NONE
    game.wins[:] = 0
    game.points[:] = 0
    game.marker[:] = NONE
    game.steps[:] = 0
    game.round_number = 0
    game.starter = rule_set.starter
    game.chooser = NONE
    clear_table(rule_set, game)
    if rule_set.starter == NONE:
        game.phase = DRAW_STARTER
        game.mover = CHANCE
    else:
        begin_round(rule_set, game)


@inline
def begin_round(rule_set: np.record, game: np.record) -> None:
    """Cards and tokens go back, geisha perhaps, action markers are face up; markers stay."""
    clear_table(rule_set, game)
    game.round_number += 1
    game.unseen = all_cards(rule_set)
    if rule_set.going_home:
        game.steps[:] = 0
    for value in range(WORTHS):
        game.tokens[value] = rule_set.tokens[value]
    for i in range(ROW):
        game.row[0, i], game.row[1, i] = rule_set.rows[0, i], rule_set.rows[1, i]
    for c in range(rule_set.colours):
        game.guests[c] = rule_set.guests
    set_up(rule_set, game)


@inline
def clear_table(rule_set: np.record, game: np.record) -> None:
    """Nothing lies on the table and nothing is in the hands."""
    game.turn = 0
    game.returns[:] = 0
    game.prestige[:] = 0
    game.row[:] = 0
    game.laid_out = 0
    game.taken[:] = 0
    game.guests[:] = 0
    game.collected[:] = 0
    game.influence[:] = 0
    game.plays = 0
    game.played_by[:] = NONE
    game.played_as[:] = 0
    game.brought[:] = 0
    game.used_in[:] = 0
    game.picked[:] = NONE
    game.order[:] = NONE
    game.offer[:] = NONE
    game.face_down[:] = NONE
    game.share[:] = NONE
    game.share_of[:] = NONE
    game.playing = NONE
    game.hidden_use[:] = NONE
    game.counter_to[:] = NONE
    game.counter_place[:] = NONE
    game.counter_out_by[:] = NONE
    game.held[:] = 0
    game.hand[:] = NONE
    game.received[:] = NONE
    game.laid[:] = NONE
    game.hidden_card[:] = NONE
    game.counter_in[:] = NONE
    game.counter_out[:] = NONE
    game.dealt_cards = 0
    game.tokens[:] = 0
    game.unseen = 0


@inline
def set_up(rule_set: np.record, game: np.record) -> None:
    """What is next: tokens are laid out, cards dealt, the starter named, markers picked."""
    if rule_set.shuffled and game.laid_out < rule_set.row_length[0] + rule_set.row_length[1]:
        await_chance(game, LAY_TOKENS)
    elif to_give(rule_set, game, DRAWN):
        await_chance(game, DRAW_MARKERS)
    elif game.starter == NONE and not rule_set.after_deal:
        await_player(game, PICK_STARTER, game.chooser)
    elif game.dealt_cards < 2 * rule_set.hand_size:
        await_chance(game, DEAL)
    elif game.starter == NONE:
        await_player(game, PICK_STARTER, game.chooser)
    elif to_give(rule_set, game, CHOSEN):
        second = markers_held(rule_set, game, game.starter)
        await_player(game, PICK_MARKER, 1 - game.starter if second else game.starter)
    else:
        await_chance(game, DRAW)


@inline
def await_chance(game: np.record, phase: int) -> None:
    game.phase = phase
    game.mover = CHANCE


@inline
def await_player(game: np.record, phase: int, seat: int) -> None:
    game.phase = phase
    game.mover = seat


@inline
def to_give(rule_set: np.record, game: np.record, way: int) -> Any:
    """Whether a player has yet to get a first marker, in this way."""
    held = markers_held(rule_set, game, 0) + markers_held(rule_set, game, 1)
    return rule_set.start_markers == way and game.round_number == 1 and held < 2


@inline
def markers_held(rule_set: np.record, game: np.record, seat: int) -> int:
    held = 0
    for c in range(rule_set.colours):
        held += game.marker[c] == seat
    return held


@inline
def chance(rule_set: np.record, game: np.record, weights: NDArray[np.int64]) -> int:
    """A starter, the value of the next token, the colour of a marker, or a card of the deck."""
    if game.phase == DRAW_STARTER:
        weights[0] = weights[1] = 1
        return SEATS
    if game.phase == LAY_TOKENS:
        for value in range(WORTHS):
            weights[value] = game.tokens[value]
        return WORTHS
    if game.phase == DRAW_MARKERS:
        for c in range(rule_set.colours):
            weights[c] = game.marker[c] == NONE
        return int(rule_set.colours)
    for card in range(CARDS):
        weights[card] = game.unseen >> card & 1
    return CARDS


@inline
def resolve(rule_set: np.record, game: np.record, outcome: int) -> None:
    """Rows are laid out from the far end; player 0 gets marker and hand before player 1."""
    if game.phase == DRAW_STARTER:
        game.starter = outcome
        begin_round(rule_set, game)
    elif game.phase == LAY_TOKENS:
        lay_token(rule_set, game, outcome)
    elif game.phase == DRAW_MARKERS:
        game.marker[outcome] = markers_held(rule_set, game, 0)
        set_up(rule_set, game)
    elif game.phase == DEAL:
        receive(game, dealt_to(rule_set, game), outcome)
        game.dealt_cards += 1
        if game.dealt_cards == 2 * rule_set.hand_size:
            set_up(rule_set, game)
    elif game.phase == DRAW:
        receive(game, player_of(game), outcome)
        await_player(game, ACT, player_of(game))
    else:
        replenish(game, outcome)


@inline
def dealt_to(rule_set: np.record, game: np.record) -> int:
    return 0 if game.dealt_cards < rule_set.hand_size else 1


@inline
def lay_token(rule_set: np.record, game: np.record, worth: int) -> None:
    full = rule_set.row_length[0]
    game.row[next_space(rule_set, game)] = worth
    game.laid_out += 1
    game.tokens[worth] -= 1
    if game.laid_out == full + rule_set.row_length[1]:
        set_up(rule_set, game)


@inline
def next_space(rule_set: np.record, game: np.record) -> tuple[int, Any]:
    """The row, and the place in it, where the next token is laid."""
    full = rule_set.row_length[0]
    return (1, game.laid_out - full) if game.laid_out >= full else (0, game.laid_out)


@inline
def receive(game: np.record, seat: int, card: int) -> None:
    """A card from the deck is sorted into the hand."""
    game.unseen ^= 1 << card
    game.received[seat, number_received(game, seat)] = card
    sort_in(game, seat, card)


@inline
def number_received(game: np.record, seat: int) -> int:
    return lowest(places_of(NONE, game.received[seat], 0) | 1 << RECEIVED)


@inline
def sort_in(game: np.record, seat: int, card: int) -> None:
    for slot in range(game.held[seat]):
        other = game.hand[seat, slot]
        game.hand[seat, slot] = min(card, other)
        card = max(card, other)
    game.hand[seat, game.held[seat]] = card
    game.held[seat] += 1


@inline
def pick_starter(rule_set: np.record, game: np.record, other: int) -> None:
    """The loser of the last round names the starter: oneself, or the other."""
    game.starter = 1 - game.mover if other else game.mover
    set_up(rule_set, game)


@inline
def pick_marker(rule_set: np.record, game: np.record, colour: int) -> None:
    game.marker[colour] = game.mover
    set_up(rule_set, game)


# --- A turn


@inline
def player_of(game: np.record) -> Any:
    """The players take turns, the starter first."""
    return (game.starter + game.turn) % 2


@inline
def apply(rule_set: np.record, game: np.record, action: int) -> None:
    """Every choice of a player; then the cards that lie ready are played."""
    game.rewards[:] = 0
    kind = rule_set.kind[action]
    number = action - rule_set.first[kind]
    if kind <= HIDDEN_COMPETITION:
        use_action(rule_set, game, kind, rule_set.slots[action])
    elif kind <= HIDDEN_COUNTEROFFER:
        counter(rule_set, game, number, kind == HIDDEN_COUNTEROFFER)
    elif kind <= TAKE_PAIR:
        take(rule_set, game, number, kind == TAKE_PAIR)
    elif kind == ORDER:
        put_in_order(rule_set, game, number)
    elif kind == COLLECT:
        collect(rule_set, game, game.playing, number)
        play_on(rule_set, game)
    elif kind == TAKE_MARKER:
        pick_marker(rule_set, game, number)
    else:
        pick_starter(rule_set, game, number)


@inline
def use_action(rule_set: np.record, game: np.record, kind: int, slots: NDArray[np.int8]) -> None:
    """The player turns over one action marker and lays down its cards."""
    me = game.mover
    hides = kind >= HIDDEN_GIFT
    action = kind - 2 if hides else kind
    game.used_in[me, action] = game.turn // 2 + 1
    lay_down(game, me, slots, game.laid[me, action])
    if hides:
        hide(game, me, action, game.laid[me, action, SIZES[action] - 1])
        game.face_down[SIZES[action] - 1] = me
    if action == INTRIGUE:  # one card is kept for the end of the round, the other is out
        play_on(rule_set, game)
        return
    for place in range(PLACES):
        game.offer[place] = game.laid[me, action, place]
    if action == REVEAL:
        game.share[0, 0], game.share_of[0] = 0, me
        play_on(rule_set, game)
    else:
        await_player(game, ANSWER, 1 - me)


@inline
def lay_down(game: np.record, me: int, slots: NDArray[np.int8], places: NDArray[np.int8]) -> None:
    """Move the cards in these slots of the hand to their places."""
    for place in range(PLACES):
        if slots[place] != NONE:
            places[place] = game.hand[me, slots[place]]
            game.hand[me, slots[place]] = NONE
    close_ranks(game, me)


@inline
def close_ranks(game: np.record, me: int) -> None:
    held = 0
    for slot in range(HAND):
        card = game.hand[me, slot]
        game.hand[me, slot] = NONE
        game.hand[me, held] = card
        held += card != NONE
    game.held[me] = held


# --- Gift and Competition are answered


@inline
def take(rule_set: np.record, game: np.record, number: int, pair: bool) -> None:
    """What was picked will be played first, then the rest by the other player."""
    me, offerer = game.mover, player_of(game)
    action = COMPETITION if pair else GIFT
    game.picked[offerer, action] = number
    leaves = rule_set.keep_shares and not pair and me == offerer  # then he plays the other two
    for place in range(SIZES[action]):
        mine = (place // TWO_PLACES if pair else place) == number
        put_in_share(game, 0 if mine != leaves else 1, place)
    game.share_of[0], game.share_of[1] = me, 1 - me
    play_on(rule_set, game)


@inline
def put_in_share(game: np.record, share: int, place: int) -> None:
    later = game.share[share, 0] != NONE
    game.share[share, int(later)] = place


@inline
def put_in_order(rule_set: np.record, game: np.record, higher_first: int) -> None:
    """The player of a share says which of its two cards is played first."""
    share = waiting_share(game)
    offerer = player_of(game)
    game.order[offerer, offered_by(game, offerer), share] = higher_first
    if higher_first:
        low, high = game.share[share, 0], game.share[share, 1]
        game.share[share, 0], game.share[share, 1] = high, low
    play_on(rule_set, game)


@inline
def waiting_share(game: np.record) -> int:
    return 0 if game.share[0, 1] != NONE else 1


@inline
def offered_by(game: np.record, offerer: int) -> int:
    """The offer of this turn: GIFT or COMPETITION."""
    return GIFT if game.used_in[offerer, GIFT] == game.turn // 2 + 1 else COMPETITION


# --- Cards are played


@inline
def play_on(rule_set: np.record, game: np.record) -> None:
    """Play all that lies ready; then the turn is over, or the round."""
    while play_shares(rule_set, game):
        turns = int(game.turn) + 1
        game.turn = turns
        if turns < 2 * rule_set.markers:
            await_chance(game, DRAW)
            return
        if turns > 2 * rule_set.markers:
            score(rule_set, game)
            return
        turn_up_intrigues(game)


@inline
def play_shares(rule_set: np.record, game: np.record) -> bool:
    """Play the first share, then the second; False where a player has to choose."""
    for share in range(2):
        if order_is_open(rule_set, game, share):
            await_player(game, PUT_IN_ORDER, game.share_of[share])
            return False
        for i in range(TWO_PLACES):
            place = game.share[share, i]
            if place != NONE:
                game.share[share, i] = NONE
                if not play(rule_set, game, game.share_of[share], place):
                    return False
    return True


@inline
def order_is_open(rule_set: np.record, game: np.record, share: int) -> Any:
    """Whether the order of two cards is to be chosen, by what is public alone."""
    first, second = game.share[share, 0], game.share[share, 1]
    offerer = player_of(game)
    if first == NONE or second == NONE or game.turn == 2 * rule_set.markers:
        return False
    if game.order[offerer, offered_by(game, offerer), share] != NONE:
        return False
    if game.face_down[first] != NONE or game.face_down[second] != NONE:
        return True
    one, other = game.offer[first], game.offer[second]
    if rule_set.colour[one] == rule_set.colour[other]:
        return True
    house, other_house = lands_at(rule_set, game, one), lands_at(rule_set, game, other)
    if house == rule_set.colour[one] and other_house == rule_set.colour[other]:
        return True
    return house == other_house and rule_set.collects[one] > 0 and rule_set.collects[other] > 0


@inline
def past(rule_set: np.record, house: int, steps: int) -> Any:
    """The house that lies this many steps clockwise, up to two whole circles."""
    return rule_set.around[np.uint64(house + steps)]


@inline
def lands_at(rule_set: np.record, game: np.record, card: int) -> Any:
    """The house at which the card would bring its geisha."""
    colour = rule_set.colour[card]
    return past(rule_set, colour, game.steps[colour] + rule_set.walk[card])


@inline
def play(rule_set: np.record, game: np.record, me: int, place: int) -> bool:
    """A card goes into the tableau, moves its geisha and collects; False if tokens are chosen."""
    card = game.offer[place]
    game.offer[place] = NONE
    game.face_down[place] = NONE
    game.plays += 1
    game.played_by[card] = me
    game.played_as[card] = game.plays
    walk(rule_set, game, me, card)
    return collect_from(rule_set, game, me, card)


@inline
def walk(rule_set: np.record, game: np.record, me: int, card: int) -> None:
    """A card adds to the influence over its geisha and leads her on, perhaps home."""
    colour = rule_set.colour[card]
    game.influence[me, colour] += rule_set.value[card]
    game.steps[colour] = past(rule_set, game.steps[colour], rule_set.walk[card])
    if game.steps[colour] == 0:
        return_home(rule_set, game, colour)


@inline
def return_home(rule_set: np.record, game: np.record, colour: int) -> None:
    """The first landing brings the next token of one row, the second of the other."""
    row = game.returns[colour]
    game.prestige[colour] += next_prestige(rule_set, game, colour)
    game.returns[colour] += 1
    if row < 2 and game.taken[row] < rule_set.row_length[row]:
        game.taken[row] += 1


@inline
def next_prestige(rule_set: np.record, game: np.record, colour: int) -> Any:
    """The value of the token that her next return brings; 0 where none is left."""
    row = game.returns[colour]
    if row < 2 and game.taken[row] < rule_set.row_length[row]:
        return game.row[row, game.taken[row]]
    return 0


@inline
def turn_up_intrigues(game: np.record) -> None:
    """After the last turn the starter plays the card kept by Intrigue, then the other."""
    for share in range(2):
        seat = player_of(game) if share == 0 else 1 - player_of(game)
        if game.laid[seat, INTRIGUE, 0] != NONE:
            game.offer[share] = game.laid[seat, INTRIGUE, 0]
            game.face_down[share] = seat
            game.share[share, 0], game.share_of[share] = share, seat


# --- Guests and tiebreakers


@inline
def house_of(rule_set: np.record, game: np.record, card: int) -> Any:
    """The house at which a card that was just played has brought its geisha."""
    colour = rule_set.colour[card]
    return past(rule_set, colour, game.steps[colour])


@inline
def collect_from(rule_set: np.record, game: np.record, me: int, card: int) -> bool:
    """A 1 collects two tokens of the house, a 2 one; False if there is a choice."""
    choices = last = 0
    for choice in range(3):
        if may_collect(rule_set, game, card, choice):
            choices += 1
            last = choice
    if choices > 1:
        game.playing = card
        await_player(game, PICK_TOKENS, me)
        return False
    if choices == 1:
        collect(rule_set, game, card, last)
    return True


@inline
def may_collect(rule_set: np.record, game: np.record, card: int, choice: int) -> Any:
    """Guests alone where they suffice or there is no tiebreaker; what remains if it is less."""
    tokens = rule_set.collects[card]
    if tokens == 0:
        return False
    house = house_of(rule_set, game, card)
    guests, tiebreaker = game.guests[house], game.marker[house] == NONE
    if choice == GUESTS_ONLY:
        return guests > 0 and (guests >= tokens or not tiebreaker)
    if choice == TIEBREAKER:
        return tiebreaker
    return rule_set.decline and (guests > 0 or tiebreaker)


@inline
def collect(rule_set: np.record, game: np.record, card: int, choice: int) -> None:
    me, house = game.played_by[card], house_of(rule_set, game, card)
    game.playing = NONE
    if choice == NOTHING:
        return
    tiebreakers = 1 if choice == TIEBREAKER else 0
    guests = min(rule_set.collects[card] - tiebreakers, game.guests[house])
    game.guests[house] -= guests
    game.collected[me, house] += guests
    game.brought[card, 0], game.brought[card, 1] = guests, tiebreakers
    if tiebreakers:
        game.marker[house] = me


# --- Hidden Offer and Counteroffer


@inline
def hide(game: np.record, me: int, use: int, card: int) -> None:
    """Hidden Offer: one card lies face down until just before it is played."""
    game.hidden_use[me] = use
    game.hidden_card[me] = card


@inline
def counter(rule_set: np.record, game: np.record, number: int, hides: bool) -> None:
    """Counteroffer: a card of the hand takes the place of one on offer, which is shuffled in."""
    me = game.mover
    slot, place = number // rule_set.places, number % rule_set.places
    removed, card = game.offer[place], game.hand[me, slot]
    game.counter_to[me] = game.turn
    game.counter_place[me] = place
    game.counter_out[me] = removed
    game.counter_out_by[me] = game.face_down[place]
    game.counter_in[me] = card
    game.hand[me, slot] = NONE
    close_ranks(game, me)
    game.offer[place] = card
    game.face_down[place] = me if hides else NONE
    if hides:
        hide(game, me, COUNTEROFFER, card)
    game.unseen |= 1 << int(removed)
    game.playing = me  # whose hand is replenished
    await_chance(game, REDRAW)


@inline
def replenish(game: np.record, card: int) -> None:
    """The hand gets a card of the new deck, and the other player now picks first."""
    me = game.playing
    game.playing = NONE
    receive(game, me, card)
    await_player(game, ANSWER, 1 - me)


@inline
def use_of(action: int) -> int:
    """How `hidden_use` calls an action whose card may be hidden."""
    return COUNTEROFFER if action == INSERTED else action


# --- Scoring


@inline
def score(rule_set: np.record, game: np.record) -> None:
    """Geisha are won with their prestige and markers; then the round is, and perhaps the game."""
    won = np.zeros(2, np.int64)
    points = np.zeros(2, np.int64)
    count_points(rule_set, game, won, points)
    for c in range(rule_set.colours):
        seat = favoured(rule_set, game, c)
        if seat != NONE:
            game.marker[c] = seat
    for seat in range(2):
        if rule_set.instant_win > 0 and won[seat] >= rule_set.instant_win:
            end_game(game, seat)
    if game.phase != ENDED:
        end_round(rule_set, game, points)


@inline
def count_points(
    rule_set: np.record, game: np.record, won: NDArray[np.int64], points: NDArray[np.int64]
) -> None:
    """Add up the geisha that each seat wins, (2,), and its points of this round, (2,)."""
    base = base_points(rule_set, game)
    for c in range(rule_set.colours):
        seat = favoured(rule_set, game, c)
        if seat != NONE:
            won[seat] += 1
            points[seat] += base + game.prestige[c]
    for seat in range(2):
        points[seat] += guest_points(rule_set, game, seat) + unused_tokens(rule_set, game, seat)


@inline
def base_points(rule_set: np.record, game: np.record) -> Any:
    """What each geisha brings in this round, without her prestige tokens."""
    return rule_set.base_points[min(max(game.round_number, 1), ROUNDS) - 1]


@inline
def favoured(rule_set: np.record, game: np.record, c: int) -> int:
    """The seat with more influence over a geisha, a marker counting one half; NONE if equal."""
    twice = 2 * (game.influence[0, c] - game.influence[1, c])
    if rule_set.alone_wins or game.influence[0, c] + game.influence[1, c] > 0:
        twice += int(game.marker[c] == 0) - int(game.marker[c] == 1)
    return 0 if twice > 0 else 1 if twice < 0 else NONE


SIX, TWELVE = np.uint64(6), np.uint64(12)
PAIRS, FIVE_DIGITS = np.uint64(0x3000F000F), np.uint64(4**COLOURS - 1)


@inline
def guest_points(rule_set: np.record, game: np.record, seat: int) -> Any:
    """Guests in sets of one colour or of different colours, at their best."""
    guests = word_at(game.collected[seat], 0)
    pairs = (guests | guests >> SIX) & PAIRS  # the bytes as digits in base 4, pushed together
    return rule_set.guest_points[(pairs | (pairs | pairs >> TWELVE) >> TWELVE) & FIVE_DIGITS]


@inline
def unused_tokens(rule_set: np.record, game: np.record, seat: int) -> Any:
    """A point for each offer token that was not used."""
    if not rule_set.offer_tokens:
        return 0
    return int(game.hidden_use[seat] == NONE) + int(game.counter_to[seat] == NONE)


@inline
def end_round(rule_set: np.record, game: np.record, points: NDArray[np.int64]) -> None:
    """The round has a winner; the other names the starter of the next, if there is one."""
    winner = ahead(rule_set, game, points[0] - points[1])
    game.wins[winner] += 1
    game.points[0] += points[0]
    game.points[1] += points[1]
    if rule_set.rounds == 0 and game.wins[winner] == rule_set.rounds_to_win:
        end_game(game, winner)
    elif rule_set.rounds > 0 and game.round_number == rule_set.rounds:
        end_game(game, ahead(rule_set, game, game.points[0] - game.points[1]))
    else:
        game.chooser = 1 - winner
        game.starter = NONE
        begin_round(rule_set, game)


@inline
def ahead(rule_set: np.record, game: np.record, lead: int) -> Any:
    """The seat that wins with this lead of player 0: points, then markers, then the starter."""
    if lead == 0:
        lead = markers_held(rule_set, game, 0) - markers_held(rule_set, game, 1)
    if lead == 0:
        return game.starter
    return 0 if lead > 0 else 1


@inline
def end_game(game: np.record, winner: int) -> None:
    game.phase = ENDED
    game.mover = OVER
    game.winner = winner
    game.rewards[winner] = 1
    game.rewards[1 - winner] = -1


# --- What a player may do


@inline
def legal(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    """The choices of the seat to move, by phase."""
    mask[:] = 0
    if game.phase == ACT:
        return legal_actions(rule_set, game, mask)
    if game.phase == ANSWER:
        return legal_answers(rule_set, game, mask)
    if game.phase == PUT_IN_ORDER:
        return legal_numbers(rule_set, ORDER, 2, mask)
    if game.phase == PICK_TOKENS:
        return legal_collections(rule_set, game, mask)
    if game.phase == PICK_MARKER:
        return legal_markers(rule_set, game, mask)
    if game.phase == PICK_STARTER:
        return legal_numbers(rule_set, STARTER, 2, mask)
    return 0


@inline
def legal_numbers(rule_set: np.record, kind: int, count: int, mask: NDArray[np.int8]) -> int:
    """The first `count` actions of a kind."""
    mask[rule_set.first[kind] : rule_set.first[kind] + count] = 1
    return count


@inline
def legal_actions(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    """Any cards of the hand for a marker not yet used; what needs more cards is numbered last."""
    me, count = game.mover, 0
    may_hide = rule_set.offer_tokens and game.hidden_use[me] == NONE
    for kind in range(HIDDEN_COMPETITION + 1 if may_hide else COMPETITION + 1):
        action = kind - 2 if kind >= HIDDEN_GIFT else kind
        if rule_set.in_use[action] and game.used_in[me, action] == 0:
            count += legal_numbers(rule_set, kind, rule_set.fitting[kind, game.held[me]], mask)
    return count


@inline
def legal_answers(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    """Pick, or counter while the token and a card are at hand."""
    me = game.mover
    if game.offer[PLACES - 1] != NONE:
        count = legal_numbers(rule_set, TAKE_PAIR, 2, mask)
    else:
        count = legal_numbers(rule_set, TAKE_CARD, 3, mask)
    if rule_set.offer_tokens and game.counter_to[me] == NONE:
        for place in range(PLACES):
            if game.offer[place] != NONE and may_remove(rule_set, game, place):
                count += legal_counters(rule_set, game, place, mask)
    return count


@inline
def may_remove(rule_set: np.record, game: np.record, place: int) -> Any:
    """Any card on offer; by option none that is face down, and none that the player has laid."""
    foe = 1 - game.mover
    hidden = game.face_down[place] != NONE
    laid_by_foe = game.counter_to[foe] != game.turn or game.counter_place[foe] == place
    return (rule_set.can_counter_hidden or not hidden) and (rule_set.counter_own or laid_by_foe)


@inline
def legal_counters(rule_set: np.record, game: np.record, place: int, mask: NDArray[np.int8]) -> int:
    """Any card of the hand may take this place, also face down with the other token."""
    me, count = game.mover, 0
    for slot in range(game.held[me]):
        number = slot * rule_set.places + place
        mask[rule_set.first[COUNTEROFFER] + number] = 1
        count += 1
        if game.hidden_use[me] == NONE:
            mask[rule_set.first[HIDDEN_COUNTEROFFER] + number] = 1
            count += 1
    return count


@inline
def legal_collections(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    count = 0
    for choice in range(3):
        if may_collect(rule_set, game, game.playing, choice):
            mask[rule_set.first[COLLECT] + choice] = 1
            count += 1
    return count


@inline
def legal_markers(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    count = 0
    for c in range(rule_set.colours):
        if game.marker[c] == NONE:
            mask[rule_set.first[TAKE_MARKER] + c] = 1
            count += 1
    return count
