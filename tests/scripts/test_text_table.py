"""The table of policies that reply in words counts what they are sent and what they earn."""

import runpy

import pytest
from root import ROOT

from hanamachi.policies import load_policy

measured = runpy.run_path(str(ROOT / "scripts" / "text_table.py"))["measured"]


@pytest.mark.parametrize(("id", "unit"), [("hanamikoji", "%"), ("hanabi:2p", "points")])
def test_a_policy_is_measured_in_words(id, unit):
    policy = load_policy("random", id)
    figure, characters = measured(policy, policy, 4)
    assert unit in figure
    assert characters > 5_000  # at least the rules and one turn
