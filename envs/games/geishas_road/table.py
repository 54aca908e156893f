"""The table of Geisha's Road as a player sees it, and what an action makes of it.

An observation is laid out as a game in which the player sits in seat ME, so that the rules
themselves say what a card brings. The card kept by Intrigue counts as influence at once; cards
that the foe laid face down bring nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.games.geishas_road import observation as entry
from hanamachi.games.geishas_road import rules as rule

ME, FOE = 0, 1

Seen = NDArray[np.float32]  # one observation, (N,)


# --- From an observation


@inline
def lay_out(rules: np.record, seen: Seen, game: np.record) -> None:
    """Only the lead in influence is laid out, as mine; `prestige` is all that a geisha brings."""
    at, n = rules.at, rules.colours
    for c in range(n):
        mine, theirs = seen[at[entry.MARKERS] + c], seen[at[entry.MARKERS] + n + c]
        game.marker[c] = ME if mine else FOE if theirs else rule.NONE
        game.influence[ME, c] = (seen[at[entry.LEAD] + c] - mine + theirs) / 2
        game.influence[FOE, c] = 0
        game.steps[c] = np.argmax(seen[at[entry.STEPS] + n * c :][:n])
        game.returns[c] = seen[at[entry.RETURNS] + c] + seen[at[entry.RETURNS] + n + c]
        game.prestige[c] = seen[at[entry.WORTH] + c]
        if rules.guests > 0:
            game.guests[c] = seen[at[entry.GUESTS] + c]
            game.collected[ME, c] = seen[at[entry.COLLECTED] + c]
            game.collected[FOE, c] = seen[at[entry.COLLECTED] + n + c]
    for i in range(2 * rule.ROW):
        game.row[i // rule.ROW, i % rule.ROW] = seen[at[entry.ROWS] + i]
    lay_out_cards(rules, seen, game)


@inline
def lay_out_cards(rules: np.record, seen: Seen, game: np.record) -> None:
    """The own hand, the offer, the tokens, and as the starter whoever made the offer."""
    at = rules.at
    for slot in range(rules.hand_size + 1):
        game.hand[ME, slot] = shown(rules, seen[at[entry.SLOTS] :], slot)
    for place in range(rule.PLACES):
        down = seen[at[entry.FACE_DOWN] + 2 * place :]
        game.offer[place] = shown(rules, seen[at[entry.SLOTS] :], rules.hand_size + 1 + place)
        game.face_down[place] = ME if down[ME] else FOE if down[FOE] else rule.NONE
    if rules.offer_tokens:
        for seat in range(2):
            left = seen[at[entry.TOKENS_LEFT] + 2 * seat :]
            game.hidden_use[seat] = rule.NONE if left[0] else rule.GIFT
            game.counter_to[seat] = rule.NONE if left[1] else 0
    left = seen[at[entry.TO_COME] + 2 :]
    behind = left[ME] - left[FOE] + seen[at[entry.BEGAN]]
    game.starter = ME if behind < 1 or seen[at[entry.TO_DO]] else FOE


@inline
def shown(rules: np.record, rows: Seen, row: int) -> Any:
    """The card that a row shows by its colour and value, or NONE."""
    shows = rows[row * (rules.colours + rules.values) :]
    for c in range(rules.colours):
        if shows[c]:
            return c * rules.values + int(np.argmax(shows[rules.colours :][: rules.values]))
    return rule.NONE


# --- An action and its reply


@inline
def act(rules: np.record, seen: Seen, game: np.record, action: np.intp) -> int:
    """Carry out an action up to the foe's reply; returns how many replies there are, at least 1."""
    kind = rules.kind[action]
    number = action - rules.first[kind]
    if kind <= rule.HIDDEN_COMPETITION:
        return use_action(rules, game, kind, rules.slots[action])
    if kind <= rule.HIDDEN_COUNTEROFFER:
        return counter(rules, game, kind, number)
    if kind <= rule.TAKE_PAIR:
        play_shares(rules, game, ME, share_of(rules, game, ME, kind == rule.TAKE_PAIR, number))
    elif kind == rule.ORDER:
        two = seen[rules.at[entry.TO_PLAY] :][: 2 * rule.PLACES].reshape(2, rule.PLACES)
        play_at(rules, game, ME, int(np.argmax(two[number])))
        play_shares(rules, game, ME, 1 << int(np.argmax(two[1 - number])))
    elif kind == rule.COLLECT:
        card = int(np.argmax(seen[rules.at[entry.PLAYED] :][: rules.cards]))  # the last
        game.played_by[card] = ME
        rule.collect(rules, game, card, number)
        play_shares(rules, game, ME, rest_of_share(game))
    elif kind == rule.TAKE_MARKER:
        game.marker[number] = ME
    return 1


@inline
def use_action(rules: np.record, game: np.record, kind: int, slots: NDArray[np.int8]) -> int:
    for place in range(rule.PLACES):
        slot = slots[place]
        game.offer[place] = game.hand[ME, slot] if slot != rule.NONE else rule.NONE
    game.starter = ME
    if kind == rule.REVEAL:
        play_shares(rules, game, ME, 0b1)
    elif kind == rule.INTRIGUE:
        kept = game.offer[0]
        game.influence[ME, rules.colour[kept]] += rules.value[kept]
    elif kind >= rule.HIDDEN_GIFT:
        game.hidden_use[ME] = kind
    return 1 if kind <= rule.INTRIGUE else replies_to(game)


@inline
def counter(rules: np.record, game: np.record, kind: int, number: int) -> int:
    place = number % rules.places
    game.offer[place] = game.hand[ME, number // rules.places]
    game.face_down[place] = rule.NONE
    game.counter_to[ME] = 0
    if kind == rule.HIDDEN_COUNTEROFFER:
        game.hidden_use[ME] = kind
    return replies_to(game)


@inline
def replies_to(game: np.record) -> int:
    """Two pairs of a Competition, or three cards of a Gift."""
    return 2 if lies_in(game, rule.PLACES - 1) else 3


@inline
def lies_in(game: np.record, place: int) -> bool:
    card, owner = game.offer[place], game.face_down[place]
    return bool(card != rule.NONE or owner != rule.NONE)


@inline
def reply(rules: np.record, game: np.record, replies: int, number: int) -> None:
    """The foe picks from an offer."""
    if replies > 1:
        share = share_of(rules, game, FOE, replies == 2, number)
        play_shares(rules, game, FOE, share)


# --- Shares, a bit for each place


@inline
def share_of(rules: np.record, game: np.record, seat: int, pair: bool, number: int) -> int:
    """The places of what a seat plays if it picks this card or pair."""
    if pair:
        return 0b11 << 2 * number
    leaves = rules.keep_shares and seat == game.starter
    return 0b111 ^ 1 << number if leaves else 1 << number


@inline
def rest_of_share(game: np.record) -> int:
    """What is left beside the card just played: the foe has two cards, a pair, or none."""
    share = count = 0
    for place in range(rule.PLACES):
        count += lies_in(game, place)
        share |= (lies_in(game, place) and not lies_in(game, place ^ 1)) << place
    return share if count % 2 else 0


@inline
def play_shares(rules: np.record, game: np.record, picker: int, share: int) -> None:
    """The picker plays a share, then the other the rest, both the lower place first."""
    for seat in (picker, 1 - picker):
        for place in range(rule.PLACES):
            if (share >> place & 1) == (seat == picker):
                play_at(rules, game, seat, place)


@inline
def play_at(rules: np.record, game: np.record, seat: int, place: int) -> None:
    """Play the card in a place, if any is known to lie there; the tiebreaker is collected first."""
    card = game.offer[place]
    if card == rule.NONE:
        return
    game.offer[place] = rule.NONE
    rule.walk(rules, game, seat, card)
    if rules.collects[card] > 0:
        game.played_by[card] = seat
        tiebreaker = rule.may_collect(rules, game, card, rule.TIEBREAKER)
        rule.collect(rules, game, card, rule.TIEBREAKER if tiebreaker else rule.GUESTS_ONLY)


# --- Points


@inline
def points(rules: np.record, game: np.record, seat: int) -> float:
    """What guests and unused tokens score."""
    return float(rule.guest_points(rules, game, seat) + rule.unused_tokens(rules, game, seat))
