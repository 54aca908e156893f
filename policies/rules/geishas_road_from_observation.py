"""Positions of Geisha's Road rebuilt from an observation, and what an action makes of them.

The position is a game in which the player sits in seat ME, so that the rules themselves say what
a card brings. The card kept by Intrigue counts as influence at once; cards that the other player
laid face down bring nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.games.geishas_road import observation as entry
from hanamachi.games.geishas_road import rules

ME, FOE = 0, 1

Seen = NDArray[np.float32]  # one observation, (N,)


# --- From an observation


@inline
def lay_out(rule_set: np.record, seen: Seen, game: np.record) -> None:
    """Only the lead in influence is laid out, as mine; `prestige` is all that a geisha brings."""
    at, n = rule_set.at, rule_set.colours
    for c in range(n):
        mine, theirs = seen[at[entry.MARKERS] + c], seen[at[entry.MARKERS] + n + c]
        game.marker[c] = ME if mine else FOE if theirs else rules.NONE
        game.influence[ME, c] = (seen[at[entry.LEAD] + c] - mine + theirs) / 2
        game.influence[FOE, c] = 0
        game.steps[c] = np.argmax(seen[at[entry.STEPS] + n * c :][:n])
        game.returns[c] = seen[at[entry.RETURNS] + c] + seen[at[entry.RETURNS] + n + c]
        game.prestige[c] = seen[at[entry.WORTH] + c]
        if rule_set.guests > 0:
            game.guests[c] = seen[at[entry.GUESTS] + c]
            game.collected[ME, c] = seen[at[entry.COLLECTED] + c]
            game.collected[FOE, c] = seen[at[entry.COLLECTED] + n + c]
    for i in range(2 * rules.ROW):
        game.row[i // rules.ROW, i % rules.ROW] = seen[at[entry.ROWS] + i]
    lay_out_cards(rule_set, seen, game)


@inline
def lay_out_cards(rule_set: np.record, seen: Seen, game: np.record) -> None:
    """The own hand, the offer and the tokens; whose turn it is stands in `starter`."""
    at = rule_set.at
    for slot in range(rule_set.hand_size + 1):
        game.hand[ME, slot] = shown(rule_set, seen[at[entry.SLOTS] :], slot)
    for place in range(rules.PLACES):
        down = seen[at[entry.FACE_DOWN] + 2 * place :]
        game.offer[place] = shown(rule_set, seen[at[entry.SLOTS] :], rule_set.hand_size + 1 + place)
        game.face_down[place] = ME if down[ME] else FOE if down[FOE] else rules.NONE
    if rule_set.offer_tokens:
        for seat in range(2):
            left = seen[at[entry.TOKENS_LEFT] + 2 * seat :]
            game.hidden_use[seat] = rules.NONE if left[0] else rules.GIFT
            game.counter_to[seat] = rules.NONE if left[1] else 0
    game.starter = ME if is_my_turn(rule_set, seen) else FOE


@inline
def is_my_turn(rule_set: np.record, seen: Seen) -> bool:
    """Whether the turn is mine, in which I use an action or have made the offer.

    Who began the round uses an action first. Until the turn's action is used, only the duty to act
    tells whose turn it is. Then, in turns of the beginner, the other has one more action left, and
    in the other's turns both have equally many.
    """
    at = rule_set.at
    left = seen[at[entry.TO_COME] + 2 :]  # actions, mine and the foe's
    return bool(seen[at[entry.TO_DO]] > 0 or left[ME] + seen[at[entry.BEGAN]] <= left[FOE])


@inline
def rounds_to_come(rule_set: np.record, seen: Seen) -> int:
    """How many rounds follow this one, in games of a fixed number of rounds."""
    last = rule_set.at[entry.ROUND + 1] - 1  # the entry of the last round
    for later in range(rule_set.rounds):
        if seen[last - later]:
            return later
    return 0


@inline
def shown(rule_set: np.record, rows: Seen, row: int) -> Any:
    """The card that a row shows by its colour and value, or NONE."""
    shows = rows[row * (rule_set.colours + rule_set.values) :]
    for c in range(rule_set.colours):
        if shows[c]:
            return c * rule_set.values + int(
                np.argmax(shows[rule_set.colours :][: rule_set.values])
            )
    return rules.NONE


# --- An action and its reply


@inline
def act(rule_set: np.record, seen: Seen, game: np.record, action: np.intp) -> int:
    """Carry out an action up to the foe's reply; returns how many replies there are, at least 1."""
    kind = rule_set.kind[action]
    number = action - rule_set.first[kind]
    if kind <= rules.HIDDEN_COMPETITION:
        return simulate_use(rule_set, game, kind, rule_set.slots[action])
    if kind <= rules.HIDDEN_COUNTEROFFER:
        return simulate_counteroffer(rule_set, game, kind, number)
    if kind <= rules.TAKE_PAIR:
        simulate_shares(
            rule_set, game, ME, share_of(rule_set, game, ME, kind == rules.TAKE_PAIR, number)
        )
    elif kind == rules.ORDER:
        two = seen[rule_set.at[entry.TO_PLAY] :][: 2 * rules.PLACES].reshape(2, rules.PLACES)
        simulate_card(rule_set, game, ME, int(np.argmax(two[number])))
        simulate_shares(rule_set, game, ME, 1 << int(np.argmax(two[1 - number])))
    elif kind == rules.COLLECT:
        card = int(np.argmax(seen[rule_set.at[entry.PLAYED] :][: rule_set.cards]))  # the last
        game.played_by[card] = ME
        rules.collect(rule_set, game, card, number)
        simulate_shares(rule_set, game, ME, rest_of_share(game))
    elif kind == rules.TAKE_MARKER:
        game.marker[number] = ME
    return 1


@inline
def simulate_use(rule_set: np.record, game: np.record, kind: int, slots: NDArray[np.int8]) -> int:
    for place in range(rules.PLACES):
        slot = slots[place]
        game.offer[place] = game.hand[ME, slot] if slot != rules.NONE else rules.NONE
    game.starter = ME
    if kind == rules.REVEAL:
        simulate_shares(rule_set, game, ME, 0b1)
    elif kind == rules.INTRIGUE:
        kept = game.offer[0]
        game.influence[ME, rule_set.colour[kept]] += rule_set.value[kept]
    elif kind >= rules.HIDDEN_GIFT:
        game.hidden_use[ME] = kind
    return 1 if kind <= rules.INTRIGUE else replies_to(game)


@inline
def simulate_counteroffer(rule_set: np.record, game: np.record, kind: int, number: int) -> int:
    place = number % rule_set.places
    game.offer[place] = game.hand[ME, number // rule_set.places]
    game.face_down[place] = rules.NONE
    game.counter_to[ME] = 0
    if kind == rules.HIDDEN_COUNTEROFFER:
        game.hidden_use[ME] = kind
    return replies_to(game)


@inline
def replies_to(game: np.record) -> int:
    """Two pairs of a Competition, or three cards of a Gift."""
    return 2 if lies_in(game, rules.PLACES - 1) else 3


@inline
def lies_in(game: np.record, place: int) -> bool:
    card, owner = game.offer[place], game.face_down[place]
    return bool(card != rules.NONE or owner != rules.NONE)


@inline
def reply(rule_set: np.record, game: np.record, replies: int, number: int) -> None:
    """The foe picks from an offer."""
    if replies > 1:
        share = share_of(rule_set, game, FOE, replies == 2, number)
        simulate_shares(rule_set, game, FOE, share)


# --- Shares, a bit for each place


@inline
def share_of(rule_set: np.record, game: np.record, seat: int, pair: bool, number: int) -> int:
    """The places of what a seat plays if it picks this card or pair."""
    if pair:
        return 0b11 << 2 * number
    leaves = rule_set.keep_shares and seat == game.starter
    return 0b111 ^ 1 << number if leaves else 1 << number


@inline
def rest_of_share(game: np.record) -> int:
    """The places left of a share after the card just played."""
    share = count = 0
    for place in range(rules.PLACES):
        count += lies_in(game, place)
        share |= (lies_in(game, place) and not lies_in(game, place ^ 1)) << place
    return share if count % 2 else 0


@inline
def simulate_shares(rule_set: np.record, game: np.record, picker: int, share: int) -> None:
    """The picker plays a share, then the other the rest, both the lower place first."""
    for seat in (picker, 1 - picker):
        for place in range(rules.PLACES):
            if (share >> place & 1) == (seat == picker):
                simulate_card(rule_set, game, seat, place)


@inline
def simulate_card(rule_set: np.record, game: np.record, seat: int, place: int) -> None:
    """Play the card in a place, if any is known to lie there; the tiebreaker is collected first."""
    card = game.offer[place]
    if card == rules.NONE:
        return
    game.offer[place] = rules.NONE
    rules.walk(rule_set, game, seat, card)
    if rule_set.collects[card] > 0:
        game.played_by[card] = seat
        tiebreaker = rules.may_collect(rule_set, game, card, rules.TIEBREAKER)
        rules.collect(rule_set, game, card, rules.TIEBREAKER if tiebreaker else rules.GUESTS_ONLY)


# --- Points


@inline
def points(rule_set: np.record, game: np.record, seat: int) -> float:
    """What guests and unused tokens score."""
    return float(
        rules.guest_points(rule_set, game, seat) + rules.unused_tokens(rule_set, game, seat)
    )
