"""Rule sets with options at their smallest and largest values, drawn by a seed."""

from itertools import chain, combinations
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games import geishas_road, hanabi, hanamikoji
from hanamachi.games.registry import VARIANTS, variant


def subsets(actions: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All, the smallest first, but for the empty one."""
    sizes = range(1, len(actions) + 1)
    return list(chain.from_iterable(combinations(actions, size) for size in sizes))


HANAMIKOJI: dict[str, list[Any]] = {
    "starter": ["random", 0, 1],
    "max_rounds": [None, 1, 2, 1000],
    "limit_rule": list(hanamikoji.LIMIT_RULES),
    "cards": [
        hanamikoji.CARDS,
        (1,),
        (21,),
        (1,) * 7,
        (3,) * 7,
        (15, 1, 1, 1, 1, 1, 1),
        (1, 1, 1, 1, 1, 1, 15),
        (10, 11),
        (1, 20),
    ],
    "actions": subsets(hanamikoji.rules.ACTIONS),
    "fifth_suit": list(hanamikoji.FIFTH_SUITS),
}
GEISHAS_ROAD: dict[str, list[Any]] = {
    "starter": ["random", 0, 1],
    "item_values": [(1,), (9,), (1, 2, 3, 4), (1, 2, 3, 4, 5, 6), tuple(range(1, 10)), (5, 9)],
    "actions": subsets(geishas_road.rules.ACTIONS),
    "loser_picks_starter": ["after_deal", "before_deal"],
    "tiebreaker_alone_wins": [True, False],
    "colours": [2, 3, 4, 5],
    "light": [(), (9,) * 5, (0,), (3, 3, 4, 4, 4)],
    "dark": [(), (9,) * 5, (0,), (3, 2, 2, 2)],
    "start_marker": ["choose", "random"],
    "rounds_to_win": [1, 2, 100],
    "prestige_tokens": [None, (0,) * 5, (9,) * 4, (9,) * 10, tuple(range(10)), (1, 2)],
    "base": [(0,), (9,), (1, 2), (9,) * 100],
    "rounds": [1, 2, 100],
    "instant_win": [2, 3, 4, 5],
    "decline_collecting": [False, True],
    "counteroffer_shares": ["swap", "keep"],
    "can_counter_hidden": [True, False],
    "counter_own": [True, False],
}
HANABI: dict[str, list[Any]] = {
    "starter": ["random", 0, 1, 4],
    "multicolour": list(hanabi.MULTICOLOURS),
    "max_clues": [1, 8],
    "max_errors": [1, 3],
    "allow_empty_hints": [False, True],
    "strikeout_score": list(hanabi.STRIKEOUT_SCORES),
    "colours": [1, 5],
    "ranks": [1, 2, 5],
    "hand_size": [1, 4, 5],
}
VALUES = {"hanamikoji": HANAMIKOJI, "geishas_road": GEISHAS_ROAD, "hanabi": HANABI}
CHANGED = 0.6  # share of the options that do not keep their defaults


def extreme_variants(id: str, count: int, seed: int = 0) -> list[Variant]:
    """Different rule sets of a variant; combinations that the game refuses are drawn again."""
    rng = np.random.default_rng(seed)
    defaults = VARIANTS[id].variants[id]
    found: dict[str, Variant] = {}
    while len(found) < count:
        values = VALUES[VARIANTS[id].name]
        changed = [name for name in defaults if rng.random() < CHANGED]
        options = {name: values[name][rng.integers(len(values[name]))] for name in changed}
        try:
            found[repr(options)] = variant(id, **options)
        except UserError:
            continue
    return list(found.values())
