"""Under a symmetry, a game looks as the game with its geisha exchanged does."""

import numpy as np
import pytest
from hanamikoji_positions import Hanamikoji
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import observed
from small_games import GIFTS

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.games.hanamikoji.rules import TAKE_PAIR
from hanamachi.games.registry import variant

PAIRS = {"cards": (3, 1, 3, 1, 3), "actions": ("secret", "competition"), "max_rounds": 2}
OF_GAMES = [
    ("hanamikoji", {}),
    ("hanamikoji:three_rounds", {}),
    ("hanamikoji:eight_suits", {}),
    ("hanamikoji", GIFTS),
    ("hanamikoji", PAIRS),
]


@pytest.mark.parametrize(
    ("cards", "count"), [((2, 2, 2, 3, 3, 4, 5), 12), (PAIRS["cards"], 12), ((1, 2, 3), 1)]
)
def test_there_is_one_for_each_order_of_the_geisha_and_the_first_changes_nothing(cards, count):
    symmetries = variant("hanamikoji", cards=cards, actions=("secret",), max_rounds=1).symmetries
    for table in symmetries:
        assert (table[0] == np.arange(table.shape[1])).all()
        assert len(np.unique(table, axis=0)) == len(table) == count
        assert (np.sort(table, axis=1) == table[0]).all()


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(OF_GAMES), st.integers(0, 2**32 - 1))
def test_a_game_under_a_symmetry_is_the_game_with_its_geisha_exchanged(a_game, seed):
    (id, options), rng = a_game, np.random.default_rng(seed)
    true, seen = Hanamikoji(id, **options), Hanamikoji(id, **options)
    number = int(rng.integers(len(true.variant.symmetries.entries)))
    entries, actions = (of_all[number] for of_all in true.variant.symmetries)
    hand = true.variant.observation.slice("hand")
    stands_for = entries[hand] - hand.start  # geisha -> her of the true game
    while true.game.mover != OVER:
        if true.game.mover == CHANCE:
            card = int(rng.choice([card for card, _ in seen.outcomes()]))
            seen.bring(card)
            true.bring(int(stands_for[card]))
            continue
        shown = observations(true)[:, entries]
        assert (in_order(seen, observations(seen)) == in_order(seen, shown)).all()
        assert (seen.mask() == true.mask()[actions]).all()
        action = rng.choice(np.flatnonzero(seen.mask()))
        answer = the_same(seen, true, action, stands_for) if is_of_pairs(seen, action) else action
        kernels.apply_one(seen.rule_set, seen.game, action)
        kernels.apply_one(true.rule_set, true.game, actions[answer])
    assert (seen.game.rewards == true.game.rewards).all()


def is_of_pairs(table, action):
    return table.actions.moves[action].kind == TAKE_PAIR


def the_same(seen, true, action, stands_for):
    """The action that takes the same pair in the true game, whose pairs may lie in other order."""
    offered_by = 1 - seen.game.mover
    pair = seen.game.pairs[offered_by, seen.actions.moves[action].pair]
    of_true = np.zeros_like(pair)
    of_true[stands_for] = pair[: len(stands_for)]
    wanted = (true.game.pairs[offered_by] == of_true).all(1).argmax()
    answers = [a for a, move in enumerate(seen.actions.moves) if move.kind == TAKE_PAIR]
    return answers[wanted]


def in_order(table, rows):
    """The rows with the two pairs of each offer in a fixed order, on which no rule depends."""
    rows, layout = rows.copy(), table.variant.observation
    pairs, taken = rows[:, layout.slice("pairs")], rows[:, layout.slice("pair taken")]
    whole = np.dstack([pairs.reshape(len(rows), 4, -1), taken[:, :, None]])
    for row in whole:
        for side in (row[:2], row[2:]):
            side[:] = sorted(side.tolist())
    pairs[:] = whole[:, :, :-1].reshape(len(rows), -1)
    taken[:] = whole[:, :, -1]
    return rows


def observations(table):
    """What every seat sees, (2, N)."""
    return observed(table.variant, np.repeat(np.array([table.game]), 2), np.arange(2))
