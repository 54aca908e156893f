"""Opponents: any legal action with equal probability, whatever the game."""

import numpy as np

from hanamachi.sessions.opponent_protocol import RandomPlay


def test_the_random_opponent_chooses_every_legal_action_equally_often():
    mask = np.zeros((6000, 5), np.int8)
    mask[:, [0, 2, 3]] = 1
    actions, _ = RandomPlay().act(mask, mask, mask, np.random.default_rng(0))
    counts = np.bincount(actions, minlength=5)
    assert counts[[1, 4]].tolist() == [0, 0]
    assert (abs(counts[[0, 2, 3]] - 2000) < 200).all()
