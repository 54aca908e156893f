"""Hidden cards of Geisha's Road: deal them again, and replay the round in progress.

`world` and `game` are RECORDs, `rule_set` a RULE_SET; `foe` is the other seat.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count, lowest
from hanamachi.engine.compiled import inline
from hanamachi.engine.random_numbers import below, uniform
from hanamachi.games.four_actions import SIZES
from hanamachi.games.geishas_road.rules import (
    ACT,
    ANSWER,
    COLLECT,
    COLOURS,
    COMPETITION,
    COUNTEROFFER,
    DEAL,
    DRAW,
    DRAW_MARKERS,
    GUESTS_ONLY,
    HIDDEN_COUNTEROFFER,
    INSERTED,
    INTRIGUE,
    LAY_TOKENS,
    NONE,
    NOTHING,
    ORDER,
    PICK_MARKER,
    PICK_TOKENS,
    PLACES,
    PUT_IN_ORDER,
    RECEIVED,
    REDRAW,
    STARTER,
    TAKE_CARD,
    TAKE_MARKER,
    TAKE_PAIR,
    TIEBREAKER,
    all_cards,
    begin_round,
    dealt_to,
    house_of,
    markers_held,
    next_space,
    number_received,
    offered_by,
    past,
    player_of,
    sort_in,
    use_of,
    waiting_share,
)

# --- What a player cannot see

RECEIVES, LAYS, COUNTERS = range(3)  # what happened to cards: event, seat, number


@inline
def redeal(rule_set: np.record, world: np.record, seat: int) -> None:
    """Deal the foe's cards and the deck again, keeping all that `seat` has seen.

    No two cards are equal, so all histories, of chance and of the foe's choices, are equally
    likely. Rejection sampling: propose a history by dealing blank cards and naming them. Each
    action of the foe takes random blanks of those held at the time, and the cards that were seen
    are named. Then every other blank, in order of receipt, is named at random among the cards that
    the deck can spare. Where a Counteroffer brought a card back into the deck, their numbers depend
    on the history, which is proposed with probability 1 / (their product): accept it with
    probability (their product) / (its bound).
    """
    if world.mover >= 0:
        events = np.empty((40, 3), np.int8)
        n = timeline(rule_set, world, events)
        name = np.empty(RECEIVED, np.int8)  # of the foe's cards, in order of receipt
        in_hand = np.empty(RECEIVED, np.int8)
        blank = np.empty((5, PLACES), np.int8)  # in each place of the four actions; INSERTED
        kept = False
        while not kept:
            take_blanks(world, seat, events[:n], name, in_hand, blank)
            kept = name_blanks(rule_set, world, seat, events[:n], name, blank)
        place_cards(rule_set, world, 1 - seat, name, in_hand, blank)


@inline
def timeline(rule_set: np.record, game: np.record, events: NDArray[np.int8]) -> int:
    """Write how cards moved in this round, in order; returns how many events."""
    n, got = 0, np.zeros(2, np.int64)
    if game.dealt_cards < 2 * rule_set.hand_size:
        return n
    for seat in range(2):
        for _ in range(rule_set.hand_size):
            n = write_receipt(events, n, seat, got)
    for turn in range(min(game.turn, 2 * rule_set.markers - 1) + 1):
        me = (game.starter + turn) % 2
        if got[me] == RECEIVED or game.received[me, got[me]] == NONE:
            break
        n = write_receipt(events, n, me, got)
        for action in range(4):
            if game.used_in[me, action] == turn // 2 + 1:
                n = write_event(events, n, LAYS, me, action)
        for i in range(2):  # who was offered the cards is the first to counter
            seat = me if i else 1 - me
            if game.counter_to[seat] == turn:
                n = write_event(events, n, COUNTERS, seat, INSERTED)
                n = write_receipt(events, n, seat, got)
    return n


@inline
def write_event(events: NDArray[np.int8], n: int, what: int, seat: int, number: int) -> int:
    events[n, 0], events[n, 1], events[n, 2] = what, seat, number
    return n + 1


@inline
def write_receipt(events: NDArray[np.int8], n: int, seat: int, got: NDArray[np.int64]) -> int:
    got[seat] += 1
    return write_event(events, n, RECEIVES, seat, got[seat] - 1)


@inline
def take_blanks(
    world: np.record,
    seat: int,
    events: NDArray[np.int8],
    name: NDArray[np.int8],
    in_hand: NDArray[np.int8],
    blank: NDArray[np.int8],
) -> None:
    """Choose each card that the foe laid down at random among the blanks then in hand."""
    name[:] = NONE
    in_hand[:] = 0
    blank[:] = NONE
    for e in range(len(events)):
        what, number = events[e, 0], events[e, 2]
        if events[e, 1] != seat:
            if what == RECEIVES:
                in_hand[number] = 1
            else:
                for place in range(1 if what == COUNTERS else SIZES[number]):
                    taken = random_held(world, in_hand)
                    in_hand[taken] = 0
                    blank[number, place] = taken
                    name[taken] = seen(world, seat, number, place)


@inline
def random_held(world: np.record, in_hand: NDArray[np.int8]) -> int:
    skip = below(world, in_hand.sum())
    i = 0
    while skip > 0 or in_hand[i] == 0:
        skip -= in_hand[i]
        i += 1
    return i


@inline
def seen(game: np.record, seat: int, action: int, place: int) -> Any:
    """The card that the foe laid in this place, if the seat has seen it; else NONE."""
    foe = 1 - seat
    card = game.counter_in[foe] if action == INSERTED else game.laid[foe, action, place]
    if action == INTRIGUE:
        return card if place == 0 and game.played_by[card] != NONE else NONE
    if card != game.hidden_card[foe] or game.hidden_use[foe] != use_of(action):
        return card
    removed = game.counter_out_by[0] == foe or game.counter_out_by[1] == foe
    return card if not removed and game.played_by[card] != NONE else NONE


@inline
def hidden_blank(game: np.record, foe: int, blank: NDArray[np.int8]) -> Any:
    """The blank that the foe laid face down in an offer; NONE."""
    use = game.hidden_use[foe]
    if use == NONE:
        return NONE
    return blank[INSERTED, 0] if use == COUNTEROFFER else blank[use, SIZES[use] - 1]


@inline
def name_blanks(
    rule_set: np.record,
    world: np.record,
    seat: int,
    events: NDArray[np.int8],
    name: NDArray[np.int8],
    blank: NDArray[np.int8],
) -> bool:
    """Name the foe's other cards in order of receipt; False if this history is rejected."""
    deck = all_cards(rule_set)
    hidden, returned = hidden_blank(world, 1 - seat, blank), hidden_return(world, seat, events)
    spare = count(deck & ~received_later(world, seat, events, name)) + count_of(events, COUNTERS)
    chance_of_keeping = 1.0
    for e in range(len(events)):
        what, who, number = events[e, 0], events[e, 1], events[e, 2]
        if what == COUNTERS:
            known = world.counter_out_by[who] == seat or world.counter_out_by[who] == NONE
            deck |= 1 << int(world.counter_out[who] if known else name[hidden])
        elif what == RECEIVES and who == seat:
            deck = without(deck, world.received[seat, number])
        elif what == RECEIVES:
            if name[number] == NONE:
                # a card that comes back may be one that is seen later
                back = returned if number == hidden else len(events)
                possible = deck & ~received_later(world, seat, events[e + 1 : back], name)
                name[number] = random_card(world, possible)
                chance_of_keeping *= count(possible) / spare / (1 + len(events) - back)
                spare -= 1
            deck = without(deck, name[number])
        if deck < 0:
            return False
    world.unseen = deck
    kept: bool = uniform(world) < chance_of_keeping
    return kept


@inline
def count_of(events: NDArray[np.int8], what: int) -> int:
    count = 0
    for e in range(len(events)):
        count += events[e, 0] == what
    return count


@inline
def hidden_return(game: np.record, seat: int, events: NDArray[np.int8]) -> int:
    """The event that brought the foe's hidden card back into the deck, or the end."""
    for e in range(len(events)):
        if events[e, 0] == COUNTERS and game.counter_out_by[events[e, 1]] == 1 - seat:
            return e
    return len(events)


@inline
def received_later(
    game: np.record, seat: int, events: NDArray[np.int8], name: NDArray[np.int8]
) -> int:
    """The cards, a bit each, that these events brought to the seat or, by name, to the foe."""
    cards = 0
    for e in range(len(events)):
        if events[e, 0] == RECEIVES:
            number = events[e, 2]
            card = game.received[seat, number] if events[e, 1] == seat else name[number]
            if card != NONE:
                cards |= 1 << int(card)
    return cards


@inline
def without(deck: int, card: int) -> int:
    """The deck after a card was drawn; negative where it was not there."""
    return deck ^ (1 << int(card)) if card >= 0 and deck >> int(card) & 1 else -1


@inline
def random_card(world: np.record, cards: int) -> int:
    """One of these cards, or NONE if there is none."""
    if cards == 0:
        return NONE
    for _ in range(below(world, count(cards))):
        cards &= cards - 1
    return lowest(cards)


@inline
def place_cards(
    rule_set: np.record,
    world: np.record,
    foe: int,
    name: NDArray[np.int8],
    in_hand: NDArray[np.int8],
    blank: NDArray[np.int8],
) -> None:
    """Put the named cards where they were received and laid down."""
    world.hand[foe] = NONE
    world.held[foe] = 0
    for i in range(RECEIVED):
        world.received[foe, i] = name[i]
        if in_hand[i]:
            sort_in(world, foe, name[i])
    for action in range(4):
        for place in range(PLACES):
            if blank[action, place] != NONE:
                world.laid[foe, action, place] = name[blank[action, place]]
    if blank[INSERTED, 0] != NONE:
        world.counter_in[foe] = name[blank[INSERTED, 0]]
    hidden = hidden_blank(world, foe, blank)
    if hidden != NONE:
        world.hidden_card[foe] = name[hidden]
    for seat in range(2):
        if world.counter_out_by[seat] == foe:
            world.counter_out[seat] = world.hidden_card[foe]
    kept_for_the_end = world.turn == 2 * rule_set.markers
    for place in range(PLACES):
        if world.face_down[place] == foe:
            world.offer[place] = (
                world.laid[foe, INTRIGUE, 0] if kept_for_the_end else world.hidden_card[foe]
            )


# --- What has happened in this round


@inline
def rewind(rule_set: np.record, game: np.record) -> None:
    """Geisha walk back card by card; the starter and the first markers are open again."""
    for number in range(game.plays, 0, -1):
        take_back(rule_set, game, card_played(game, number))
    if game.round_number == 1:
        game.marker[:] = NONE
    else:
        game.starter = NONE
    game.round_number -= 1
    begin_round(rule_set, game)


@inline
def card_played(game: np.record, number: int) -> int:
    card = 0
    while game.played_as[card] != number:
        card += 1
    return card


@inline
def take_back(rule_set: np.record, game: np.record, card: int) -> None:
    """Undo the card played last: its geisha walks back, and a tiebreaker returns to its house."""
    colour = rule_set.colour[card]
    if game.brought[card, 1] > 0:
        game.marker[house_of(rule_set, game, card)] = NONE
    game.steps[colour] = past(rule_set, game.steps[colour], rule_set.colours - rule_set.walk[card])


@inline
def next_event(rule_set: np.record, world: np.record, earlier: np.record) -> Any:
    """What chance brought or a seat chose, by phase."""
    phase = earlier.phase
    if phase == LAY_TOKENS:
        return next_token(rule_set, world, earlier)
    if phase == DRAW_MARKERS:
        return marker_of(world, markers_held(rule_set, earlier, 0))
    if phase == DEAL:
        return next_card(world, earlier, dealt_to(rule_set, earlier))
    if phase == DRAW:
        return next_card(world, earlier, player_of(earlier))
    if phase == REDRAW:
        return next_card(world, earlier, earlier.playing)
    return next_choice(rule_set, world, earlier)


@inline
def next_token(rule_set: np.record, world: np.record, earlier: np.record) -> Any:
    """The worth of the next token that was laid out, or NONE."""
    if earlier.laid_out >= world.laid_out:
        return NONE
    return world.row[next_space(rule_set, earlier)]


@inline
def marker_of(game: np.record, seat: int) -> int:
    """The colour of a seat's first marker, or NONE."""
    for c in range(COLOURS):
        if game.marker[c] == seat:
            return c
    return NONE


@inline
def next_card(world: np.record, earlier: np.record, seat: int) -> Any:
    """The next card that a seat received, or NONE."""
    return world.received[seat, number_received(earlier, seat)]


@inline
def next_choice(rule_set: np.record, world: np.record, earlier: np.record) -> Any:
    """The action that the mover chose; NONE if the choice is still open."""
    me, phase = earlier.mover, earlier.phase
    if phase == ACT:
        return action_used(rule_set, world, earlier, me)
    if phase == ANSWER:
        return answer(rule_set, world, earlier, me)
    if phase == PUT_IN_ORDER:
        return numbered(rule_set, ORDER, order_chosen(world, earlier))
    if phase == PICK_TOKENS:
        return numbered(rule_set, COLLECT, tokens_chosen(world, earlier.playing))
    if phase == PICK_MARKER:
        return numbered(rule_set, TAKE_MARKER, marker_of(world, me))
    return numbered(rule_set, STARTER, NONE if world.starter == NONE else int(world.starter != me))


@inline
def numbered(rule_set: np.record, kind: int, number: int) -> Any:
    """An action by its number among those of its kind; NONE stays NONE."""
    return NONE if number == NONE else rule_set.first[kind] + number


@inline
def action_used(rule_set: np.record, world: np.record, earlier: np.record, me: int) -> Any:
    """The action by which a seat laid down cards of its hand in this turn, or NONE."""
    for action in range(4):
        if world.used_in[me, action] == earlier.turn // 2 + 1:
            kind = action + 2 if world.hidden_use[me] == action else action
            for number in range(rule_set.first[kind], rule_set.first[kind + 1]):
                if laid_from(rule_set, world, earlier, me, action, rule_set.slots[number]):
                    return number
    return NONE


@inline
def laid_from(
    rule_set: np.record,
    world: np.record,
    earlier: np.record,
    me: int,
    action: int,
    slots: NDArray[np.int8],
) -> bool:
    """Whether the cards laid down for an action came from these slots of the hand."""
    same = True
    for place in range(SIZES[action]):
        same &= earlier.hand[me, slots[place]] == world.laid[me, action, place]
    return same


@inline
def answer(rule_set: np.record, world: np.record, earlier: np.record, me: int) -> Any:
    """A Counteroffer comes before picking."""
    if world.counter_to[me] == earlier.turn and earlier.counter_to[me] == NONE:
        return counter_used(rule_set, world, earlier, me)
    offerer = player_of(earlier)
    offer = offered_by(earlier, offerer)
    kind = TAKE_PAIR if offer == COMPETITION else TAKE_CARD
    return numbered(rule_set, kind, world.picked[offerer, offer])


@inline
def counter_used(rule_set: np.record, world: np.record, earlier: np.record, me: int) -> Any:
    """The Counteroffer of a seat, by the slot of its card and the place on offer."""
    hides = world.hidden_use[me] == COUNTEROFFER
    kind = HIDDEN_COUNTEROFFER if hides else COUNTEROFFER
    for slot in range(earlier.held[me]):
        if earlier.hand[me, slot] == world.counter_in[me]:
            return numbered(rule_set, kind, slot * rule_set.places + world.counter_place[me])
    return NONE


@inline
def order_chosen(world: np.record, earlier: np.record) -> Any:
    offerer = player_of(earlier)
    return world.order[offerer, offered_by(earlier, offerer), waiting_share(earlier)]


@inline
def tokens_chosen(world: np.record, card: int) -> int:
    """What a card collected where there was a choice; NONE while it waits."""
    if world.phase == PICK_TOKENS and world.playing == card:
        return NONE
    if world.brought[card, 1] > 0:
        return TIEBREAKER
    return GUESTS_ONLY if world.brought[card, 0] > 0 else NOTHING
