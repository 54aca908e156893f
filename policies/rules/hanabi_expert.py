"""Expert: a Hanabi player that follows a convention about the meaning of clues.

The memory holds, for each clued card, the cards that the seat takes it to be meant to be. Seats
agree mostly, not always, as each derives earlier positions from what it sees now.
The chop is the oldest card that no clue has touched. The focus of a clue is the chop if the clue
touches it, else the newest card touched for the first time, else the newest touched card. The focus
is playable, now or after all plays that are known to come; on the chop it may also be a card to
save: a critical card, or any 2. No touched card is trash.

The giver values a clue by how much it raises the value of the receiver's hand, read as the receiver
will read it. Equally good actions are equally likely.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import lowest
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi import rules
from hanamachi.policies.arrays import Masks, Memory, Observations, Scores
from hanamachi.policies.rules import hanabi_from_observation as table
from hanamachi.policies.rules.hanabi_from_observation import ME, Games
from hanamachi.policies.rules.hanabi_memory import RememberingPolicy, Sets, chop_of, remove_slot

# Scores of actions, roughly in points
SURE_PLAY, LOWER, TOKEN_BACK = 1.6, 0.075, 0.2  # a play; less for each rank; bonus for a token
LAST_LIFE, GAMBLE = 0.2, 0.75  # a play at the last life; a gamble in the final round
TOKEN, USED, SCARCE = 0.6, 0.05, 0.375  # a clue token; less for each other one; bonus for the first
LATE, MUST_CLUE = 10, 0.2  # deck size below which tokens lose value; bonus if discards are illegal
FURTHER = 0.9  # factor of a clue that others could still give in time
NOT_CHOP, NO_PACE = 0.6, 0.45  # cost of a discard off the chop; of a discard that costs pace

# Fates of a card, as its owner reads it: undecided; played, rightly or wrongly; discarded, rightly
# or wrongly; kept although it is not what the owner thinks, or is trash or a twin; kept to be
# played later, kept, and kept exactly known
OPEN, PLAYED, MISPLAYED, DISCARDED, LOST, MISLED, DOUBLED, LATER, KEPT, KNOWN = range(10)
KNOWN_TRASH = 0.1
FATE_VALUES = np.array([0, 1, -2.4, KNOWN_TRASH, 0, -1.5, -0.4, 0.42, 0.3, 0.4])

NEXT, OTHERS = 0.6, 0.2  # the probability that the chop is discarded, by whose it is
BUSY = 0.09  # factor of it if the owner has something to play or discard

# Points lost with a card: critical, and more for each rank from it on; playable; a 2; any other
CRITICAL, RANK, PLAYABLE, TWO, ANY = 0.5, 0.35, 0.3, 0.35, 0.12

Fates = NDArray[np.int64]  # (H,) of the cards of a hand


class Known(NamedTuple):
    """Sets of cards that a seat takes for common knowledge, or for known to `both`.

    `both` are the giver and the receiver of a clue.
    """

    playable: int
    promised: int  # will be played, as their owners know
    soon: int  # playable, now or after what is promised
    trash: int
    critical: int


class Expert(RememberingPolicy):
    name = "expert"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, variant.rule_set_array)


@kernel
def score(
    tables: NDArray[Any], observations: Observations, masks: Masks, memory: Memory, scores: Scores
) -> None:
    rule_set = tables[0]
    games = np.zeros(rules.SEATS + 2, rules.RECORD)  # before each turn, now, and after a clue
    for b in range(len(masks)):
        meant, game = memory[b].reshape(rule_set.seats, rule_set.hand_size), games[rule_set.seats]
        table.lay_out_turns(rule_set, observations[b], games)
        read_turns(rule_set, games, meant)
        known = knowledge(rule_set, game, meant, ME, ME)
        for action in np.flatnonzero(masks[b]):
            kind, slot = rule_set.kind[action], rule_set.slot[action]
            if kind == rules.PLAY:
                scores[b, action] = play_score(rule_set, game, known, meant, slot)
            elif kind == rules.DISCARD:
                scores[b, action] = discard_score(rule_set, game, known, meant, slot)
        for seat in range(1, rule_set.seats):
            score_clues(rule_set, games, known, meant, seat, masks[b], scores[b])


# --- What clues mean


@inline
def read_turns(rule_set: np.record, games: Games, meant: Sets) -> None:
    """Read every turn since my last one, in order."""
    now = games[rule_set.seats]
    for giver in range(rule_set.seats):
        if now.did[giver] == rules.CLUE:
            seat, trait, touched = now.told[giver], now.trait[giver], now.touched[giver]
            both = knowledge(rule_set, games[giver], meant, giver, seat)
            read_clue(rule_set, games[giver], both, meant, seat, trait, touched)
        elif now.did[giver] != rules.NONE:
            remove_slot(meant[giver], now.slot[giver])


@inline
def read_clue(
    rule_set: np.record,
    game: np.record,
    both: Known,
    meant: Sets,
    seat: int,
    trait: int,
    touched: int,
) -> None:
    """Update what each touched card of the receiver is meant to be."""
    chop = chop_of(game, meant, seat)
    focus = focus_of(game, meant, seat, touched)
    for slot in range(game.held[seat]):
        cards = table.everything(rule_set) & ~both.trash
        if slot == focus:
            cards = both.soon & ~both.promised
            if slot == chop:
                cards |= cards_to_save(rule_set, both, trait)
        if touched >> slot & 1:
            before = int(meant[seat, slot])
            cards = cards & before if cards & before else cards
            meant[seat, slot] = cards if cards else table.everything(rule_set)


@inline
def focus_of(game: np.record, meant: Sets, seat: int, touched: int) -> int:
    """The chop, else the newest card touched for the first time, else the newest touched."""
    chop = chop_of(game, meant, seat)
    if chop != rules.NONE and touched >> chop & 1:
        return chop
    focus, first_time = rules.NONE, False
    for slot in range(game.held[seat]):
        if touched >> slot & 1 and (meant[seat, slot] == 0 or not first_time):
            focus, first_time = slot, meant[seat, slot] == 0
    return focus


@inline
def cards_to_save(rule_set: np.record, known: Known, trait: int) -> int:
    """The cards that a clue may save: critical ones (5s only by rank), and 2s by rank."""
    cards = int(rule_set.cards_with[trait])
    if trait == rule_set.suits + 1:
        return cards & ~known.trash
    return cards & known.critical & ~(table.last_cards(rule_set) if trait < rule_set.suits else 0)


# --- Common knowledge


@inline
def agreed(
    rule_set: np.record, game: np.record, meant: Sets, seat: int, slot: int, dead: int
) -> int:
    """What a card can be by clues and their meaning, or by clues alone if these disagree."""
    possible = int(game.possible[seat, slot])
    cards = possible & int(meant[seat, slot])
    if cards & ~dead:
        return cards & ~dead
    return cards if cards else possible


@inline
def knowledge(
    rule_set: np.record, game: np.record, meant: Sets, giver: int, receiver: int
) -> Known:
    """What giver and receiver both know."""
    playable, critical = table.next_cards(rule_set, game.fireworks), table.critical(rule_set, game)
    nothing = Known(playable, 0, playable, table.trash(rule_set, game), critical)
    return with_promises(rule_set, game, nothing, meant, giver, receiver)


@inline
def with_promises(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, giver: int, receiver: int
) -> Known:
    """Add the plays that giver and receiver both expect: each may make the next one playable."""
    promised, soon, new = 0, known.playable, 1
    while new:
        new = 0
        for seat in range(rule_set.seats):
            seen = seat != ME and seat != giver and seat != receiver
            new |= known_plays(rule_set, game, meant, seat, soon, known.trash, seen) & ~promised
        promised |= new
        soon |= (new & ~table.last_cards(rule_set)) << 1
    return Known(known.playable, promised, soon, known.trash, known.critical)


@inline
def known_plays(
    rule_set: np.record, game: np.record, meant: Sets, seat: int, soon: int, dead: int, seen: bool
) -> int:
    """The clued cards of a hand that its owner thinks playable, as far as they are known."""
    plays = 0
    for slot in range(game.held[seat]):
        if meant[seat, slot]:
            cards = agreed(rule_set, game, meant, seat, slot, dead)
            if cards & ~soon == 0:
                plays |= identity(game, cards, seat, slot, seen)
    return plays & soon


@inline
def identity(game: np.record, cards: int, seat: int, slot: int, seen: bool) -> int:
    """The card, if it is seen or can be only one card; else the empty set."""
    if seen:
        return 1 << int(game.hand[seat, slot])
    return cards if cards & (cards - 1) == 0 else 0


@inline
def clued_elsewhere(rule_set: np.record, game: np.record, meant: Sets, owner: int) -> int:
    """The clued cards of all hands except the owner's, as far as I know them."""
    cards = 0
    for seat in range(rule_set.seats):
        for slot in range(game.held[seat]):
            if meant[seat, slot] and seat != owner:
                possible = agreed(rule_set, game, meant, seat, slot, 0)
                cards |= identity(game, possible, seat, slot, seat != ME)
    return cards


# --- The value of a hand


@inline
def score_clues(
    rule_set: np.record, games: Games, known: Known, meant: Sets, seat: int, mask: Any, scores: Any
) -> None:
    """Score each clue to a seat: the gain in the value of its hand, less a clue token."""
    now = games[rule_set.seats]
    both = with_promises(rule_set, now, known, meant, ME, seat)
    before = hand_value(rule_set, now, known, meant, seat)
    for action in np.flatnonzero(mask):
        if rule_set.offset[action] == seat:
            then = meant.copy()
            known_then = clue_read(rule_set, games, both, then, seat, rule_set.trait[action])
            gain = hand_value(rule_set, games[rule_set.seats + 1], known_then, then, seat) - before
            gain = gain * (FURTHER if seat > 1 else 1.0) - token(now, now.clues)
            scores[action] = gain + (now.clues == rule_set.max_clues) * MUST_CLUE


@inline
def clue_read(
    rule_set: np.record, games: Games, both: Known, meant: Sets, seat: int, trait: int
) -> Known:
    """Give a clue in a copy of the game, and read it as its receiver will."""
    now, after = games[rule_set.seats], games[rule_set.seats + 1]
    games[rule_set.seats + 1] = now
    rules.give_clue(rule_set, after, seat, trait)
    read_clue(rule_set, now, both, meant, seat, trait, after.touched[ME])
    return with_promises(rule_set, after, both, meant, ME, ME)  # a clue changes nothing else


@inline
def token(game: np.record, number: int) -> float:
    """The value of the clue token of this number."""
    return (TOKEN - USED * number + SCARCE * (number <= 1)) * min(1.0, game.deck / LATE)


@inline
def hand_value(rule_set: np.record, game: np.record, known: Known, meant: Sets, seat: int) -> float:
    """Plays to come and cards kept, less mistakes to come and the risk of losing the chop."""
    total, busy = 0.0, False
    fates = np.zeros(rules.HAND, np.int64)
    taken = read_hand(rule_set, game, known, meant, seat, fates)
    for slot in range(game.held[seat]):
        busy |= PLAYED <= fates[slot] <= LOST
        total += FATE_VALUES[fates[slot]]
        if fates[slot] == LOST:
            total -= loss(rule_set, known, 1 << int(game.hand[seat, slot]))
    chop = chop_of(game, meant, seat)
    if chop != rules.NONE and not taken >> int(game.hand[seat, chop]) & 1:
        risk = (NEXT if seat == 1 else OTHERS) * (BUSY if busy else 1.0)
        total -= risk * loss(rule_set, known, 1 << int(game.hand[seat, chop]))
    return total


@inline
def read_hand(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, seat: int, fates: Fates
) -> int:
    """Write the fate of each card; returns the clued cards of all hands."""
    taken = clued_elsewhere(rule_set, game, meant, seat)
    visible = table.may_hold(rule_set, game, seat)
    for slot in range(game.held[seat]):
        card = 1 << int(game.hand[seat, slot])
        cards = possible_cards(rule_set, game, meant, seat, slot, known.trash, visible)
        fates[slot] = fate(known, cards, card, taken, meant[seat, slot] != 0)
        if meant[seat, slot]:
            taken |= card
    return taken


@inline
def fate(known: Known, cards: int, card: int, taken: int, kept: bool) -> int:
    """The fate of a card that its owner thinks is one of `cards`."""
    if cards & ~known.playable == 0:
        return PLAYED if card & known.playable & ~taken else MISPLAYED
    if cards & ~known.trash == 0:
        return DISCARDED if card & known.trash else LOST
    if not kept:
        return OPEN
    if cards & card == 0:
        return MISLED
    if card & (known.trash | taken):
        return DOUBLED
    if cards & ~known.soon == 0:
        return LATER
    return KNOWN if cards == card else KEPT


@inline
def possible_cards(
    rule_set: np.record, game: np.record, meant: Sets, seat: int, slot: int, dead: int, visible: int
) -> int:
    """The cards that a slot can hold, by clues, their meaning and the visible cards."""
    cards = agreed(rule_set, game, meant, seat, slot, dead)
    return cards & visible if cards & visible else int(game.possible[seat, slot]) & visible


@inline
def loss(rule_set: np.record, known: Known, card: int) -> float:
    """The points lost with a card."""
    rank = lowest(card) % rule_set.ranks
    if card & known.trash:
        return 0.0
    if card & known.critical:
        return CRITICAL + RANK * (rule_set.ranks - rank)
    if card & known.playable:
        return PLAYABLE
    return TWO if rank == 1 else ANY


# --- Scores of plays and discards


@inline
def play_score(rule_set: np.record, game: np.record, known: Known, meant: Sets, slot: int) -> float:
    """Sure plays first, low ranks first; a gamble only in the final round."""
    visible = table.may_hold(rule_set, game, ME)
    cards = possible_cards(rule_set, game, meant, ME, slot, known.trash, visible)
    last_life = game.errors == rule_set.max_errors - 1
    if cards & ~known.playable:
        probability = table.share(rule_set, game.unseen, cards, known.playable)
        return probability * GAMBLE if game.deck == 0 and not last_life else probability - 10
    if last_life and int(game.possible[ME, slot]) & visible & ~known.playable:
        return LAST_LIFE
    regains = cards & table.last_cards(rule_set) and game.clues < rule_set.max_clues
    return SURE_PLAY - LOWER * (lowest(cards) % rule_set.ranks) + (TOKEN_BACK if regains else 0)


@inline
def discard_score(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, slot: int
) -> float:
    """A clue token, less the expected loss; a card that is clued in another hand is no loss."""
    cards = possible_cards(
        rule_set, game, meant, ME, slot, known.trash, table.may_hold(rule_set, game, ME)
    )
    value = token(game, game.clues + 1) - NO_PACE * (table.pace(rule_set, game) <= 0)
    useful = cards & ~known.trash & ~clued_elsewhere(rule_set, game, meant, ME)
    if useful == 0:
        return value + KNOWN_TRASH
    for card in range(rule_set.cards):
        if useful >> card & 1:
            probability = table.share(rule_set, game.unseen, cards, 1 << card)
            value -= probability * loss(rule_set, known, 1 << card)
    return value if slot == chop_of(game, meant, ME) else value - NOT_CHOP
