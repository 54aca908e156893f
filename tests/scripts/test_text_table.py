"""The table of policies that reply in words counts what they are sent and what they earn."""

import runpy
import sys

import pytest
from root import ROOT

from hanamachi.policies import load_policy

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "text_table.py"))


@pytest.mark.parametrize(("id", "unit"), [("hanamikoji", "%"), ("hanabi:2p", "points")])
def test_a_policy_is_measured_in_words(id, unit):
    policy = load_policy("random", id)
    figure, characters = SCRIPT["measured"](policy, policy, 4)
    assert unit in figure
    assert characters > 5_000  # at least the rules and one turn


@pytest.mark.parametrize("games", ["0", "1", "-2", "5"])
def test_every_deal_needs_two_games(games, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["text_table.py", "--games", games])
    with pytest.raises(SystemExit):
        SCRIPT["main"]()
    assert "even" in capsys.readouterr().err
