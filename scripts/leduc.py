"""Leduc poker as a game of the engine: the rules that OpenSpiel's `leduc_poker` has.

Six cards, two of each rank. Both players pay one chip and get a card; there are two rounds of
betting, with raises of two chips and then of four, at most two in a round; between them a card is
turned up. A pair with it wins the pot, else the higher card does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Game, Length, NamedActions, Variant
from hanamachi.engine.layout import Layout, Segment
from hanamachi.engine.random_numbers import below
from hanamachi.engine.records import filled, record, rule_set_dtype

SEATS, CARDS, NONE = 2, 6, -1
FOLD, CALL, RAISE = range(3)
LONGEST = 8  # actions of a game
RAISES = 2  # of a round

RECORD = record(
    SEATS,
    ("card", np.int8, (SEATS,)),
    ("public", np.int8),
    ("paid", np.int8, (SEATS,)),
    ("second", np.int8),  # 1 in the second round
    ("raises", np.int8),  # of this round
    ("calls", np.int8),  # of this round since the last raise
    ("done", np.int8),  # actions of the game so far
    ("action", np.int8, (LONGEST,)),
)
RULE_SET = rule_set_dtype()


@inline
def start(rule_set: np.record, game: np.record) -> None:
    game.rewards[:] = 0
    game.card[:] = NONE
    game.public = NONE
    game.paid[:] = 1
    game.second = game.raises = game.calls = game.done = 0
    game.action[:] = NONE
    game.mover = CHANCE


@inline
def chance(rule_set: np.record, game: np.record, weights: NDArray[np.int64]) -> int:
    for card in range(CARDS):
        weights[card] = card != game.card[0] and card != game.card[1]
    return CARDS


@inline
def resolve(rule_set: np.record, game: np.record, outcome: int) -> None:
    game.rewards[:] = 0
    if game.card[0] == NONE:
        game.card[0] = outcome
    elif game.card[1] == NONE:
        game.card[1] = outcome
        game.mover = 0
    else:
        game.public = outcome
        game.second, game.raises, game.calls, game.mover = 1, 0, 0, 0


@inline
def legal(rule_set: np.record, game: np.record, mask: NDArray[np.int8]) -> int:
    mask[:] = 0
    if game.mover < 0:
        return 0
    mask[FOLD] = game.paid[game.mover] < game.paid[1 - game.mover]
    mask[CALL] = 1
    mask[RAISE] = game.raises < RAISES
    return mask[FOLD] + mask[CALL] + mask[RAISE]


@inline
def apply(rule_set: np.record, game: np.record, action: int) -> None:
    me, foe = game.mover, 1 - game.mover
    game.action[game.done] = action
    game.done += 1
    if action == FOLD:
        end(game, foe, game.paid[me])
        return
    game.paid[me] = game.paid[foe]
    game.mover = foe
    if action == RAISE:
        game.paid[me] += 4 if game.second else 2
        game.raises += 1
        game.calls = 0
    elif game.calls == 1 or game.raises > 0:
        close(game)
    else:
        game.calls = 1


@inline
def close(game: np.record) -> None:
    """The end of a round of betting."""
    if not game.second:
        game.mover = CHANCE
        return
    strength = [0, 0]
    for seat in range(SEATS):
        pair = game.card[seat] // 2 == game.public // 2
        strength[seat] = game.card[seat] // 2 + 3 * pair
    if strength[0] == strength[1]:
        game.mover = OVER
    else:
        end(game, 0 if strength[0] > strength[1] else 1, game.paid[0])


@inline
def end(game: np.record, winner: int, chips: int) -> None:
    game.rewards[winner], game.rewards[1 - winner] = chips, -chips
    game.mover = OVER


# --- Information

OWN, PUBLIC, ACTIONS = range(3)
LAYOUT = Layout(
    (
        Segment("own", 3, 0, 1, "the rank of my card"),
        Segment("public", 3, 0, 1, "the rank of the card turned up"),
        Segment("actions", 3 * LONGEST, 0, 1, "every action so far"),
    )
)


@inline
def observe(rule_set: np.record, game: np.record, seat: int, out: NDArray[Any]) -> None:
    at = rule_set.at
    out[:] = 0
    if game.card[seat] != NONE:
        out[at[OWN] + game.card[seat] // 2] = 1
    if game.public != NONE:
        out[at[PUBLIC] + game.public // 2] = 1
    for i in range(game.done):
        out[at[ACTIONS] + 3 * i + game.action[i]] = 1


@inline
def redeal(rule_set: np.record, world: np.record, seat: int) -> None:
    """The foe holds any card that is neither mine nor turned up."""
    card = below(world, CARDS)
    while card == world.card[seat] or card == world.public:
        card = below(world, CARDS)
    world.card[1 - seat] = card


@inline
def rewind(rule_set: np.record, game: np.record) -> None:
    start(rule_set, game)


@inline
def next_event(rule_set: np.record, world: np.record, earlier: np.record) -> int:
    if earlier.card[0] == NONE:
        return world.card[0]
    if earlier.card[1] == NONE:
        return world.card[1]
    if earlier.mover == CHANCE:
        return world.public
    return world.action[earlier.done] if earlier.done < LONGEST else NONE


FUNCTIONS = {
    each.__name__: each
    for each in (start, chance, resolve, legal, apply, observe, redeal, rewind, next_event)
}


def build() -> tuple[dict[str, Any], np.record, NamedActions, Layout]:
    rule_set = filled(RULE_SET, LAYOUT, seats=SEATS, max_outcomes=CARDS)
    return {}, rule_set, NamedActions("fold", "call", "raise"), LAYOUT


GAME = Game(
    name="leduc",
    title="Leduc poker",
    cooperative=False,
    record=RECORD,
    rule_set_dtype=RULE_SET,
    functions=FUNCTIONS,
    variants={"leduc": {}},
    options={},
    build=build,
    length=lambda rule_set: Length(rounds=1, decisions=LONGEST, chances=3),
)


def leduc() -> Variant:
    return Variant("leduc", GAME, *build())
