"""Feature sets of Hanabi: the probabilities of each slot's card, by clues or by a convention.

Both sets describe every slot, mine first and then the others' clockwise: the probability of each
card, and that it is playable, trash or critical. Copies that both the owner and I see are excluded,
so for another player's slot this is what its owner can conclude, as far as I know. `convention`
also says what each clue would change if I gave it, so that a network can choose clues before it has
learned to read them.

Digests of checkpoints cover the names and words of the layouts, so these never change.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout, Segment
from hanamachi.games.hanabi import rules
from hanamachi.games.hanabi.information import count_among
from hanamachi.games.hanabi.rules import write_bits
from hanamachi.policies.arrays import Memory, Observations
from hanamachi.policies.features.base import CompiledFeatures
from hanamachi.policies.rules.hanabi_expert import (
    FATE_VALUES,
    OPEN,
    Known,
    clue_read,
    clued_elsewhere,
    knowledge,
    loss,
    possible_cards,
    read_hand,
    read_turns,
    with_promises,
)
from hanamachi.policies.rules.hanabi_from_observation import (
    ME,
    Games,
    critical,
    in_hand,
    lay_out,
    lay_out_turns,
    may_hold,
    next_cards,
    trash,
)
from hanamachi.policies.rules.hanabi_memory import Sets, chop_of, memory_size

GROUPS = 3  # of cards, see Groups
SIGNS = 5  # features of what a card means to its owner
TRUTHS = 6  # features of a card that I see
KNOWN_SETS = len(Known._fields)
PROBABILITIES = "the chance of each card, and that it is playable, trash, critical"
CLUE_EFFECTS = len(FATE_VALUES)  # features of a possible clue: every fate but OPEN, and the chop

Row = NDArray[np.float32]  # the features of one observation, (F,), or the part not yet written
Groups = tuple[int, int, int]  # the sets of playable, trash and critical cards


class CardBeliefs(CompiledFeatures):
    """The probabilities of each slot's card, given its clues and the cards that both see."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, card_beliefs_layout(variant.rule_set), write_card_beliefs)


class Convention(CompiledFeatures):
    """The clues so far, and each possible next clue, as the convention player `expert` reads them.

    The memory is the same as the expert's: the cards that each clued card is meant to be.
    """

    def __init__(self, variant: Variant) -> None:
        rule_set = variant.rule_set
        layout, size = convention_layout(rule_set), memory_size(rule_set)
        super().__init__(variant, layout, write_convention, size)


def fractions(name: str, size: int, about: str) -> Segment:
    """Probabilities or shares, and signs that are 0 or 1."""
    return Segment(name, size, 0, 1, about, fraction=True)


def card_beliefs_layout(rule_set: np.record) -> Layout:
    """The layout of `CardBeliefs`."""
    mine, theirs = hands_of(rule_set)
    each = int(rule_set.cards) + GROUPS
    return Layout(
        (
            fractions("my chances", mine * each, f"of each slot: {PROBABILITIES}"),
            fractions("their chances", theirs * each, "the same, of the others"),
        ),
        blocks=(("slot", "my chances"),),
    )


def convention_layout(rule_set: np.record) -> Layout:
    """The layout of `Convention`."""
    mine, theirs = hands_of(rule_set)
    cards = int(rule_set.cards)
    each = cards + GROUPS + SIGNS
    clues = int(rule_set.traits) * (int(rule_set.seats) - 1)
    signs = "clued, the chop, surely playable, playable now or later, surely trash"
    truths = (
        "what its owner can take it for, playable, playable soon, trash, critical, clued elsewhere"
    )
    known = "cards that are playable, promised, playable soon, trash, critical"
    changes = CLUE_EFFECTS * clues
    bound = max(mine, 3)  # of changes: cards of a hand, or the loss with one card
    effects = (
        "how many more cards its receiver plays, plays wrongly, discards, discards wrongly, keeps "
        "for another, keeps as trash or a twin, keeps for later, keeps, knows; and how much more "
        "would be lost with his chop"
    )
    return Layout(
        (
            fractions("my reading", mine * each, f"of each slot: {PROBABILITIES}; {signs}"),
            fractions("their reading", theirs * each, "the same, of the others"),
            Segment("truth", theirs * TRUTHS, 0, 1, f"of their slots: the card is {truths}"),
            Segment("known", KNOWN_SETS * cards, 0, 1, known),
            Segment("prospects", changes, -bound, bound, f"by each clue: {effects}", fraction=True),
        ),
        blocks=(("slot", "my reading"), ("clue", "prospects")),
    )


def hands_of(rule_set: np.record) -> tuple[int, int]:
    """The number of my slots, and of all others' together."""
    size = int(rule_set.hand_size)
    return size, size * (int(rule_set.seats) - 1)


# --- By clues


@kernel
def write_card_beliefs(
    tables: NDArray[Any], observations: Observations, memory: Memory, features: Observations
) -> None:
    """Write the features of `CardBeliefs`; there is no memory."""
    rule_set = tables[0]
    games = np.zeros(1, rules.RECORD)  # a record does not keep its array alive
    each = rule_set.cards + GROUPS
    for b in range(len(observations)):
        game = games[0]
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
                write_probabilities(rule_set, copies, cards, groups, left[slot * each :])
            left = rest_of(left, rule_set.hand_size * each)
        assert len(left) == 0


@inline
def rest_of(row: Row, written: int) -> Row:
    """The rest of a row after the entries that have been written; the layout has room for these."""
    assert written <= len(row)
    return row[written:]


@inline
def unseen_by_both(rule_set: np.record, game: np.record, seat: int) -> NDArray[np.int64]:
    """Copies of each card that neither the seat nor I see: in the deck, its hand or mine."""
    copies = np.zeros(rule_set.cards, np.int64)
    copies += game.unseen[: rule_set.cards]
    if seat != ME:
        for slot in range(game.held[seat]):
            copies[game.hand[seat, slot]] += 1
    return copies


@inline
def write_probabilities(
    rule_set: np.record, copies: NDArray[np.int64], cards: int, groups: Groups, out: Row
) -> None:
    """Write the probability of each card in a slot, and of each group of cards."""
    total = max(count_among(rule_set, copies, cards), 1)
    for card in range(rule_set.cards):
        out[card] = copies[card] * (cards >> card & 1) / total
    for i in range(GROUPS):
        out[rule_set.cards + i] = count_among(rule_set, copies, cards & groups[i]) / total


# --- By convention


@kernel
def write_convention(
    tables: NDArray[Any], observations: Observations, memory: Memory, features: Observations
) -> None:
    """Write the features of `Convention` and update the memory."""
    rule_set = tables[0]
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
        left = write_clue_effects(rule_set, games, known, meant, left)
        assert len(left) == 0


@inline
def write_readings(
    rule_set: np.record, game: np.record, known: Known, meant: Sets, left: Row
) -> Row:
    """Write what every card means to its owner; returns the rest of the row."""
    each = rule_set.cards + GROUPS + SIGNS
    groups = known.playable, known.trash, known.critical
    for seat in range(rule_set.seats):
        copies, visible = unseen_by_both(rule_set, game, seat), may_hold(rule_set, game, seat)
        chop = chop_of(game, meant, seat)
        for slot in range(game.held[seat]):
            cards = possible_cards(rule_set, game, meant, seat, slot, known.trash, visible)
            write_probabilities(rule_set, copies, cards, groups, left[slot * each :])
            signs = left[slot * each + rule_set.cards + GROUPS :]
            signs[0] = meant[seat, slot] != 0
            signs[1] = slot == chop
            signs[2] = cards & ~known.playable == 0
            signs[3] = cards & ~known.soon == 0
            signs[4] = cards & ~known.trash == 0
        left = rest_of(left, rule_set.hand_size * each)
    return left


@inline
def write_truths(rule_set: np.record, game: np.record, known: Known, meant: Sets, left: Row) -> Row:
    """Write what I know of the others' cards; returns the rest of the row."""
    for seat in range(1, rule_set.seats):
        visible = may_hold(rule_set, game, seat)
        taken = clued_elsewhere(rule_set, game, meant, seat)
        for slot in range(game.held[seat]):
            cards = possible_cards(rule_set, game, meant, seat, slot, known.trash, visible)
            card = 1 << int(game.hand[seat, slot])
            truths = (cards, known.playable, known.soon, known.trash, known.critical, taken)
            for i in range(TRUTHS):
                left[slot * TRUTHS + i] = card & truths[i] != 0
            if meant[seat, slot]:
                taken |= card
        left = rest_of(left, rule_set.hand_size * TRUTHS)
    return left


@inline
def write_known(rule_set: np.record, known: Known, left: Row) -> Row:
    """Write the sets taken for common knowledge; returns the rest of the row."""
    for i in range(KNOWN_SETS):
        write_bits(known[i], rule_set.cards, i * rule_set.cards, left)
    return rest_of(left, KNOWN_SETS * rule_set.cards)


@inline
def write_clue_effects(
    rule_set: np.record, games: Games, known: Known, meant: Sets, left: Row
) -> Row:
    """Write what each clue would change, in the order of actions, and 0 if it touches no card.

    Returns the rest of the row.
    """
    now, after = games[rule_set.seats], games[rule_set.seats + 1]
    receiver, both, before = ME, known, np.zeros(CLUE_EFFECTS)
    for action in range(rule_set.first[rules.CLUE], rule_set.first[rules.CLUE + 1]):
        seat, trait = rule_set.offset[action], rule_set.trait[action]
        if seat != receiver:
            receiver, both = seat, with_promises(rule_set, now, known, meant, ME, seat)
            before[:] = 0
            count_effects(rule_set, now, known, meant, seat, before)
        if in_hand(now, seat) & rule_set.cards_with[trait] or rule_set.empty_clues:
            then, changes = meant.copy(), -before
            known_then = clue_read(rule_set, games, both, then, seat, trait)
            count_effects(rule_set, after, known_then, then, seat, changes)
            for i in range(CLUE_EFFECTS):  # a loop, as to copy slices takes seconds to compile
                left[i] = changes[i]
        left = rest_of(left, CLUE_EFFECTS)
    return left


@inline
def count_effects(
    rule_set: np.record,
    game: np.record,
    known: Known,
    meant: Sets,
    seat: int,
    counts: NDArray[np.float64],
) -> None:
    """Add the number of cards of a hand with each fate, and the loss with its chop."""
    fates = np.zeros(rules.HAND, np.int64)
    taken = read_hand(rule_set, game, known, meant, seat, fates)
    for slot in range(game.held[seat]):
        if fates[slot] != OPEN:
            counts[fates[slot] - 1] += 1
    chop = chop_of(game, meant, seat)
    if chop != rules.NONE and not taken >> int(game.hand[seat, chop]) & 1:
        counts[CLUE_EFFECTS - 1] += loss(rule_set, known, 1 << int(game.hand[seat, chop]))
