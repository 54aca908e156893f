"""Hat: the information strategy of hat guessing, for four and five players.

Everybody sees all hands but his own, so one number can tell everybody something. Of each hand one
card is asked about, and the cards that it can be, as all know, are put into classes. A clue
stands for the sum of the classes of all hands but the giver's, modulo the number of classes;
whoever gets it takes off the classes that he sees and is left with his own. The number is spelled
by who is told and by one of three readings: the clue tells the rank of his oldest card, or its
colour, or does not touch it (after Cox, De Silva, DeOrsey, Kenter, Retter and Tobin, 2015).

The memory holds the cards that common knowledge rules out for each slot, by words and by sums.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.sets import count, lowest
from hanamachi.errors import UserError
from hanamachi.games.hanabi import rules
from hanamachi.games.hanabi.from_observation import (
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
from hanamachi.policies.policy import Masks, Memory, Observations, Scores
from hanamachi.policies.rules.hanabi_memory import RememberingPolicy, Sets, let_go

READINGS = 3  # of a clue, for each player who may be told
RANK_OF_OLDEST, COLOUR_OF_OLDEST, NOT_OLDEST = range(READINGS)

# how good an action is, each by its best reason; less than 1 is added or taken off
PLAYABLE, GAMBLE, FIRST_TRASH, CLUE, TRASH, DISCARD, RISK, WRONG_SUM = 8, 7, 6, 5, 4, 3, 0, -1
FIRST = 5  # cards are discarded before clues come first
DARE = np.array([1.0, 0.95, 0.8])  # the chance at which a card is played, by lives left beside one
NEWS = 0.01  # worth of each card that the words of a clue rule out
CRITICAL, USEFUL = 2.2, 0.7  # worth of a card to keep
DOUBT = 0.01  # by how much it is better to ask about a slot, for each card that it can hold


class Common(NamedTuple):
    """What all players know."""

    could: Sets  # (P, H) the cards that each slot can hold
    left: NDArray[np.int64]  # (C * R,) copies that are in hands or in the deck
    playable: int
    trash: int


class Hat(RememberingPolicy):
    name = "hat"

    def __init__(self, variant: Variant) -> None:
        if variant.seats < 4:
            raise UserError(
                f"hat needs four or five players: choose hanabi:4p or hanabi:5p, not {variant.id}"
            )
        super().__init__(variant, score, variant.rule_set)


@kernel
def score(
    rule_set: np.record, observations: Observations, masks: Masks, memory: Memory, scores: Scores
) -> None:
    games = np.zeros(rules.SEATS + 1, rules.RECORD)
    for b in range(len(masks)):
        ruled_out = memory[b].reshape(rule_set.seats, rule_set.hand_size)
        game = games[rule_set.seats]
        lay_out_turns(rule_set, observations[b], games)
        read_turns(rule_set, games, ruled_out)
        common = common_knowledge(rule_set, game, ruled_out)
        number = sum_of_classes(rule_set, game, common, ME)
        for action in np.flatnonzero(masks[b]):
            kind, slot = rule_set.kind[action], rule_set.slot[action]
            if kind == rules.PLAY:
                scores[b, action] = play_worth(rule_set, game, common, slot)
            elif kind == rules.DISCARD:
                scores[b, action] = discard_worth(rule_set, game, common, slot)
            else:
                seat, trait = rule_set.offset[action], rule_set.trait[action]
                scores[b, action] = clue_worth(rule_set, game, common, number, seat, trait)


# --- Common knowledge


@inline
def read_turns(rule_set: np.record, games: Games, ruled_out: Sets) -> None:
    """Every turn since my own last, in order."""
    now = games[rule_set.seats]
    for giver in range(rule_set.seats):
        if now.did[giver] == rules.CLUE:
            seat, trait, touched = now.told[giver], now.trait[giver], now.touched[giver]
            number = spelled(rule_set, giver, seat, trait, touched)
            read_sum(rule_set, games[giver], ruled_out, giver, number)
            read_words(rule_set, ruled_out[seat], trait, touched)
        elif now.did[giver] != rules.NONE:
            let_go(ruled_out[giver], now.slot[giver])


@inline
def read_words(rule_set: np.record, ruled_out: Any, trait: int, touched: int) -> None:
    cards = int(rule_set.cards_with[trait])
    for slot in range(rule_set.hand_size):
        ruled_out[slot] |= everything(rule_set) & ~cards if touched >> slot & 1 else cards


@inline
def read_sum(
    rule_set: np.record, game: np.record, ruled_out: Sets, giver: int, number: int
) -> None:
    """All but the giver learn the class of their card, and see those of the others."""
    common = common_knowledge(rule_set, game, ruled_out)
    mine = (number - sum_of_classes(rule_set, game, common, giver)) % classes(rule_set)
    for seat in range(rule_set.seats):
        slot = slot_asked(rule_set, game, common, seat)
        if seat != giver and slot != rules.NONE:
            cards = common.could[seat, slot]
            held = int(game.hand[seat, slot])
            known = mine if seat == ME else class_of(rule_set, common, cards, held)
            for card in range(rule_set.cards):
                if class_of(rule_set, common, cards, card) != known:
                    ruled_out[seat, slot] |= 1 << card


@inline
def common_knowledge(rule_set: np.record, game: np.record, ruled_out: Sets) -> Common:
    """Of a card of which no copy is left for a slot, the slot holds none."""
    could = np.zeros((rule_set.seats, rule_set.hand_size), np.int64)
    left, some = np.zeros(rule_set.cards, np.int64), 0
    for card in range(rule_set.cards):
        shown = card % rule_set.ranks < game.fireworks[card // rule_set.ranks]
        left[card] = rule_set.copies[card] - game.discards[card] - shown
        some |= (left[card] > 0) << card
    for seat in range(rule_set.seats):
        for slot in range(game.held[seat]):
            could[seat, slot] = some & ~ruled_out[seat, slot]
    return Common(could, left, next_cards(rule_set, game.fireworks), trash(rule_set, game))


# --- Sums of classes


@inline
def classes(rule_set: np.record) -> int:
    """As many as there are ways to spell a number."""
    return (rule_set.seats - 1) * READINGS


@inline
def spelled(rule_set: np.record, giver: int, seat: int, trait: int, touched: int) -> int:
    """The number that a clue stands for."""
    reading = NOT_OLDEST
    if touched & 1:
        reading = COLOUR_OF_OLDEST if trait < rule_set.suits else RANK_OF_OLDEST
    return ((seat - giver) % rule_set.seats - 1) * READINGS + reading


@inline
def sum_of_classes(rule_set: np.record, game: np.record, common: Common, giver: int) -> int:
    """Of the hands that both the giver and I see."""
    total = 0
    for seat in range(rule_set.seats):
        slot = slot_asked(rule_set, game, common, seat)
        if seat != giver and seat != ME and slot != rules.NONE:
            cards, card = common.could[seat, slot], int(game.hand[seat, slot])
            total += class_of(rule_set, common, cards, card)
    return total % classes(rule_set)


@inline
def slot_asked(rule_set: np.record, game: np.record, common: Common, seat: int) -> int:
    """The slot most likely to hold a playable card, of those of which it is not settled."""
    asked, most = rules.NONE, 0.0
    for slot in range(game.held[seat]):
        cards = common.could[seat, slot]
        settled = cards & ~common.playable == 0 or cards & ~common.trash == 0 or count(cards) == 1
        doubt = DOUBT * count(cards) + share(rule_set, common.left, cards, common.playable)
        if not settled and doubt > most:
            asked, most = slot, doubt
    return asked


@inline
def class_of(rule_set: np.record, common: Common, cards: int, card: int) -> int:
    """Of the cards that it can be, trash is the first class, each playable one the next; the
    others are dealt out to the rest."""
    below, useful = (1 << card) - 1, cards & ~common.trash
    first = int(cards != useful)
    if common.trash >> card & 1:
        return 0
    if common.playable >> card & 1:
        return first + count(useful & common.playable & below)
    first += count(useful & common.playable)
    return first + count(useful & ~common.playable & below) % (classes(rule_set) - first)


# --- What I do


@inline
def play_worth(rule_set: np.record, game: np.record, common: Common, slot: int) -> float:
    """Low cards first; a gamble if lives allow it, and any in the final round."""
    cards = candidates(rule_set, game, common, slot)
    hope = share(rule_set, game.unseen, cards, common.playable)
    spare = rule_set.max_errors - 1 - game.errors
    if hope == 1:
        return PLAYABLE + 1 / (1 + lowest(cards) % rule_set.ranks)
    if hope >= DARE[spare] or (game.deck == 0 and spare > 0 and hope > 0):
        return GAMBLE + hope
    return RISK + hope


@inline
def discard_worth(rule_set: np.record, game: np.record, common: Common, slot: int) -> float:
    """What nobody needs, early or when nothing can be told; else what is least likely needed."""
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
def clue_worth(
    rule_set: np.record, game: np.record, common: Common, number: int, seat: int, trait: int
) -> float:
    """Only a clue that stands for the right number is true; the more its words tell, the better."""
    touched = news = 0
    for slot in range(game.held[seat]):
        told = int(rule_set.cards_with[trait])
        if told >> int(game.hand[seat, slot]) & 1:
            touched |= 1 << slot
            told = ~told
        news += count(common.could[seat, slot] & told)
    return (
        CLUE + NEWS * news if spelled(rule_set, ME, seat, trait, touched) == number else WRONG_SUM
    )


@inline
def candidates(rule_set: np.record, game: np.record, common: Common, slot: int) -> int:
    """What my card can be by common knowledge and the hands that I see."""
    cards = common.could[ME, slot] & may_hold(rule_set, game, ME)
    return cards if cards else may_hold(rule_set, game, ME)
