"""The feature set `hat` of Hanabi: what hat players conclude, and which moves say what they should.

It describes every slot, mine first and then the others' clockwise, as common knowledge has it after
all sums that moves have encoded, and whether each clue that I can give encodes the right sum. For
three players it adds the same about each card that I can play or discard.

Digests of checkpoints cover the names and words of the layout: a change of these makes the
checkpoints before it unreadable.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout, Segment
from hanamachi.games.hanabi import rules
from hanamachi.policies.arrays import Memory, Observations
from hanamachi.policies.features.base import CompiledFeatures
from hanamachi.policies.features.hanabi import (
    GROUPS,
    PROBABILITIES,
    Row,
    fractions,
    hands_of,
    rest_of,
    unseen_by_both,
    write_probabilities,
)
from hanamachi.policies.rules.hanabi_from_observation import ME, critical, may_hold
from hanamachi.policies.rules.hanabi_hat import (
    TARGETS,
    Common,
    check_players,
    conclude,
    is_right_choice,
    number_of_clue,
    numbers_of_clue,
    right_number,
    sends_more,
    target_slot,
    touched_and_ruled_out,
)
from hanamachi.policies.rules.hanabi_memory import memory_size

SIGNS = TARGETS + 2  # features of what a card means to its owner
TRUTHS = GROUPS  # features of a card that I see
CLUE_EFFECTS = 2  # features of a possible clue
CHOICES = 2  # features of a slot of mine: to play it, and to discard it


class HatReading(CompiledFeatures):
    """All slots and all possible clues, as the hat player `hat` reads them.

    The memory is the same as that of `hat`: the cards that are ruled out for each slot.
    """

    def __init__(self, variant: Variant) -> None:
        """UserError for two players."""
        check_players(variant)
        rule_set = variant.rule_set
        layout, size = hat_layout(rule_set), memory_size(rule_set)
        super().__init__(variant, layout, write_hat_reading, size)


def hat_layout(rule_set: np.record) -> Layout:
    """The layout of `HatReading`."""
    mine, theirs = hands_of(rule_set)
    each = int(rule_set.cards) + GROUPS + SIGNS
    clues = int(rule_set.traits) * (int(rule_set.seats) - 1)
    signs = "the first target, the second, surely playable, surely trash"
    effects = "it says the right number; the share of its receiver's cards that it rules out"
    segments = (
        fractions("my hat reading", mine * each, f"of each slot: {PROBABILITIES}; {signs}"),
        fractions("their hat reading", theirs * each, "the same, of the others"),
        Segment("true cards", theirs * TRUTHS, 0, 1, "each slot: playable, trash, critical"),
        fractions("sums", CLUE_EFFECTS * clues, f"by each clue: {effects}"),
    )
    blocks = ("slot", "my hat reading"), ("clue", "sums")
    if not sends_more(rule_set):
        return Layout(segments, blocks)
    right = "of each slot of mine: playing it says the right number, discarding it does"
    choices = Segment("choices", mine * CHOICES, 0, 1, right)
    return Layout((*segments, choices), (*blocks, ("slot", "choices")))


@kernel
def write_hat_reading(
    tables: NDArray[Any], observations: Observations, memory: Memory, features: Observations
) -> None:
    """Write the features of `HatReading` and update the memory."""
    rule_set = tables[0]
    games = np.zeros(rules.SEATS + 1, rules.RECORD)
    for b in range(len(observations)):
        ruled_out = memory[b].reshape(rule_set.seats, rule_set.hand_size)
        game = games[rule_set.seats]
        common = conclude(rule_set, observations[b], games, ruled_out)
        left = write_slots(rule_set, game, common, features[b])
        left = write_cards(rule_set, game, common, left)
        left = write_sums(rule_set, game, common, left)
        if sends_more(rule_set):
            left = write_choices(rule_set, game, common, left)
        assert len(left) == 0


@inline
def write_slots(rule_set: np.record, game: np.record, common: Common, left: Row) -> Row:
    """Write what every card can be to its owner; returns the rest of the row."""
    each = rule_set.cards + GROUPS + SIGNS
    groups = common.playable, common.trash, critical(rule_set, game)
    numbers = numbers_of_clue(rule_set, common, ME)
    for seat in range(rule_set.seats):
        copies, visible = unseen_by_both(rule_set, game, seat), may_hold(rule_set, game, seat)
        for slot in range(game.held[seat]):
            cards = common.possible[seat, slot] & visible
            cards = cards if cards else visible  # another player went astray
            write_probabilities(rule_set, copies, cards, groups, left[slot * each :])
            signs = left[slot * each + rule_set.cards + GROUPS :]
            for place in range(TARGETS):
                signs[place] = target_slot(rule_set, game, common, seat, place, numbers) == slot
            signs[TARGETS] = cards & ~common.playable == 0
            signs[TARGETS + 1] = cards & ~common.trash == 0
        left = rest_of(left, rule_set.hand_size * each)
    return left


@inline
def write_cards(rule_set: np.record, game: np.record, common: Common, left: Row) -> Row:
    """Write what I know of the others' cards; returns the rest of the row."""
    groups = common.playable, common.trash, critical(rule_set, game)
    for seat in range(1, rule_set.seats):
        for slot in range(game.held[seat]):
            for i in range(TRUTHS):
                left[slot * TRUTHS + i] = groups[i] >> int(game.hand[seat, slot]) & 1
        left = rest_of(left, rule_set.hand_size * TRUTHS)
    return left


@inline
def write_sums(rule_set: np.record, game: np.record, common: Common, left: Row) -> Row:
    """Write about each clue, in the order of actions, and 0 if it touches no card.

    Returns the rest of the row.
    """
    number, all_cards = right_number(rule_set, game, common), rule_set.hand_size * rule_set.cards
    for action in range(rule_set.first[rules.CLUE], rule_set.first[rules.CLUE + 1]):
        seat, trait = rule_set.offset[action], rule_set.trait[action]
        touched, ruled_out = touched_and_ruled_out(rule_set, game, common, seat, trait)
        if touched or rule_set.empty_clues:
            encoded = number_of_clue(rule_set, common, ME, seat, trait, touched)
            left[0] = encoded == number
            left[1] = ruled_out / all_cards
        left = rest_of(left, CLUE_EFFECTS)
    return left


@inline
def write_choices(rule_set: np.record, game: np.record, common: Common, left: Row) -> Row:
    """Write whether to play each slot of mine, and to discard it, says the right number.

    What encodes nothing is right. Returns the rest of the row.
    """
    for slot in range(game.held[ME]):
        for i, did in enumerate((rules.PLAY, rules.DISCARD)):
            left[slot * CHOICES + i] = is_right_choice(rule_set, game, common, did, slot)
    return rest_of(left, rule_set.hand_size * CHOICES)
