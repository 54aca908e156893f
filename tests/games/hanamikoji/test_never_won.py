"""Options under which nobody can win need max_rounds; all others need none."""

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from hanamachi.errors import UserError
from hanamachi.games.hanamikoji import rules
from hanamachi.games.hanamikoji.never_won import never_won, round_ends
from hanamachi.games.registry import variant as make_variant
from hanamachi.training.exact.walk import Walk, joined
from tests.support.samples import WHOLE

MOST_ITEMS = 8 if WHOLE else 6  # of a deck whose rounds are walked
ACTIONS = [set_ for n in (1, 2, 3, 4) for set_ in combinations(rules.ACTIONS, n)]
DECKS = [
    deck
    for geisha in range(1, rules.GEISHA + 1)
    for deck in combinations_with_replacement(range(1, MOST_ITEMS + 1), geisha)
    if sum(deck) <= MOST_ITEMS
]
# what each side gets when both players have used the tile
ITEMS = {"secret": 1, "trade_off": 0, "gift": 3, "competition": 4}
SIZES = dict(zip(rules.ACTIONS, (1, 2, 3, 4), strict=True))


def enough(deck, actions) -> bool:
    return 2 * sum(SIZES[action] for action in actions) <= sum(deck)


def walked_ends(deck, actions) -> set[tuple[int, int]]:
    """How the markers can lie after one round, found by playing all rounds there are."""
    one_round = make_variant("hanamikoji", cards=deck, actions=actions, max_rounds=1, starter=0)
    walk = Walk(one_round, max_states=2_000_000)
    level = walk.settled(walk.beginning())
    while len(level):
        level = walk.settled(walk.decided(level))
    markers = joined(walk.ends).games(one_round)["marker"][:, : len(deck)]
    bits = 1 << np.arange(len(deck))
    return set(zip(*(((markers == seat) @ bits).tolist() for seat in (0, 1)), strict=True))


@pytest.mark.parametrize("actions", [a for a in ACTIONS if enough((MOST_ITEMS,), a)])
def test_a_round_can_end_just_as_the_exact_walker_finds(actions) -> None:
    each = sum(ITEMS[action] for action in actions)
    for deck in DECKS:
        if enough(deck, actions):
            assert round_ends(deck, each) == walked_ends(deck, actions), deck


@pytest.mark.parametrize(
    ("cards", "actions"),
    [
        ((2, 2, 2, 3), ("secret", "trade_off")),
        ((3, 4, 5), ("secret", "trade_off", "gift")),
        ((5, 6), ("secret", "competition")),
        ((1,) * 6, ("gift",)),
        ((2, 3, 4), ("secret",)),
        ((21,), rules.ACTIONS),
        ((2, 2, 2, 3, 3, 4, 5), ("trade_off",)),
    ],
)
def test_a_game_that_nobody_can_win_needs_a_last_round(cards, actions) -> None:
    with pytest.raises(UserError, match="set max_rounds"):
        make_variant("hanamikoji", cards=cards, actions=actions)
    make_variant("hanamikoji", cards=cards, actions=actions, max_rounds=2)


@pytest.mark.parametrize(
    ("cards", "actions"),
    [
        ((2, 2, 2, 3, 3, 4, 5), rules.ACTIONS),
        ((1,) * 7, ("gift",)),  # one of the seven is left over
        ((1,) * 5, ("secret",)),  # four geisha, one after another
        ((2, 5, 6), ("secret", "gift")),  # eleven charm
    ],
)
def test_a_game_that_can_be_won_needs_none(cards, actions) -> None:
    make_variant("hanamikoji", cards=cards, actions=actions)


def test_of_small_decks_those_are_won_that_rounds_of_the_walker_can_win() -> None:
    """Markers after many rounds, followed with what the exact walker finds for one."""
    for actions in [("secret",), ("gift",)]:
        for deck in DECKS:
            if len(deck) < 4 or not enough(deck, actions):
                continue
            ends, reached, size = walked_ends(deck, actions), {(0, 0)}, 0
            while len(reached) > size:
                size = len(reached)
                reached |= {
                    (own & ~theirs | mine, other & ~mine | theirs)
                    for own, other in reached
                    for mine, theirs in ends
                }
            most = max(max(own.bit_count(), other.bit_count()) for own, other in reached)
            assert never_won(deck, actions) == (most < rules.GEISHA_GOAL), deck
