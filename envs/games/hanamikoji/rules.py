"""The rules of Hanamikoji, in the order of the rulebook; RULES.md tells them in prose.

`game` is a RECORD, `rule_set` a RULE_SET; `me` is the seat that acts and `foe` the other. Geisha
are numbered from the left, G of them; an item card is known by its geisha. Each player has a tile
for each action in use; K tiles a player.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.action_masks import count_legal
from hanamachi.engine.compiled import inline
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.records import record, rule_set_dtype
from hanamachi.engine.words import ALL_BITS, equal, sum_of_bytes, word_at
from hanamachi.games.four_actions import unused_actions

SEATS = 2
GEISHA = 7  # at most; small versions use fewer
HAND = 7  # cards, at most
MOVES = 528  # at most 527 (seven geisha with three items each); a multiple of 16 keeps rows aligned
NONE = -1

SECRET, TRADE_OFF, GIFT, COMPETITION, TAKE_CARD, TAKE_PAIR = range(6)
ACTIONS = ("secret", "trade_off", "gift", "competition")

CHARM_GOAL, GEISHA_GOAL = 11, 4

CHOOSE_STARTER, DEAL, DRAW, ACT, ANSWER_GIFT, ANSWER_COMPETITION, ENDED = range(7)

RECORD = record(
    SEATS,
    # public
    ("phase", np.int8),  # what happens next: CHOOSE_STARTER .. ENDED
    ("round_number", np.int32),  # 1 for the first
    ("starter", np.int8),  # seat that began this round
    ("turn", np.int8),  # turns completed in this round
    ("winner", np.int8),  # seat; NONE while nobody has won, and when victory is shared
    ("marker", np.int8, (GEISHA,)),  # seat that a geisha favours; NONE in the centre
    ("table", np.int8, (2, GEISHA)),  # items face up on each side
    ("used_in", np.int8, (2, 4)),  # own turn, from 1, in which an action was used; 0 not yet
    ("gift", np.int8, (2, GEISHA)),  # items that each seat offered by its Gift
    ("gift_taken", np.int8, (2,)),  # geisha of the item taken from that seat's Gift; NONE
    ("pairs", np.int8, (2, 2, GEISHA)),  # the two pairs of each seat's Competition
    ("pair_taken", np.int8, (2,)),  # which pair was taken from that seat's Competition; NONE
    # private
    ("hand", np.int8, (2, GEISHA)),
    ("dealt", np.int8, (2, GEISHA)),  # the hand as it was dealt
    ("drawn", np.int8, (2, 4)),  # item drawn in each own turn, in order; NONE
    ("secret", np.int8, (2,)),  # geisha of the Secret; NONE
    ("trade_off", np.int8, (2, GEISHA)),  # items of the Trade-off
    # hidden from both
    ("dealt_cards", np.int8),  # cards dealt so far in this round
    ("unseen", np.int8, (GEISHA,)),  # items in the deck or removed: counts, never an order
)


RULE_SET = rule_set_dtype(
    ("geisha", np.int64),  # G
    ("cards", np.int8, (GEISHA,)),  # items of each geisha, which is also her charm
    ("in_use", np.int8, (4,)),  # 1 where the action is part of the game
    ("tiles", np.int64),  # K
    ("hand_size", np.int64),  # cards dealt to each
    ("starter", np.int64),  # seat, or NONE for a random one
    ("max_rounds", np.int64),  # 0: no limit
    ("by_geisha", np.bool_),  # at the limit geisha count before charm
    ("kind", np.int8, (MOVES,)),  # of each action: SECRET .. TAKE_PAIR
    ("first", np.int64, (7,)),  # first action of each kind, and A
    ("piles", np.int8, (MOVES, 2, GEISHA)),  # its cards; the second row is a Competition's
    ("of_tiles", np.int8, (16, MOVES)),  # by tiles, a bit each: 1 for the actions of these tiles
    ("fits", np.int8, (GEISHA, HAND + 1, MOVES)),  # 1 where this many items of a geisha are enough
)


# --- Numbers by geisha: one for each, packed into the bytes of a word

ALL = np.uint64(0x00FFFFFFFFFFFFFF)  # the bytes of all geisha


@inline
def packed(numbers: NDArray[np.int8]) -> Any:
    """A field of a record that is not its last one: the byte behind it is read and dropped."""
    return word_at(numbers, 0) & ALL


@inline
def one(geisha: int) -> Any:
    """1 for this geisha; nothing for NONE."""
    return np.uint64(0) if geisha == NONE else np.uint64(1) << np.uint64(8 * geisha)


# --- Setup


@inline
def start(rule_set: np.record, game: np.record) -> None:
    """All geisha are neutral; the first round's starter is given or drawn."""
    game.rewards[:] = 0
    game.marker[:] = NONE
    game.winner = NONE
    game.round_number = 0
    clear_table(game)
    if rule_set.starter == NONE:
        game.phase = CHOOSE_STARTER
        game.mover = CHANCE
    else:
        begin_round(rule_set, game, rule_set.starter)


@inline
def begin_round(rule_set: np.record, game: np.record, starter: int) -> None:
    """All items go back into the pile, all tiles face up; the markers stay."""
    clear_table(game)
    game.round_number += 1
    game.starter = starter
    for g in range(GEISHA):
        game.unseen[g] = rule_set.cards[g]
    game.phase = DEAL if rule_set.hand_size > 0 else DRAW
    game.mover = CHANCE


@inline
def clear_table(game: np.record) -> None:
    """Nothing lies before the players and nothing is in their hands."""
    game.turn = 0
    game.starter = NONE
    game.dealt_cards = 0
    game.unseen[:] = 0
    game.table[:] = 0
    game.used_in[:] = 0
    game.gift[:] = 0
    game.gift_taken[:] = NONE
    game.pairs[:] = 0
    game.pair_taken[:] = NONE
    game.hand[:] = 0
    game.dealt[:] = 0
    game.drawn[:] = NONE
    game.secret[:] = NONE
    game.trade_off[:] = 0


@inline
def chance(rule_set: np.record, game: np.record, weights: NDArray[np.int64]) -> int:
    """The next card is any that is unseen; before the first round, the starter is either seat."""
    if game.phase == CHOOSE_STARTER:
        weights[0] = weights[1] = 1
        return 2
    for g in range(GEISHA):
        weights[g] = game.unseen[g]
    return GEISHA


@inline
def resolve(rule_set: np.record, game: np.record, outcome: int) -> None:
    """The starter's hand is dealt first, then the other's; each turn begins with a draw."""
    if game.phase == CHOOSE_STARTER:
        begin_round(rule_set, game, outcome)
    elif game.phase == DEAL:
        deal(rule_set, game, outcome)
    else:
        draw(game, outcome)


@inline
def deal(rule_set: np.record, game: np.record, card: int) -> None:
    """One card of a player's first hand."""
    seat = dealt_to(rule_set, game)
    take_from_pile(game, seat, card)
    game.dealt[seat, card] += 1
    game.dealt_cards += 1
    if game.dealt_cards == 2 * rule_set.hand_size:
        game.phase = DRAW


@inline
def dealt_to(rule_set: np.record, game: np.record) -> Any:
    return game.starter if game.dealt_cards < rule_set.hand_size else 1 - game.starter


@inline
def take_from_pile(game: np.record, seat: int, card: int) -> None:
    game.unseen[card] -= 1
    game.hand[seat, card] += 1


# --- A turn


@inline
def player_of(game: np.record) -> Any:
    """The players take turns, the starter first."""
    return (game.starter + game.turn) % 2


@inline
def draw(game: np.record, card: int) -> None:
    """A turn begins with a card from the pile."""
    me = player_of(game)
    take_from_pile(game, me, card)
    game.drawn[me, game.turn // 2] = card
    game.phase = ACT
    game.mover = me


@inline
def apply(rule_set: np.record, game: np.record, action: int) -> None:
    """Then the player uses one tile that is still face up; an offer is answered at once."""
    game.rewards[:] = 0
    kind = rule_set.kind[action]
    if kind == TAKE_CARD:
        take_card(rule_set, game, rule_set.piles[action, 0])
    elif kind == TAKE_PAIR:
        take_pair(rule_set, game, action - rule_set.first[TAKE_PAIR])
    else:
        me = game.mover
        game.used_in[me, kind] = game.turn // 2 + 1
        lay_down(game, me, rule_set.piles[action, 0])
        if kind == SECRET:
            keep_secret(rule_set, game, rule_set.piles[action, 0])
        elif kind == TRADE_OFF:
            trade_off(rule_set, game, rule_set.piles[action, 0])
        elif kind == GIFT:
            offer_gift(game, rule_set.piles[action, 0])
        else:
            lay_down(game, me, rule_set.piles[action, 1])
            offer_competition(game, rule_set.piles[action])


@inline
def lay_down(game: np.record, me: int, cards: NDArray[np.int8]) -> None:
    for g in range(GEISHA):
        game.hand[me, g] -= cards[g]


@inline
def end_turn(rule_set: np.record, game: np.record) -> None:
    """After the last turn the round is scored."""
    game.turn += 1
    if game.turn == 2 * rule_set.tiles:
        score(rule_set, game)
    else:
        game.phase = DRAW
        game.mover = CHANCE


# --- The four actions


@inline
def keep_secret(rule_set: np.record, game: np.record, cards: NDArray[np.int8]) -> None:
    """Secret: one card, face down, is scored for its owner at the end of the round."""
    for g in range(GEISHA):
        if cards[g] > 0:
            game.secret[game.mover] = g
    end_turn(rule_set, game)


@inline
def trade_off(rule_set: np.record, game: np.record, cards: NDArray[np.int8]) -> None:
    """Trade-off: two cards, face down, are not scored."""
    for g in range(GEISHA):
        game.trade_off[game.mover, g] = cards[g]
    end_turn(rule_set, game)


@inline
def offer_gift(game: np.record, cards: NDArray[np.int8]) -> None:
    """Gift: three cards, face up, of which the other player will take one."""
    for g in range(GEISHA):
        game.gift[game.mover, g] = cards[g]
    game.phase = ANSWER_GIFT
    game.mover = 1 - game.mover


@inline
def offer_competition(game: np.record, piles: NDArray[np.int8]) -> None:
    """Competition: two pairs, face up, of which the other player will take one."""
    for pair in range(2):
        for g in range(GEISHA):
            game.pairs[game.mover, pair, g] = piles[pair, g]
    game.phase = ANSWER_COMPETITION
    game.mover = 1 - game.mover


@inline
def take_card(rule_set: np.record, game: np.record, card: NDArray[np.int8]) -> None:
    """The card taken goes to the taker's side, the other two to the giver's."""
    me, foe = game.mover, 1 - game.mover
    for g in range(GEISHA):
        game.table[me, g] += card[g]
        game.table[foe, g] += game.gift[foe, g] - card[g]
        if card[g] > 0:
            game.gift_taken[foe] = g
    end_turn(rule_set, game)


@inline
def take_pair(rule_set: np.record, game: np.record, pair: int) -> None:
    """The pair taken goes to the taker's side, the other to the side of who offered it."""
    me, foe = game.mover, 1 - game.mover
    for g in range(GEISHA):
        game.table[me, g] += game.pairs[foe, pair, g]
        game.table[foe, g] += game.pairs[foe, 1 - pair, g]
    game.pair_taken[foe] = pair
    end_turn(rule_set, game)


# --- Scoring


@inline
def score(rule_set: np.record, game: np.record) -> None:
    """Secrets are revealed, markers move; then somebody has won, or the other player begins."""
    reveal_secrets(game)
    move_markers(rule_set, game)
    winner = goal_reached(rule_set, game)
    if winner == NONE and game.round_number == rule_set.max_rounds:
        end_game(game, ahead_at_limit(rule_set, game))
    elif winner != NONE:
        end_game(game, winner)
    else:
        begin_round(rule_set, game, 1 - game.starter)


@inline
def reveal_secrets(game: np.record) -> None:
    for seat in range(2):
        if game.secret[seat] != NONE:
            game.table[seat, game.secret[seat]] += 1


@inline
def move_markers(rule_set: np.record, game: np.record) -> None:
    """A geisha favours the player with more of her items; on a tie her marker stays."""
    for g in range(rule_set.geisha):
        if game.table[0, g] > game.table[1, g]:
            game.marker[g] = 0
        elif game.table[1, g] > game.table[0, g]:
            game.marker[g] = 1


@inline
def favours(rule_set: np.record, game: np.record, seat: int) -> tuple[Any, Any]:
    """The geisha whose favour a player has, and their charm together."""
    favoured = favoured_by(game, seat)
    return sum_of_bytes(favoured), charm_of(rule_set, favoured)


@inline
def favoured_by(game: np.record, seat: int) -> Any:
    """1 for each geisha whose favour a player has."""
    return equal(packed(game.marker), seat) & ALL


@inline
def charm_of(rule_set: np.record, geisha: np.uint64) -> Any:
    """The charm of the geisha counted, each of them once, together."""
    return sum_of_bytes((geisha * ALL_BITS) & packed(rule_set.cards))


@inline
def goal_reached(rule_set: np.record, game: np.record) -> int:
    """11 charm win, even against 4 geisha; else 4 geisha win."""
    for seat in range(2):
        if favours(rule_set, game, seat)[1] >= CHARM_GOAL:
            return seat
    for seat in range(2):
        if favours(rule_set, game, seat)[0] >= GEISHA_GOAL:
            return seat
    return NONE


@inline
def ahead_at_limit(rule_set: np.record, game: np.record) -> int:
    """After the last round more geisha win, then more charm; else victory is shared."""
    geisha0, charm0 = favours(rule_set, game, 0)
    geisha1, charm1 = favours(rule_set, game, 1)
    if rule_set.by_geisha and geisha0 != geisha1:
        return 0 if geisha0 > geisha1 else 1
    if charm0 != charm1:
        return 0 if charm0 > charm1 else 1
    return NONE


@inline
def end_game(game: np.record, winner: int) -> None:
    game.winner = winner
    game.phase = ENDED
    game.mover = OVER
    if winner != NONE:
        game.rewards[winner] = 1
        game.rewards[1 - winner] = -1


# --- What a player may do


@inline
def legal(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> Any:
    """Any card combination of the hand for a tile face up; any card or pair of an open offer."""
    if game.phase == ACT:
        return legal_actions(rule_set, game, mask)
    mask[:] = 0
    if game.phase == ANSWER_GIFT:
        return legal_cards(rule_set, game, mask)
    if game.phase == ANSWER_COMPETITION:
        return legal_pairs(rule_set, game, mask)
    return 0


@inline
def legal_actions(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> Any:
    """The actions of a tile face up that the hand has enough cards of each geisha for."""
    hand = game.hand[game.mover]
    of_tile = rule_set.of_tiles[unused_actions(rule_set, game, game.mover)]
    fits0, fits1 = rule_set.fits[0, hand[0]], rule_set.fits[1, hand[1]]
    fits2, fits3 = rule_set.fits[2, hand[2]], rule_set.fits[3, hand[3]]
    fits4, fits5 = rule_set.fits[4, hand[4]], rule_set.fits[5, hand[5]]
    fits6 = rule_set.fits[6, hand[6]]
    for action in range(len(mask)):  # all at once: eight arrays are read in step
        first = of_tile[action] & fits0[action] & fits1[action] & fits2[action]
        mask[action] = first & fits3[action] & fits4[action] & fits5[action] & fits6[action]
    return count_legal(mask)


@inline
def legal_cards(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    count = 0
    for g in range(rule_set.geisha):
        if game.gift[1 - game.mover, g] > 0:
            mask[rule_set.first[TAKE_CARD] + g] = 1
            count += 1
    return count


@inline
def legal_pairs(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    """Two equal pairs are one choice."""
    foe = 1 - game.mover
    equal = True
    for g in range(rule_set.geisha):
        equal &= game.pairs[foe, 0, g] == game.pairs[foe, 1, g]
    mask[rule_set.first[TAKE_PAIR]] = 1
    mask[rule_set.first[TAKE_PAIR] + 1] = not equal
    return 1 if equal else 2


# --- What a player has seen


@inline
def unknown_to(rule_set: np.record, game: np.record, seat: int) -> Any:
    """The items, by geisha, that a seat has neither held nor been offered by the foe."""
    seen = packed(game.hand[seat]) + one(game.secret[seat]) + packed(game.trade_off[seat])
    for player in range(2):
        pairs = game.pairs[player]
        seen += packed(game.gift[player]) + packed(pairs[0]) + packed(pairs[1])
    return packed(rule_set.cards) - seen


@inline
def cards_drawn(game: np.record, seat: int) -> int:
    drawn = 0
    for turn in range(4):
        drawn += game.drawn[seat, turn] != NONE
    return drawn
