"""Feature sets of Hanabi: what each slot can hold by clues, and by what the clues mean.

Both say the same of every slot, me first and then the others clockwise: how likely each card is,
and how likely a playable, a useless and a critical one. Copies that both the owner and I see are
counted out; with others, that is what the owner can believe as far as I can know it. The second
also says what each clue would change if I gave it, so that a network need not learn to read clues
before it can choose one.
"""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout, Segment
from hanamachi.games.hanabi import rules
from hanamachi.games.hanabi.from_observation import (
    ME,
    Games,
    critical,
    lay_out,
    lay_out_turns,
    may_hold,
    next_cards,
    trash,
)
from hanamachi.games.hanabi.rules import write_bits
from hanamachi.policies.features.base import Compiled
from hanamachi.policies.policy import Memory, Observations
from hanamachi.policies.rules.hanabi_expert import (
    OPEN,
    WORTH,
    Known,
    belief,
    clue_read,
    clued,
    knowledge,
    loss,
    read_hand,
    read_turns,
    with_promises,
)
from hanamachi.policies.rules.hanabi_memory import Sets, chop_of

GROUPS = 3  # of cards, see Groups
SIGNS = 5  # of what a card means to its owner
TRUTHS = 6  # of a card that I see
KNOWN_SETS = len(Known._fields)
CHANCES = "the chance of each card, and that it is playable, trash, critical"
PROSPECTS = len(WORTH)  # of a clue that could be given: all fates but OPEN, and what the chop is

Row = NDArray[np.float32]  # the features of one observation, (F,), or what is left to write of them
Groups = tuple[int, int, int]  # the cards that are playable, trash and critical


class Belief(Compiled):
    """What each slot can be given its clues and the cards that its owner and I see."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, belief_layout(variant.rule_set), write_belief)


class Convention(Compiled):
    """What the convention player `expert` reads into the clues so far, and into the next one.

    The memory is his: the cards that each clued card is meant to be.
    """

    def __init__(self, variant: Variant) -> None:
        rule_set = variant.rule_set
        size = int(rule_set.seats * rule_set.hand_size)
        super().__init__(variant, convention_layout(rule_set), write_convention, size)


def belief_layout(rule_set: np.record) -> Layout:
    mine, theirs = hands_of(rule_set)
    each = int(rule_set.cards) + GROUPS
    return Layout(
        (
            Segment("my chances", mine * each, 0, 1, f"of each slot: {CHANCES}"),
            Segment("their chances", theirs * each, 0, 1, "the same, of the others"),
        ),
        blocks=(("slot", "my chances"),),
    )


def convention_layout(rule_set: np.record) -> Layout:
    mine, theirs = hands_of(rule_set)
    cards = int(rule_set.cards)
    each = cards + GROUPS + SIGNS
    clues = int(rule_set.traits) * (int(rule_set.seats) - 1)
    signs = "clued, the chop, surely playable, playable now or later, surely trash"
    truths = (
        "what its owner can take it for, playable, playable soon, trash, critical, clued elsewhere"
    )
    known = "cards that are playable, promised, playable soon, trash, critical"
    reach = max(mine, 3)  # cards of a hand, or what goes with one
    prospects = (
        "how many more cards its receiver plays, plays wrongly, discards, discards wrongly, keeps "
        "for another, keeps as trash or a twin, keeps for later, keeps, knows; and how much more "
        "would be lost with his chop"
    )
    return Layout(
        (
            Segment("my reading", mine * each, 0, 1, f"of each slot: {CHANCES}; {signs}"),
            Segment("their reading", theirs * each, 0, 1, "the same, of the others"),
            Segment("truth", theirs * TRUTHS, 0, 1, f"of their slots: the card is {truths}"),
            Segment("known", KNOWN_SETS * cards, 0, 1, known),
            Segment("prospects", PROSPECTS * clues, -reach, reach, f"by each clue: {prospects}"),
        ),
        blocks=(("slot", "my reading"), ("clue", "prospects")),
    )


def hands_of(rule_set: np.record) -> tuple[int, int]:
    """How many slots I have, and all others together."""
    size = int(rule_set.hand_size)
    return size, size * (int(rule_set.seats) - 1)


# --- By clues


@kernel
def write_belief(
    rule_set: np.record, observations: Observations, memory: Memory, features: Observations
) -> None:
    game = np.zeros(1, rules.RECORD)[0]
    each = rule_set.cards + GROUPS
    for b in range(len(observations)):
        lay_out(rule_set, observations[b], game)
        groups = (
            next_cards(rule_set, game.fireworks),
            trash(rule_set, game),
            critical(rule_set, game),
        )
        left = features[b]
        for seat in range(rule_set.seats):
            copies = unseen_by_both(rule_set, game, seat)
            for slot in range(game.held[seat]):
                cards = int(game.possible[seat, slot])
                write_chances(rule_set, copies, cards, groups, left[slot * each :])
            left = left[rule_set.hand_size * each :]


@inline
def unseen_by_both(rule_set: np.record, game: np.record, seat: int) -> NDArray[np.int64]:
    """Copies of each card that neither the seat nor I see: in the deck, in its hand or in mine."""
    copies = np.zeros(rule_set.cards, np.int64)
    copies += game.unseen[: rule_set.cards]
    if seat != ME:
        for slot in range(game.held[seat]):
            copies[game.hand[seat, slot]] += 1
    return copies


@inline
def write_chances(
    rule_set: np.record, copies: NDArray[np.int64], cards: int, groups: Groups, out: Row
) -> None:
    """How likely each of a slot's cards is, and a card of each group."""
    total = max(weight(rule_set, copies, cards), 1)
    for card in range(rule_set.cards):
        out[card] = copies[card] * (cards >> card & 1) / total
    for i in range(GROUPS):
        out[rule_set.cards + i] = weight(rule_set, copies, cards & groups[i]) / total


@inline
def weight(rule_set: np.record, copies: NDArray[np.int64], cards: int) -> int:
    """How many copies there are of some cards."""
    total = 0
    for card in range(rule_set.cards):
        total += copies[card] * (cards >> card & 1)
    return total


# --- By convention


@kernel
def write_convention(
    rule_set: np.record, observations: Observations, memory: Memory, features: Observations
) -> None:
    games = np.zeros(rules.SEATS + 2, rules.RECORD)  # before each turn, now, and after a clue
    for b in range(len(observations)):
        meant = memory[b].reshape(rule_set.seats, rule_set.hand_size)
        game = games[rule_set.seats]
        lay_out_turns(rule_set, observations[b], games)
        read_turns(rule_set, games, meant)
        known = knowledge(rule_set, game, meant, ME, ME)
        left = write_readings(rule_set, game, known, meant, features[b])
        left = write_truths(rule_set, game, known, meant, left)
        left = write_known(rule_set, known, left)
        write_prospects(rule_set, games, known, meant, left)


@inline
def write_readings(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, left: Row
) -> Row:
    """What every card means to its owner; returns what is left of the row."""
    each = rule_set.cards + GROUPS + SIGNS
    groups = known.playable, known.trash, known.critical
    for seat in range(rule_set.seats):
        copies, visible = unseen_by_both(rule_set, game, seat), may_hold(rule_set, game, seat)
        chop = chop_of(game, meant, seat)
        for slot in range(game.held[seat]):
            cards = belief(rule_set, game, meant, seat, slot, known.trash, visible)
            write_chances(rule_set, copies, cards, groups, left[slot * each :])
            signs = left[slot * each + rule_set.cards + GROUPS :]
            signs[0] = meant[seat, slot] != 0
            signs[1] = slot == chop
            signs[2] = cards & ~known.playable == 0
            signs[3] = cards & ~known.soon == 0
            signs[4] = cards & ~known.trash == 0
        left = left[rule_set.hand_size * each :]
    return left


@inline
def write_truths(rule_set: np.record, game: np.record, known: Known, meant: Sets, left: Row) -> Row:
    """What I know of the others' cards; returns what is left of the row."""
    for seat in range(1, rule_set.seats):
        visible, taken = may_hold(rule_set, game, seat), clued(rule_set, game, meant, seat)
        for slot in range(game.held[seat]):
            cards = belief(rule_set, game, meant, seat, slot, known.trash, visible)
            card = 1 << int(game.hand[seat, slot])
            truths = (cards, known.playable, known.soon, known.trash, known.critical, taken)
            for i in range(TRUTHS):
                left[slot * TRUTHS + i] = card & truths[i] != 0
            if meant[seat, slot]:
                taken |= card
        left = left[rule_set.hand_size * TRUTHS :]
    return left


@inline
def write_known(rule_set: np.record, known: Known, left: Row) -> Row:
    """The sets that are common knowledge; returns what is left of the row."""
    for i in range(KNOWN_SETS):
        write_bits(known[i], rule_set.cards, i * rule_set.cards, left)
    return left[KNOWN_SETS * rule_set.cards :]


@inline
def write_prospects(
    rule_set: np.record, games: Games, known: Known, meant: Sets, left: Row
) -> None:
    """What each clue would change, in the order of the actions; nothing if it touches no card."""
    now, after = games[rule_set.seats], games[rule_set.seats + 1]
    before = np.zeros((rule_set.seats, PROSPECTS))
    for seat in range(1, rule_set.seats):
        count_prospects(rule_set, now, known, meant, seat, before[seat])
    for action in range(rule_set.first[rules.CLUE], rule_set.first[rules.CLUE + 1]):
        seat, trait, then = rule_set.offset[action], rule_set.trait[action], meant.copy()
        both = with_promises(rule_set, now, known, meant, ME, seat)
        known_then = clue_read(rule_set, games, both, then, seat, trait)
        if after.touched[ME] or rule_set.empty_clues:
            changes = -before[seat]
            count_prospects(rule_set, after, known_then, then, seat, changes)
            left[:PROSPECTS] = changes
        left = left[PROSPECTS:]


@inline
def count_prospects(
    rule_set: np.record,
    game: np.record,
    known: Known,
    meant: Sets,
    seat: int,
    counts: NDArray[np.float64],
) -> None:
    """Add how many cards of a hand have each fate, and what would be lost with its chop."""
    fates = np.zeros(rules.HAND, np.int64)
    taken = read_hand(rule_set, game, known, meant, seat, fates)
    for slot in range(game.held[seat]):
        if fates[slot] != OPEN:
            counts[fates[slot] - 1] += 1
    chop = chop_of(game, meant, seat)
    if chop != rules.NONE and not taken >> int(game.hand[seat, chop]) & 1:
        counts[PROSPECTS - 1] += loss(rule_set, known, 1 << int(game.hand[seat, chop]))
