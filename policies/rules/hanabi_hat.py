"""Hat: the information strategy of hat guessing, for three to five players.

All players see all hands except their own, so one number can inform all of them. In each hand one
slot is the target, and the cards that it can hold by common knowledge are put into classes. A clue
encodes the sum of the classes of all hands but the giver's, modulo how many numbers a clue can
encode. Each player subtracts the classes that it sees, which leaves its own. The receiver of the
clue and one of three readings encode the number: the clue names the rank of the receiver's oldest
card, or its colour, or does not touch it (after Cox, De Silva, DeOrsey, Kenter, Retter and Tobin,
2015).

Three players can encode six numbers in this way, too few for one card. So each hand has two
targets: of the first the number says whether it is playable, and of the second which of three
classes it is in, or of four. And three players send more numbers, the first two as the players of
Wu's hanabi.rs do:

- Where all know that the receiver's cards differ in rank and in colour, a clue of a rank that does
  not touch the oldest card and one of such a colour are two readings.
- A player with several slots that all know to be trash encodes a number by the one that is
  discarded.
- So does a player with several slots that all know to be playable, by the one that is played.

The memory holds the cards that common knowledge rules out for each slot, by clues and by sums.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.bit_sets import count, lowest
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.hanabi import rules
from hanamachi.policies.arrays import Masks, Memory, Observations, Scores
from hanamachi.policies.rules.hanabi_from_observation import (
    ME,
    Games,
    critical,
    everything,
    in_hand,
    lay_out_turns,
    may_hold,
    next_cards,
    pace,
    share,
    trash,
)
from hanamachi.policies.rules.hanabi_memory import RememberingPolicy, Sets, remove_slot

FEWEST = 3  # players
TARGETS = 2  # in a hand, at most
CLASSES = np.ones((13, TARGETS), np.int64)  # of each target, by how many numbers; 1: no target
CLASSES[2:6] = [2, 1], [3, 1], [2, 2], [5, 1]  # by the choice of one of 2 to 5 slots
CLASSES[6:9] = [2, 3], [2, 3], [2, 4]  # by a clue, with three players
CLASSES[[9, 12], 0] = 9, 12  # with four, with five
READINGS = 3  # of a clue, for each possible receiver; a fourth for those whose cards differ
RANK_OF_OLDEST, COLOUR_OF_OLDEST, NOT_OLDEST, COLOUR_NOT_OLDEST = range(READINGS + 1)

# the score of an action, by its best reason; less than 1 is added or subtracted
PLAYABLE, GAMBLE, FIRST_TRASH, CLUE, TRASH, DISCARD, RISK, WRONG_SUM = 8, 7, 6, 5, 4, 3, 0, -1
FIRST = 5  # until this many discards, trash is discarded before a clue is given
GAMBLE_AT = np.array([1.0, 0.95, 0.8])  # the probability to gamble at, by spare lives
RULED_OUT = 0.01  # score for each card that a clue itself rules out
CRITICAL, USEFUL = 2.2, 0.7  # value of a card to keep
UNCERTAINTY = 0.01  # added for each card that a slot can hold, when the target is chosen


class Common(NamedTuple):
    """What all players know."""

    possible: Sets  # (P, H) the cards that each slot can hold
    left: NDArray[np.int64]  # (C * R,) copies in hands or in the deck
    playable: int
    trash: int
    apart: int  # the seats whose cards differ in rank and in colour, a bit each


class Signal(NamedTuple):
    """What an action encodes: a number below `numbers`, which says nothing if `numbers` is 1."""

    number: int
    numbers: int


class Hat(RememberingPolicy):
    name = "hat"

    def __init__(self, variant: Variant) -> None:
        """UserError for two players."""
        check_players(variant)
        super().__init__(variant, score, variant.rule_set_array)


def check_players(variant: Variant) -> None:
    if variant.seats < FEWEST:
        raise UserError(
            f"hat needs at least three players: choose hanabi:3p, 4p or 5p, not {variant.id}"
        )


@kernel
def score(
    tables: NDArray[Any], observations: Observations, masks: Masks, memory: Memory, scores: Scores
) -> None:
    rule_set = tables[0]
    games = np.zeros(rules.SEATS + 1, rules.RECORD)
    for b in range(len(masks)):
        ruled_out = memory[b].reshape(rule_set.seats, rule_set.hand_size)
        game = games[rule_set.seats]
        common = conclude(rule_set, observations[b], games, ruled_out)
        number = right_number(rule_set, game, common)
        for action in np.flatnonzero(masks[b]):
            kind, slot = rule_set.kind[action], rule_set.slot[action]
            if kind == rules.PLAY:
                scores[b, action] = play_score(rule_set, game, common, slot)
            elif kind == rules.DISCARD:
                scores[b, action] = discard_score(rule_set, game, common, slot)
            else:
                seat, trait = rule_set.offset[action], rule_set.trait[action]
                scores[b, action] = clue_score(rule_set, game, common, number, seat, trait)


# --- Common knowledge


@inline
def conclude(rule_set: np.record, observation: Any, games: Games, ruled_out: Sets) -> Common:
    """What all players know now; updates the memory, `ruled_out`.

    `games` gets the positions before each turn since my last one, and then the current one.
    """
    lay_out_turns(rule_set, observation, games)
    read_turns(rule_set, games, ruled_out)
    return common_knowledge(rule_set, games[rule_set.seats], ruled_out)


@inline
def read_turns(rule_set: np.record, games: Games, ruled_out: Sets) -> None:
    """Read every turn since my last one, in order."""
    now = games[rule_set.seats]
    for actor in range(rule_set.seats):
        game, did, slot = games[actor], now.did[actor], now.slot[actor]
        if did == rules.CLUE:
            common = common_knowledge(rule_set, game, ruled_out)
            seat, trait, touched = now.told[actor], now.trait[actor], now.touched[actor]
            number = number_of_clue(rule_set, common, actor, seat, trait, touched)
            signal = Signal(number, numbers_of_clue(rule_set, common, actor))
            read_signal(rule_set, game, common, ruled_out, actor, signal)
            read_clue(rule_set, ruled_out[seat], trait, touched)
        elif did != rules.NONE:
            if sends_more(rule_set):
                common = common_knowledge(rule_set, game, ruled_out)
                signal = signal_of_choice(rule_set, game, common, actor, did, slot)
                read_signal(rule_set, game, common, ruled_out, actor, signal)
            remove_slot(ruled_out[actor], slot)


@inline
def read_clue(rule_set: np.record, ruled_out: Any, trait: int, touched: int) -> None:
    """Rule out cards in the receiver's slots by what the clue says."""
    cards = int(rule_set.cards_with[trait])
    for slot in range(rule_set.hand_size):
        ruled_out[slot] |= everything(rule_set) & ~cards if touched >> slot & 1 else cards


@inline
def read_signal(
    rule_set: np.record,
    game: np.record,
    common: Common,
    ruled_out: Sets,
    actor: int,
    signal: Signal,
) -> None:
    """Rule out cards by the classes: the sum gives mine, and I see those of the others."""
    number, numbers = signal
    mine = (number - sum_of_answers(rule_set, game, common, actor, numbers)) % numbers
    for seat in range(rule_set.seats):
        if seat != actor:
            answer = mine if seat == ME else answer_of(rule_set, game, common, seat, numbers)
            for place in range(TARGETS):
                classes = CLASSES[numbers, place]
                slot = target_slot(rule_set, game, common, seat, place, numbers)
                if slot != rules.NONE:
                    cards = common.possible[seat, slot]
                    for card in range(rule_set.cards):
                        if class_of(common, cards, card, classes) != answer % classes:
                            ruled_out[seat, slot] |= 1 << card
                answer //= classes


@inline
def common_knowledge(rule_set: np.record, game: np.record, ruled_out: Sets) -> Common:
    """The cards that each slot can hold; a card without a copy left is ruled out."""
    possible = np.zeros((rule_set.seats, rule_set.hand_size), np.int64)
    left, available, apart = np.zeros(rule_set.cards, np.int64), 0, 0
    for card in range(rule_set.cards):
        shown = card % rule_set.ranks < game.fireworks[card // rule_set.ranks]
        left[card] = rule_set.copies[card] - game.discards[card] - shown
        available |= (left[card] > 0) << card
    for seat in range(rule_set.seats):
        for slot in range(game.held[seat]):
            possible[seat, slot] = available & ~ruled_out[seat, slot]
        if sends_more(rule_set):
            apart |= surely_differ(rule_set, possible[seat, : game.held[seat]]) << seat
    playable = next_cards(rule_set, game.fireworks)
    return Common(possible, left, playable, trash(rule_set, game), apart)


# --- What actions encode


@inline
def sends_more(rule_set: np.record) -> bool:
    """Whether clues have a fourth reading, and what is played or discarded encodes a number, too.

    Four and five players have numbers enough without.
    """
    return bool(rule_set.seats == FEWEST)


@inline
def surely_differ(rule_set: np.record, hand: NDArray[np.int64]) -> bool:
    """Whether cards of a hand differ in rank, and some in colour, whatever its slots hold."""
    same_colour = may_share(rule_set, hand, 0, rule_set.suits)
    same_rank = may_share(rule_set, hand, rule_set.suits, rule_set.traits)
    return not (same_colour or same_rank)


@inline
def may_share(rule_set: np.record, hand: NDArray[np.int64], first: int, end: int) -> bool:
    """Whether all slots can hold cards with the same trait, one from `first` to before `end`."""
    shared = False
    for trait in range(first, end):
        by_all = True
        for cards in hand:
            by_all &= cards & rule_set.cards_with[trait] != 0
        shared |= by_all
    return shared


@inline
def number_of_clue(
    rule_set: np.record, common: Common, giver: int, seat: int, trait: int, touched: int
) -> int:
    """The number that a clue encodes: the receivers after the giver have theirs in turn."""
    first = 0
    for i in range(1, (seat - giver) % rule_set.seats):
        first += READINGS + (common.apart >> (giver + i) % rule_set.seats & 1)
    by_colour = trait < rule_set.suits
    if touched & 1:
        return first + (COLOUR_OF_OLDEST if by_colour else RANK_OF_OLDEST)
    fourth = by_colour and common.apart >> seat & 1
    return first + (COLOUR_NOT_OLDEST if fourth else NOT_OLDEST)


@inline
def numbers_of_clue(rule_set: np.record, common: Common, giver: int) -> int:
    """How many numbers a clue can encode."""
    return (rule_set.seats - 1) * READINGS + count(common.apart & ~(1 << giver))


@inline
def signal_of_choice(
    rule_set: np.record, game: np.record, common: Common, actor: int, did: int, chosen: int
) -> Signal:
    """Which slot is played, or discarded, of those that all know to be playable, or trash.

    A slot that strangers have left without any card counts as both.
    """
    number = numbers = 0
    wanted = common.playable if did == rules.PLAY else common.trash
    if not sends_more(rule_set) or common.possible[actor, chosen] & ~wanted:
        return Signal(0, 1)
    for slot in range(game.held[actor]):
        if common.possible[actor, slot] & ~wanted == 0:
            number += slot < chosen
            numbers += 1
    return Signal(number, numbers)


@inline
def right_number(rule_set: np.record, game: np.record, common: Common) -> int:
    """What a clue of mine should encode."""
    return sum_of_answers(rule_set, game, common, ME, numbers_of_clue(rule_set, common, ME))


@inline
def is_right_choice(
    rule_set: np.record, game: np.record, common: Common, did: int, slot: int
) -> bool:
    """Whether to play or discard this slot of mine encodes what it should, or nothing."""
    number, numbers = signal_of_choice(rule_set, game, common, ME, did, slot)
    return numbers == 1 or number == sum_of_answers(rule_set, game, common, ME, numbers)


@inline
def sum_of_answers(
    rule_set: np.record, game: np.record, common: Common, actor: int, numbers: int
) -> int:
    """The sum over the hands that both the actor and I see."""
    total = 0
    for seat in range(rule_set.seats):
        if seat != actor and seat != ME:
            total += answer_of(rule_set, game, common, seat, numbers)
    return total % numbers


@inline
def answer_of(rule_set: np.record, game: np.record, common: Common, seat: int, numbers: int) -> int:
    """The classes of the targets in a hand, as one number."""
    answer, unit = 0, 1
    for place in range(TARGETS):
        classes = CLASSES[numbers, place]
        slot = target_slot(rule_set, game, common, seat, place, numbers)
        if slot != rules.NONE:
            cards, card = common.possible[seat, slot], int(game.hand[seat, slot])
            answer += unit * class_of(common, cards, card, classes)
        unit *= classes
    return answer


@inline
def target_slot(
    rule_set: np.record, game: np.record, common: Common, seat: int, place: int, numbers: int
) -> int:
    """A slot likely to hold a playable card, among those with something left to learn.

    The first target is the likeliest, the second the next one.
    """
    target, taken = rules.NONE, 0
    if CLASSES[numbers, place] == 1:
        return target
    for _ in range(place + 1):
        target, highest = rules.NONE, 0.0
        for slot in range(game.held[seat]):
            cards = common.possible[seat, slot]
            settled = (
                cards & ~common.playable == 0 or cards & ~common.trash == 0 or count(cards) == 1
            )
            score = UNCERTAINTY * count(cards)
            score += share(rule_set, common.left, cards, common.playable)
            if not settled and taken >> slot & 1 == 0 and score > highest:
                target, highest = slot, score
        if target != rules.NONE:
            taken |= 1 << target
    return target


@inline
def class_of(common: Common, cards: int, card: int, classes: int) -> int:
    """The class of a card among those that a slot can hold.

    Trash is the first class, each playable card has one of its own, the others share the rest. With
    too few classes, playable cards share theirs; with two, the classes are playable and not.
    """
    if classes == 2:
        return common.playable >> card & 1
    below, useful = (1 << card) - 1, cards & ~common.trash
    first = int(cards != useful)
    if common.trash >> card & 1:
        return 0
    playable = count(useful & common.playable)
    own = min(playable, classes - 1 - first)
    if common.playable >> card & 1:
        index = count(useful & common.playable & below)
        return first + (index if own == playable else index % own)
    first += own
    return first + count(useful & ~common.playable & below) % (classes - first)


# --- Scores of my actions


@inline
def play_score(rule_set: np.record, game: np.record, common: Common, slot: int) -> float:
    """If it says what it should, low cards first; gambles if lives allow it, or at the end."""
    if not is_right_choice(rule_set, game, common, rules.PLAY, slot):
        return WRONG_SUM
    cards = candidates(rule_set, game, common, slot)
    probability = share(rule_set, game.unseen, cards, common.playable)
    spare = rule_set.max_errors - 1 - game.errors
    if probability == 1:
        return PLAYABLE + 1 / (1 + lowest(cards) % rule_set.ranks)
    last_chance = game.deck == 0 and spare > 0 and probability > 0
    if probability >= GAMBLE_AT[spare] or last_chance:
        return GAMBLE + probability
    return RISK + probability


@inline
def discard_score(rule_set: np.record, game: np.record, common: Common, slot: int) -> float:
    """If it says what it should: cards that nobody needs; else the least likely needed."""
    if not is_right_choice(rule_set, game, common, rules.DISCARD, slot):
        return WRONG_SUM
    cards = candidates(rule_set, game, common, slot)
    useless = common.trash
    for seat in range(1, rule_set.seats):
        useless |= in_hand(game, seat)
    if cards & ~useless == 0:
        early = game.discards[: rule_set.cards].sum() < FIRST and pace(rule_set, game) > 0
        return FIRST_TRASH if early else TRASH
    risk = CRITICAL * share(rule_set, game.unseen, cards, critical(rule_set, game))
    risk += USEFUL * share(rule_set, game.unseen, cards, everything(rule_set) & ~useless)
    return DISCARD - risk


@inline
def clue_score(
    rule_set: np.record, game: np.record, common: Common, number: int, seat: int, trait: int
) -> float:
    """Only a clue that says what it should is allowed; it is better the more it rules out."""
    touched, ruled_out = touched_and_ruled_out(rule_set, game, common, seat, trait)
    if number_of_clue(rule_set, common, ME, seat, trait, touched) != number:
        return WRONG_SUM
    return CLUE + RULED_OUT * ruled_out


@inline
def touched_and_ruled_out(
    rule_set: np.record, game: np.record, common: Common, seat: int, trait: int
) -> tuple[int, int]:
    """The slots that a clue touches, a bit each, and how many cards it rules out by itself."""
    touched = ruled_out = 0
    for slot in range(game.held[seat]):
        cards = int(rule_set.cards_with[trait])
        if cards >> int(game.hand[seat, slot]) & 1:
            touched |= 1 << slot
            cards = ~cards
        ruled_out += count(common.possible[seat, slot] & cards)
    return touched, ruled_out


@inline
def candidates(rule_set: np.record, game: np.record, common: Common, slot: int) -> int:
    """The cards that my slot can hold, by common knowledge and the hands that I see."""
    cards = common.possible[ME, slot] & may_hold(rule_set, game, ME)
    return cards if cards else may_hold(rule_set, game, ME)
