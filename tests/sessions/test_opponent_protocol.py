"""Opponents: random play is fair, and what cannot play is refused in one sentence."""

import numpy as np
import pytest

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.sessions.opponent_protocol import RandomPlay, as_opponent


def test_the_random_opponent_chooses_every_legal_action_equally_often():
    mask = np.zeros((6000, 5), np.int8)
    mask[:, [0, 2, 3]] = 1
    actions, _ = RandomPlay().act(mask, mask, mask, np.random.default_rng(0))
    counts = np.bincount(actions, minlength=5)
    assert counts[[1, 4]].tolist() == [0, 0]
    assert (abs(counts[[0, 2, 3]] - 2000) < 200).all()


def test_a_class_is_refused_in_the_place_of_an_opponent():
    with pytest.raises(UserError, match=r"RandomPlay\(\)"):
        as_opponent(RandomPlay, variant("hanamikoji"))


def test_an_opponent_may_have_a_variant_of_its_own_kind():
    opponent = RandomPlay()
    opponent.variant = "the strongest one"
    assert as_opponent(opponent, variant("hanamikoji")) is opponent
