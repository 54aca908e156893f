"""Altered positions of every game; what is accepted is played to its end.

`tests/games/test_validity.py` draws more of them; here each case can be replayed by its name.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from altered_states import RULE_SETS, altered_states, as_state, assert_playable

from hanamachi.engine.game import Variant
from hanamachi.sessions.states import State


class Altered(NamedTuple):
    """A state that may be none of this variant's."""

    variant: Variant
    how: str
    state: State
    seed: int


def draw(game: str, rng: Random, folder: Path) -> Altered:
    variant = rng.choice([each for each in RULE_SETS if each.game.name == game])
    seed = rng.randrange(1 << 30)
    ((how, row),) = altered_states(variant, np.random.default_rng(seed), 1)
    return Altered(variant, how, as_state(variant, row), seed)


def of(game: str) -> Callable[[Random, Path], Altered]:
    """How states of a game are drawn."""
    return partial(draw, game)


def use(case: Altered) -> None:
    """UserError, or a game that can be played to its end."""
    assert_playable(case.variant, case.state, case.seed, picture=case.seed % 50 == 0)
