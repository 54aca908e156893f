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
from hanamachi.games.hanabi import rules as rule
from hanamachi.games.hanabi import table
from hanamachi.games.hanabi.table import ME, Games
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
        super().__init__(variant, score, variant.rules)


@kernel
def score(
    rules: np.record, observations: Observations, masks: Masks, memory: Memory, scores: Scores
) -> None:
    games = np.zeros(rule.SEATS + 2, rule.RECORD)  # before each turn, now, and after a clue
    for b in range(len(masks)):
        meant, game = memory[b].reshape(rules.seats, rules.hand_size), games[rules.seats]
        table.lay_out_turns(rules, observations[b], games)
        read_turns(rules, games, meant)
        known = knowledge(rules, game, meant, ME, ME)
        for action in np.flatnonzero(masks[b]):
            kind, slot = rules.kind[action], rules.slot[action]
            if kind == rule.PLAY:
                scores[b, action] = play_worth(rules, game, known, meant, slot)
            elif kind == rule.DISCARD:
                scores[b, action] = discard_worth(rules, game, known, meant, slot)
        for seat in range(1, rules.seats):
            score_clues(rules, games, known, meant, seat, masks[b], scores[b])


# --- What clues mean


@inline
def read_turns(rules: np.record, games: Games, meant: Sets) -> None:
    """Every turn since my own last, in order."""
    now = games[rules.seats]
    for giver in range(rules.seats):
        if now.did[giver] == rule.CLUE:
            seat, trait, touched = now.told[giver], now.trait[giver], now.touched[giver]
            both = knowledge(rules, games[giver], meant, giver, seat)
            read_clue(rules, games[giver], both, meant, seat, trait, touched)
        elif now.did[giver] != rule.NONE:
            let_go(meant[giver], now.slot[giver])


@inline
def read_clue(
    rules: np.record, game: np.record, both: Known, meant: Sets, seat: int, trait: int, touched: int
) -> None:
    chop = chop_of(game, meant, seat)
    focus = focus_of(game, meant, seat, touched)
    for slot in range(game.held[seat]):
        cards = table.everything(rules) & ~both.trash
        if slot == focus:
            cards = both.soon & ~both.promised
            if slot == chop:
                cards |= worth_saving(rules, both, trait)
        if touched >> slot & 1:
            before = int(meant[seat, slot])
            cards = cards & before if cards & before else cards
            meant[seat, slot] = cards if cards else table.everything(rules)


@inline
def focus_of(game: np.record, meant: Sets, seat: int, touched: int) -> int:
    """The chop, else the newest card touched for the first time, else the newest touched."""
    chop = chop_of(game, meant, seat)
    if chop != rule.NONE and touched >> chop & 1:
        return chop
    focus, first_time = rule.NONE, False
    for slot in range(game.held[seat]):
        if touched >> slot & 1 and (meant[seat, slot] == 0 or not first_time):
            focus, first_time = slot, meant[seat, slot] == 0
    return focus


@inline
def worth_saving(rules: np.record, known: Known, trait: int) -> int:
    """Critical cards, 5s only by their rank, and 2s by theirs."""
    cards = int(rules.cards_with[trait])
    if trait == rules.suits + 1:
        return cards & ~known.trash
    return cards & known.critical & ~(table.last_cards(rules) if trait < rules.suits else 0)


# --- Common knowledge


@inline
def agreed(rules: np.record, game: np.record, meant: Sets, seat: int, slot: int, dead: int) -> int:
    """What a card can be by clues and what they mean, unless that contradicts itself."""
    possible = int(game.possible[seat, slot])
    cards = possible & int(meant[seat, slot])
    if cards & ~dead:
        return cards & ~dead
    return cards if cards else possible


@inline
def knowledge(rules: np.record, game: np.record, meant: Sets, giver: int, receiver: int) -> Known:
    playable, critical = table.next_cards(rules, game.fireworks), table.critical(rules, game)
    nothing = Known(playable, 0, playable, table.trash(rules, game), critical)
    return with_promises(rules, game, nothing, meant, giver, receiver)


@inline
def with_promises(
    rules: np.record, game: np.record, known: Known, meant: Sets, giver: int, receiver: int
) -> Known:
    """With the plays that giver and receiver both see coming: each may allow the next."""
    promised, soon, found = 0, known.playable, 1
    while found:
        found = 0
        for seat in range(rules.seats):
            seen = seat != ME and seat != giver and seat != receiver
            found |= known_plays(rules, game, meant, seat, soon, known.trash, seen) & ~promised
        promised |= found
        soon |= (found & ~table.last_cards(rules)) << 1
    return Known(known.playable, promised, soon, known.trash, known.critical)


@inline
def known_plays(
    rules: np.record, game: np.record, meant: Sets, seat: int, soon: int, dead: int, seen: bool
) -> int:
    """The clued cards of a hand that its owner takes for playable, as far as they are known."""
    plays = 0
    for slot in range(game.held[seat]):
        if meant[seat, slot]:
            cards = agreed(rules, game, meant, seat, slot, dead)
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
def clued(rules: np.record, game: np.record, meant: Sets, but: int) -> int:
    """The clued cards of all hands but one, as far as I know them."""
    cards = 0
    for seat in range(rules.seats):
        for slot in range(game.held[seat]):
            if meant[seat, slot] and seat != but:
                could = agreed(rules, game, meant, seat, slot, 0)
                cards |= identity(game, could, seat, slot, seat != ME)
    return cards


# --- What a hand promises


@inline
def score_clues(
    rules: np.record, games: Games, known: Known, meant: Sets, seat: int, mask: Any, scores: Any
) -> None:
    """What a hand promises more than before, less a clue token, for each clue to its owner."""
    now, both = games[rules.seats], with_promises(rules, games[rules.seats], known, meant, ME, seat)
    before = promise(rules, now, known, meant, seat)
    for action in np.flatnonzero(mask):
        if rules.offset[action] == seat:
            then = meant.copy()
            known_then = clue_read(rules, games, both, then, seat, rules.trait[action])
            gain = promise(rules, games[rules.seats + 1], known_then, then, seat) - before
            gain = gain * (FURTHER if seat > 1 else 1.0) - token(now, now.clues)
            scores[action] = gain + (now.clues == rules.max_clues) * MUST_CLUE


@inline
def clue_read(
    rules: np.record, games: Games, both: Known, meant: Sets, seat: int, trait: int
) -> Known:
    """Give a clue in a copy of the game, and read it as its receiver is expected to."""
    now, after = games[rules.seats], games[rules.seats + 1]
    games[rules.seats + 1] = now
    rule.give_clue(rules, after, seat, trait)
    read_clue(rules, now, both, meant, seat, trait, after.touched[ME])
    return with_promises(rules, after, both, meant, ME, ME)  # a clue changes nothing else


@inline
def token(game: np.record, number: int) -> float:
    """What the clue token of this number is worth."""
    return (TOKEN - USED * number + SCARCE * (number <= 1)) * min(1.0, game.deck / LATE)


@inline
def promise(rules: np.record, game: np.record, known: Known, meant: Sets, seat: int) -> float:
    """Plays to come and cards kept, less mistakes to come and the danger that the chop is in."""
    total, busy = 0.0, False
    fates = np.zeros(rule.HAND, np.int64)
    taken = read_hand(rules, game, known, meant, seat, fates)
    for slot in range(game.held[seat]):
        busy |= PLAYED <= fates[slot] <= LOST
        total += WORTH[fates[slot]]
        if fates[slot] == LOST:
            total -= loss(rules, known, 1 << int(game.hand[seat, slot]))
    chop = chop_of(game, meant, seat)
    if chop != rule.NONE and not taken >> int(game.hand[seat, chop]) & 1:
        danger = (NEXT if seat == 1 else OTHERS) * (BUSY if busy else 1.0)
        total -= danger * loss(rules, known, 1 << int(game.hand[seat, chop]))
    return total


@inline
def read_hand(
    rules: np.record, game: np.record, known: Known, meant: Sets, seat: int, fates: Fates
) -> int:
    """What becomes of each card; returns the clued cards of all hands."""
    taken, visible = clued(rules, game, meant, seat), table.may_hold(rules, game, seat)
    for slot in range(game.held[seat]):
        card = 1 << int(game.hand[seat, slot])
        cards = belief(rules, game, meant, seat, slot, known.trash, visible)
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
    rules: np.record, game: np.record, meant: Sets, seat: int, slot: int, dead: int, visible: int
) -> int:
    cards = agreed(rules, game, meant, seat, slot, dead)
    return cards & visible if cards & visible else int(game.possible[seat, slot]) & visible


@inline
def loss(rules: np.record, known: Known, card: int) -> float:
    """Points that go with a card."""
    rank = lowest(card) % rules.ranks
    if card & known.trash:
        return 0.0
    if card & known.critical:
        return CRITICAL + RANK * (rules.ranks - rank)
    if card & known.playable:
        return PLAYABLE
    return TWO if rank == 1 else ANY


# --- My own cards


@inline
def play_worth(rules: np.record, game: np.record, known: Known, meant: Sets, slot: int) -> float:
    visible = table.may_hold(rules, game, ME)
    cards = belief(rules, game, meant, ME, slot, known.trash, visible)
    last_life = game.errors == rules.max_errors - 1
    if cards & ~known.playable:
        chance = table.share(rules, game.unseen, cards, known.playable)
        return chance * GAMBLE if game.deck == 0 and not last_life else chance - 10
    if last_life and int(game.possible[ME, slot]) & visible & ~known.playable:
        return LAST_LIFE
    regains = cards & table.last_cards(rules) and game.clues < rules.max_clues
    return SURE_PLAY - LOWER * (lowest(cards) % rules.ranks) + (TOKEN_BACK if regains else 0)


@inline
def discard_worth(rules: np.record, game: np.record, known: Known, meant: Sets, slot: int) -> float:
    """A clue token, less what may be lost; a card that others hold, clued, is not."""
    cards = belief(rules, game, meant, ME, slot, known.trash, table.may_hold(rules, game, ME))
    worth = token(game, game.clues + 1) - NO_PACE * (table.pace(rules, game) <= 0)
    useful = cards & ~known.trash & ~clued(rules, game, meant, ME)
    if useful == 0:
        return worth + KNOWN_TRASH
    for card in range(rules.cards):
        if useful >> card & 1:
            chance = table.share(rules, game.unseen, cards, 1 << card)
            worth -= chance * loss(rules, known, 1 << card)
    return worth if slot == chop_of(game, meant, ME) else worth - NOT_CHOP
