"""Hidden cards of Hanamikoji: deal them again, and replay the round in progress.

`world` and `game` are RECORDs, `rule_set` a RULE_SET; `foe` is the other seat.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.engine.random_numbers import below
from hanamachi.engine.words import number_at
from hanamachi.games.four_actions import SIZES
from hanamachi.games.hanamikoji.rules import (
    ACT,
    ANSWER_GIFT,
    COMPETITION,
    DEAL,
    DRAW,
    GEISHA,
    GIFT,
    NONE,
    SECRET,
    TAKE_CARD,
    TAKE_PAIR,
    TRADE_OFF,
    begin_round,
    cards_drawn,
    dealt_to,
    one,
    packed,
    player_of,
    unknown_to,
)

# --- What a player cannot see


@inline
def redeal(rule_set: np.record, world: np.record, seat: int) -> None:
    """Deal the foe's cards and the pile again, keeping all that `seat` has seen.

    Rejection sampling: propose a history by dealing blank cards and naming them. Each action of the
    foe takes random blanks of those held at the time; blanks that were offered get the names seen,
    the others unseen cards. A history with w ways to pick its cards is proposed w times too often,
    so accept it with probability 1/w. Each then comes up with the probability of its deal alone.
    """
    if world.mover >= 0:
        foe = 1 - seat
        unknown = np.empty(GEISHA, np.int8)
        for g in range(GEISHA):
            unknown[g] = number_at(unknown_to(rule_set, world, seat), g)
        slots = rule_set.hand_size + cards_drawn(world, foe)  # the foe's cards, in order of receipt
        name = np.empty(slots, np.int8)
        used_by = np.empty(slots, np.int8)  # the action that used it; NONE while in hand
        kept = False
        while not kept:
            play_blanks(rule_set, world, foe, name, used_by)
            name_blanks(world, unknown, name)
            place_cards(rule_set, world, foe, name, used_by)
            kept = below(world, ways_to_pick(rule_set, world, foe)) == 0


@inline
def action_of_turn(game: np.record, seat: int, turn: int) -> int:
    """The action that a seat used in its own turn (1 to K), or NONE."""
    for kind in range(4):
        if game.used_in[seat, kind] == turn:
            return kind
    return NONE


@inline
def offered(game: np.record, seat: int, kind: int, g: int) -> Any:
    """How many of a geisha's items an action showed to both players."""
    if kind == GIFT:
        return game.gift[seat, g]
    if kind == COMPETITION:
        return game.pairs[seat, 0, g] + game.pairs[seat, 1, g]
    return 0


@inline
def play_blanks(
    rule_set: np.record,
    world: np.record,
    foe: int,
    name: NDArray[np.int8],
    used_by: NDArray[np.int8],
) -> None:
    """Each turn uses random blanks of the hand at that turn; an offer names its blanks."""
    name[:] = NONE
    used_by[:] = NONE
    held = rule_set.hand_size
    for turn in range(1, rule_set.tiles + 1):
        held += 1
        kind = action_of_turn(world, foe, turn)
        if kind == NONE:
            return
        for _ in range(SIZES[kind]):
            used_by[random_unused(world, used_by, turn + rule_set.hand_size, held)] = kind
            held -= 1
        name_offer(world, foe, kind, name, used_by)


@inline
def random_unused(world: np.record, used_by: NDArray[np.int8], received: int, held: int) -> Any:
    """A random slot among the `held` unused ones of the first `received`."""
    skip = below(world, held)
    for slot in range(received):
        if used_by[slot] == NONE:
            if skip == 0:
                return slot
            skip -= 1
    return NONE


@inline
def name_offer(
    world: np.record, foe: int, kind: int, name: NDArray[np.int8], used_by: NDArray[np.int8]
) -> None:
    """The cards of an offer, in random order, over the blanks that it used."""
    left = kind + 1
    for g in range(GEISHA):
        for _ in range(offered(world, foe, kind, g)):
            skip = below(world, left)
            for slot in range(len(used_by)):
                if used_by[slot] == kind and name[slot] == NONE:
                    if skip == 0:
                        name[slot] = g
                        break
                    skip -= 1
            left -= 1


@inline
def name_blanks(world: np.record, unknown: NDArray[np.int8], name: NDArray[np.int8]) -> None:
    """Every other blank is a random unseen card; the rest is the pile."""
    for g in range(GEISHA):
        world.unseen[g] = unknown[g]
    left = unknown.sum()
    for slot in range(len(name)):
        if name[slot] == NONE:
            skip = below(world, left)
            g = 0
            while skip >= world.unseen[g]:
                skip -= world.unseen[g]
                g += 1
            name[slot] = g
            world.unseen[g] -= 1
            left -= 1


@inline
def place_cards(
    rule_set: np.record,
    world: np.record,
    foe: int,
    name: NDArray[np.int8],
    used_by: NDArray[np.int8],
) -> None:
    """Put the named cards where their slots and actions say."""
    world.dealt[foe] = 0
    world.hand[foe] = 0
    world.trade_off[foe] = 0
    for slot in range(len(name)):
        g = name[slot]
        if slot < rule_set.hand_size:
            world.dealt[foe, g] += 1
        else:
            world.drawn[foe, slot - rule_set.hand_size] = g
        if used_by[slot] == NONE:
            world.hand[foe, g] += 1
        elif used_by[slot] == SECRET:
            world.secret[foe] = g
        elif used_by[slot] == TRADE_OFF:
            world.trade_off[foe, g] += 1


@inline
def ways_to_pick(rule_set: np.record, world: np.record, foe: int) -> int:
    """In how many ways physical cards could have been picked for the foe's actions so far."""
    ways = 1
    held = world.dealt[foe].copy()
    for turn in range(1, rule_set.tiles + 1):
        kind = action_of_turn(world, foe, turn)
        if kind == NONE:
            break
        held[world.drawn[foe, turn - 1]] += 1
        for g in range(GEISHA):
            used = offered(world, foe, kind, g)
            if kind == SECRET:
                used = 1 if world.secret[foe] == g else 0
            elif kind == TRADE_OFF:
                used = world.trade_off[foe, g]
            ways *= choose(held[g], used)
            held[g] -= used
    return ways


@inline
def choose(n: int, k: int) -> Any:
    """Binomial coefficient."""
    ways = 1
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    return ways


# --- What has happened in this round


@inline
def rewind(rule_set: np.record, game: np.record) -> None:
    """Markers do not move within a round."""
    game.round_number -= 1
    begin_round(rule_set, game, game.starter)


@inline
def next_event(rule_set: np.record, world: np.record, earlier: np.record) -> Any:
    """The next card of a hand in any order, the card drawn, the action used, or its answer."""
    me, turn = player_of(earlier), earlier.turn // 2
    if earlier.phase == DEAL:
        return missing_card(world, earlier, dealt_to(rule_set, earlier))
    if earlier.phase == DRAW:
        return world.drawn[me, turn]
    if earlier.phase == ACT:
        return action_used(rule_set, world, me, action_of_turn(world, me, turn + 1))
    if earlier.phase == ANSWER_GIFT:
        return answer(rule_set, TAKE_CARD, world.gift_taken[me])
    return answer(rule_set, TAKE_PAIR, world.pair_taken[me])


@inline
def missing_card(world: np.record, earlier: np.record, seat: int) -> int:
    """A card that a seat was dealt and has not got yet, or NONE."""
    for g in range(GEISHA):
        if world.dealt[seat, g] != earlier.dealt[seat, g]:
            return g
    return NONE


@inline
def action_used(rule_set: np.record, world: np.record, me: int, kind: int) -> int:
    """The action by which a seat used this tile; NONE if it has not."""
    if kind == NONE:
        return NONE
    first, second = cards_used(world, me, kind)
    for action in range(rule_set.first[kind], rule_set.first[kind + 1]):
        piles = rule_set.piles[action]
        if packed(piles[0]) == first and packed(piles[1]) == second:
            return action
    return NONE


@inline
def cards_used(world: np.record, me: int, kind: int) -> tuple[Any, Any]:
    """The cards of a tile, as a row of `piles` has them."""
    none = np.uint64(0)
    if kind == SECRET:
        return one(world.secret[me]), none
    if kind == TRADE_OFF:
        return packed(world.trade_off[me]), none
    if kind == GIFT:
        return packed(world.gift[me]), none
    return packed(world.pairs[me, 0]), packed(world.pairs[me, 1])


@inline
def answer(rule_set: np.record, kind: int, taken: int) -> Any:
    return NONE if taken == NONE else rule_set.first[kind] + taken
