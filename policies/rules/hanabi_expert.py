"""Expert: a convention player of Hanabi.

What a clue means beside what it says is common knowledge; the memory holds it as the cards that
each clued card is meant to be. The chop is the oldest card that no clue has touched. The focus of
a clue is the chop if touched, else the newest card that no clue had touched before, else the
newest. The focus is playable, now or after all plays that are known to come; on the chop it may
also be there to be saved: a critical card, or any 2. No touched card is trash.

Before a clue is given, its giver reads it as he expects its receiver to: it is worth as much as it
makes his hand promise more than before. Equally good actions are equally likely.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.sets import lowest
from hanamachi.games.hanabi import from_observation as table
from hanamachi.games.hanabi import rules
from hanamachi.games.hanabi.from_observation import ME, Games
from hanamachi.policies.policy import Masks, Memory, Observations, Scores
from hanamachi.policies.rules.hanabi_memory import RememberingPolicy, Sets, chop_of, let_go

# What an action is worth, in about the points that it brings
SURE_PLAY, LOWER, TOKEN_BACK = 1.6, 0.075, 0.2  # less for each rank; more if a token comes back
LAST_LIFE, GAMBLE = 0.2, 0.75  # a play that an error may end; in the final round, times its chance
TOKEN, USED, SCARCE = 0.6, 0.05, 0.375  # a clue token, less for each below it, more for the first
LATE, MUST_CLUE = 10, 0.2  # deck from which on tokens lose worth; a clue if nobody may discard
FURTHER = 0.9  # what is left of a clue's worth if others could give it before it counts
NOT_CHOP, NO_PACE = 0.6, 0.45  # what a discard costs that others do not expect, or that is too slow

# What becomes of a card, as its owner reads it: played or discarded, rightly or not; kept although
# it is another than he thinks, trash or a twin; kept for later, with another, or exactly known
OPEN, PLAYED, MISPLAYED, DISCARDED, LOST, MISLED, DOUBLED, LATER, KEPT, KNOWN = range(10)
KNOWN_TRASH = 0.1
WORTH = np.array([0, 1, -2.4, KNOWN_TRASH, 0, -1.5, -0.4, 0.42, 0.3, 0.4])  # of each

NEXT, OTHERS, BUSY = 0.6, 0.2, 0.09  # how likely a chop is discarded: whose it is, with more to do

# What is lost with a card: if critical, for each rank from it on, too; playable; a 2; any other
CRITICAL, RANK, PLAYABLE, TWO, ANY = 0.5, 0.35, 0.3, 0.35, 0.12

Fates = NDArray[np.int64]  # (H,) of the cards of a hand


class Known(NamedTuple):
    """Sets of cards, as common knowledge has them, or what `both`, giver and receiver, know."""

    playable: int
    promised: int  # will be played, as their owners know it
    soon: int  # playable, now or after what is promised
    trash: int
    critical: int


class Expert(RememberingPolicy):
    name = "expert"

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, variant.rule_set)


@kernel
def score(
    rule_set: np.record, observations: Observations, masks: Masks, memory: Memory, scores: Scores
) -> None:
    games = np.zeros(rules.SEATS + 2, rules.RECORD)  # before each turn, now, and after a clue
    for b in range(len(masks)):
        meant, game = memory[b].reshape(rule_set.seats, rule_set.hand_size), games[rule_set.seats]
        table.lay_out_turns(rule_set, observations[b], games)
        read_turns(rule_set, games, meant)
        known = knowledge(rule_set, game, meant, ME, ME)
        for action in np.flatnonzero(masks[b]):
            kind, slot = rule_set.kind[action], rule_set.slot[action]
            if kind == rules.PLAY:
                scores[b, action] = play_worth(rule_set, game, known, meant, slot)
            elif kind == rules.DISCARD:
                scores[b, action] = discard_worth(rule_set, game, known, meant, slot)
        for seat in range(1, rule_set.seats):
            score_clues(rule_set, games, known, meant, seat, masks[b], scores[b])


# --- What clues mean


@inline
def read_turns(rule_set: np.record, games: Games, meant: Sets) -> None:
    """Every turn since my own last, in order."""
    now = games[rule_set.seats]
    for giver in range(rule_set.seats):
        if now.did[giver] == rules.CLUE:
            seat, trait, touched = now.told[giver], now.trait[giver], now.touched[giver]
            both = knowledge(rule_set, games[giver], meant, giver, seat)
            read_clue(rule_set, games[giver], both, meant, seat, trait, touched)
        elif now.did[giver] != rules.NONE:
            let_go(meant[giver], now.slot[giver])


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
    chop = chop_of(game, meant, seat)
    focus = focus_of(game, meant, seat, touched)
    for slot in range(game.held[seat]):
        cards = table.everything(rule_set) & ~both.trash
        if slot == focus:
            cards = both.soon & ~both.promised
            if slot == chop:
                cards |= worth_saving(rule_set, both, trait)
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
def worth_saving(rule_set: np.record, known: Known, trait: int) -> int:
    """Critical cards, 5s only by their rank, and 2s by theirs."""
    cards = int(rule_set.cards_with[trait])
    if trait == rule_set.suits + 1:
        return cards & ~known.trash
    return cards & known.critical & ~(table.last_cards(rule_set) if trait < rule_set.suits else 0)


# --- Common knowledge


@inline
def agreed(
    rule_set: np.record, game: np.record, meant: Sets, seat: int, slot: int, dead: int
) -> int:
    """What a card can be by clues and what they mean, unless that contradicts itself."""
    possible = int(game.possible[seat, slot])
    cards = possible & int(meant[seat, slot])
    if cards & ~dead:
        return cards & ~dead
    return cards if cards else possible


@inline
def knowledge(
    rule_set: np.record, game: np.record, meant: Sets, giver: int, receiver: int
) -> Known:
    playable, critical = table.next_cards(rule_set, game.fireworks), table.critical(rule_set, game)
    nothing = Known(playable, 0, playable, table.trash(rule_set, game), critical)
    return with_promises(rule_set, game, nothing, meant, giver, receiver)


@inline
def with_promises(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, giver: int, receiver: int
) -> Known:
    """With the plays that giver and receiver both see coming: each may allow the next."""
    promised, soon, found = 0, known.playable, 1
    while found:
        found = 0
        for seat in range(rule_set.seats):
            seen = seat != ME and seat != giver and seat != receiver
            found |= known_plays(rule_set, game, meant, seat, soon, known.trash, seen) & ~promised
        promised |= found
        soon |= (found & ~table.last_cards(rule_set)) << 1
    return Known(known.playable, promised, soon, known.trash, known.critical)


@inline
def known_plays(
    rule_set: np.record, game: np.record, meant: Sets, seat: int, soon: int, dead: int, seen: bool
) -> int:
    """The clued cards of a hand that its owner takes for playable, as far as they are known."""
    plays = 0
    for slot in range(game.held[seat]):
        if meant[seat, slot]:
            cards = agreed(rule_set, game, meant, seat, slot, dead)
            if cards & ~soon == 0:
                plays |= identity(game, cards, seat, slot, seen)
    return plays & soon


@inline
def identity(game: np.record, cards: int, seat: int, slot: int, seen: bool) -> int:
    """Which card it is, if it is seen or can be one card only."""
    if seen:
        return 1 << int(game.hand[seat, slot])
    return cards if cards & (cards - 1) == 0 else 0


@inline
def clued(rule_set: np.record, game: np.record, meant: Sets, but: int) -> int:
    """The clued cards of all hands but one, as far as I know them."""
    cards = 0
    for seat in range(rule_set.seats):
        for slot in range(game.held[seat]):
            if meant[seat, slot] and seat != but:
                could = agreed(rule_set, game, meant, seat, slot, 0)
                cards |= identity(game, could, seat, slot, seat != ME)
    return cards


# --- What a hand promises


@inline
def score_clues(
    rule_set: np.record, games: Games, known: Known, meant: Sets, seat: int, mask: Any, scores: Any
) -> None:
    """What a hand promises more than before, less a clue token, for each clue to its owner."""
    now, both = (
        games[rule_set.seats],
        with_promises(rule_set, games[rule_set.seats], known, meant, ME, seat),
    )
    before = promise(rule_set, now, known, meant, seat)
    for action in np.flatnonzero(mask):
        if rule_set.offset[action] == seat:
            then = meant.copy()
            known_then = clue_read(rule_set, games, both, then, seat, rule_set.trait[action])
            gain = promise(rule_set, games[rule_set.seats + 1], known_then, then, seat) - before
            gain = gain * (FURTHER if seat > 1 else 1.0) - token(now, now.clues)
            scores[action] = gain + (now.clues == rule_set.max_clues) * MUST_CLUE


@inline
def clue_read(
    rule_set: np.record, games: Games, both: Known, meant: Sets, seat: int, trait: int
) -> Known:
    """Give a clue in a copy of the game, and read it as its receiver is expected to."""
    now, after = games[rule_set.seats], games[rule_set.seats + 1]
    games[rule_set.seats + 1] = now
    rules.give_clue(rule_set, after, seat, trait)
    read_clue(rule_set, now, both, meant, seat, trait, after.touched[ME])
    return with_promises(rule_set, after, both, meant, ME, ME)  # a clue changes nothing else


@inline
def token(game: np.record, number: int) -> float:
    """What the clue token of this number is worth."""
    return (TOKEN - USED * number + SCARCE * (number <= 1)) * min(1.0, game.deck / LATE)


@inline
def promise(rule_set: np.record, game: np.record, known: Known, meant: Sets, seat: int) -> float:
    """Plays to come and cards kept, less mistakes to come and the danger that the chop is in."""
    total, busy = 0.0, False
    fates = np.zeros(rules.HAND, np.int64)
    taken = read_hand(rule_set, game, known, meant, seat, fates)
    for slot in range(game.held[seat]):
        busy |= PLAYED <= fates[slot] <= LOST
        total += WORTH[fates[slot]]
        if fates[slot] == LOST:
            total -= loss(rule_set, known, 1 << int(game.hand[seat, slot]))
    chop = chop_of(game, meant, seat)
    if chop != rules.NONE and not taken >> int(game.hand[seat, chop]) & 1:
        danger = (NEXT if seat == 1 else OTHERS) * (BUSY if busy else 1.0)
        total -= danger * loss(rule_set, known, 1 << int(game.hand[seat, chop]))
    return total


@inline
def read_hand(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, seat: int, fates: Fates
) -> int:
    """What becomes of each card; returns the clued cards of all hands."""
    taken, visible = clued(rule_set, game, meant, seat), table.may_hold(rule_set, game, seat)
    for slot in range(game.held[seat]):
        card = 1 << int(game.hand[seat, slot])
        cards = belief(rule_set, game, meant, seat, slot, known.trash, visible)
        fates[slot] = fate(known, cards, card, taken, meant[seat, slot] != 0)
        if meant[seat, slot]:
            taken |= card
    return taken


@inline
def fate(known: Known, cards: int, card: int, taken: int, kept: bool) -> int:
    """What becomes of a card that its owner takes for one of some cards."""
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
def belief(
    rule_set: np.record, game: np.record, meant: Sets, seat: int, slot: int, dead: int, visible: int
) -> int:
    cards = agreed(rule_set, game, meant, seat, slot, dead)
    return cards & visible if cards & visible else int(game.possible[seat, slot]) & visible


@inline
def loss(rule_set: np.record, known: Known, card: int) -> float:
    """Points that go with a card."""
    rank = lowest(card) % rule_set.ranks
    if card & known.trash:
        return 0.0
    if card & known.critical:
        return CRITICAL + RANK * (rule_set.ranks - rank)
    if card & known.playable:
        return PLAYABLE
    return TWO if rank == 1 else ANY


# --- My own cards


@inline
def play_worth(rule_set: np.record, game: np.record, known: Known, meant: Sets, slot: int) -> float:
    visible = table.may_hold(rule_set, game, ME)
    cards = belief(rule_set, game, meant, ME, slot, known.trash, visible)
    last_life = game.errors == rule_set.max_errors - 1
    if cards & ~known.playable:
        chance = table.share(rule_set, game.unseen, cards, known.playable)
        return chance * GAMBLE if game.deck == 0 and not last_life else chance - 10
    if last_life and int(game.possible[ME, slot]) & visible & ~known.playable:
        return LAST_LIFE
    regains = cards & table.last_cards(rule_set) and game.clues < rule_set.max_clues
    return SURE_PLAY - LOWER * (lowest(cards) % rule_set.ranks) + (TOKEN_BACK if regains else 0)


@inline
def discard_worth(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, slot: int
) -> float:
    """A clue token, less what may be lost; a card that others hold, clued, is not."""
    cards = belief(rule_set, game, meant, ME, slot, known.trash, table.may_hold(rule_set, game, ME))
    worth = token(game, game.clues + 1) - NO_PACE * (table.pace(rule_set, game) <= 0)
    useful = cards & ~known.trash & ~clued(rule_set, game, meant, ME)
    if useful == 0:
        return worth + KNOWN_TRASH
    for card in range(rule_set.cards):
        if useful >> card & 1:
            chance = table.share(rule_set, game.unseen, cards, 1 << card)
            worth -= chance * loss(rule_set, known, 1 << card)
    return worth if slot == chop_of(game, meant, ME) else worth - NOT_CHOP
