"""How far a network is from its teacher, and what it scores without its features."""

import numpy as np
import pytest

from hanamachi.policies import load_policy
from hanamachi.training.evaluation import learned
from hanamachi.training.evaluation.learned import (
    Result,
    TeacherComparison,
    agreement,
    read_learned,
    what_is_learned,
    without,
    write_learned,
)
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.evaluation.playing import drawn


@pytest.mark.parametrize("id", ["hanamikoji", "hanabi:2p"])
def test_a_policy_always_agrees_with_itself_and_seldom_with_another(id):
    share, decisions = agreement(load_policy("expert", id), "expert", 20, 0)
    assert share == 1
    assert decisions > 20
    assert agreement(load_policy("random", id), "expert", 20, 0)[0] < 1


def test_only_decisions_with_two_actions_or_more_are_counted(monkeypatch):
    free = []

    def noted(distribution, uniform, play):
        free.extend(np.count_nonzero(distribution == 1, axis=1) == 0)
        return drawn(distribution, uniform, play)

    monkeypatch.setattr(learned, "drawn", noted)
    _, decisions = agreement(load_policy("random", "hanamikoji"), "expert", 10, 0)
    assert decisions == sum(free) < len(free)


def test_features_that_are_taken_away_are_zero_and_the_others_are_as_they_were():
    agent = load_policy("hanabi:2p")
    names = agent.checkpoint.feature_sets
    rng = np.random.default_rng(0)
    size, actions = agent.variant.observation.size, agent.variant.actions.size
    seen = rng.integers(0, 2, (5, size)).astype(np.float32)
    masks, memory = np.ones((5, actions), np.int8), agent.initial_memory(5)
    whole, _ = agent.features.extend(seen, masks, memory)
    edges = agent.features.edges
    for place, name in enumerate(names):
        begin, end = edges[place + 1 : place + 3]
        taken, _ = without(agent, name).features.extend(seen, masks, memory)
        assert (taken[:, begin:end] == 0).all()
        kept = np.r_[:begin, end : edges[-1]]
        np.testing.assert_array_equal(taken[:, kept], whole[:, kept])
    again, _ = agent.features.extend(seen, masks, memory)
    np.testing.assert_array_equal(again, whole)


def test_what_is_learned_is_measured_on_the_deals_of_its_seed_and_can_be_read_again(tmp_path):
    agent = load_policy("hanamikoji")
    found = what_is_learned(agent, "expert", 40, 3)
    (row,) = results_of(without(agent, "advice"), ["expert"], "hanamikoji", 40, 3, plays=["sample"])
    assert found.without == {"advice": Result(row.rate, row.low, row.high)}
    assert 0 < found.agreement < 1
    known = TeacherComparison(
        **{**vars(found), "seeds": {0: Result(0.5, 0.4, 0.6), 1: Result(0.6, 0.5, 0.7)}}
    )
    assert read_learned(tmp_path) is None
    write_learned(known, tmp_path)
    assert read_learned(tmp_path) == known
