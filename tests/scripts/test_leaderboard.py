"""The leaderboard is what its script measured, and anybody can measure their own policy by it."""

import json
import runpy
import shutil
from types import SimpleNamespace

import commands
import numpy as np
import pytest
from root import ROOT

from hanamachi.games.registry import VARIANTS, variant
from hanamachi.policies.agents import agent_folder, agents_of
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.training.evaluation.playing import DecisionRequest

SCRIPT = ROOT / "scripts" / "leaderboard.py"
GAME = "hanamikoji"
GUEST = str(agent_folder(GAME))  # by its path it is somebody else
FEW = ("--each", "2", "--search-each", "2")


def leaderboard(out, *more):
    return commands.script(SCRIPT, ["--out", out, "--games", GAME, *FEW, *more], out)


def test_everybody_is_measured_once_and_listed(tmp_path):
    assert leaderboard(tmp_path, "--add", GUEST) == f"played: {GAME}\n"
    assert leaderboard(tmp_path) == f"searched: {GAME}\n"  # who was added stays
    page = (tmp_path / "leaderboard.md").read_text(encoding="utf-8")
    for name in [*rule_policies_for(variant(GAME)), GAME, GUEST]:
        assert f"| `{name}` |" in page
    assert "| `search:improve:hanamikoji:worlds=16` |" in page
    assert leaderboard(tmp_path, "--add", "greedy") == ""  # all is there already
    assert leaderboard(tmp_path, "--anew", "--add", "greedy") == f"played: {GAME}\n"


def test_a_stopped_tournament_goes_on_and_leaves_only_its_results(tmp_path):
    script = runpy.run_path(str(SCRIPT))
    everybody = script["players"](GAME, {}, [])
    whole = script["tournament"](GAME, everybody, 2, tmp_path)
    kept = tmp_path / "leaderboard.games" / GAME / "games"
    shutil.rmtree(min(folder for folder in kept.iterdir() if folder.is_dir()))
    assert leaderboard(tmp_path).startswith(f"played: {GAME}\n")
    results = json.loads((tmp_path / "leaderboard.json").read_text(encoding="utf-8"))
    assert results[GAME]["tournament"] == json.loads(json.dumps(whole))
    assert not (tmp_path / "leaderboard.games").exists()


def test_an_agent_that_has_changed_is_measured_again(tmp_path):
    leaderboard(tmp_path)
    data = tmp_path / "leaderboard.json"
    results = json.loads(data.read_text(encoding="utf-8"))
    weights = results[GAME]["weights"]
    for agent, measured in (
        (GAME, f"played: {GAME}\nsearched: {GAME}\n"),
        ("a partner", f"played: {GAME}\n"),
    ):
        results[GAME]["weights"] = weights | {agent: "those of another"}
        data.write_text(json.dumps(results), encoding="utf-8")
        assert leaderboard(tmp_path) == measured


def test_the_page_shows_what_was_measured():
    results = json.loads((ROOT / "docs" / "leaderboard.json").read_text(encoding="utf-8"))
    script = runpy.run_path(str(SCRIPT))
    page, weights_of = script["page"], script["weights_of"]
    assert {game: result["weights"] for game, result in results.items()} == {
        game: weights_of(game) for game in VARIANTS if agents_of(game)
    }
    for game, result in results.items():
        for name in [*rule_policies_for(variant(game)), *agents_of(game)]:
            assert f"| `{name}` |" in page({game: result})
    assert (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8") == page(results)


def test_the_page_on_strength_has_the_bound_of_every_agent_that_competes():
    results = json.loads((ROOT / "docs" / "leaderboard.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "strength.md").read_text(encoding="utf-8")
    table = list(runpy.run_path(str(SCRIPT))["bounds"](results))
    for game in results:
        assert VARIANTS[game].cooperative or any(f"| `{game}` |" in line for line in table)
    assert "\n".join(table) in page


@pytest.mark.parametrize(("side", "legal", "timed"), [(0, 2, 1), (0, 1, 0), (1, 2, 0)])
def test_only_choices_of_the_search_are_timed(side, legal, timed, monkeypatch):
    script = runpy.run_path(str(SCRIPT))
    watch, turns = script["Stopwatch"](), SimpleNamespace(masks=np.ones((1, legal), np.int8))
    monkeypatch.setitem(watch.decide.__globals__, "decide", lambda asked: np.zeros(1))
    watch.decide(DecisionRequest(side, 1, None, turns, None, "sample"))
    assert len(watch.seconds) == timed


def test_a_search_has_a_rating_once_it_has_played_everybody():
    script, names = runpy.run_path(str(SCRIPT)), ["strong", "weak"]
    play = {"elo": [100.0, -100.0]}
    against = {"policy": "search", "play": "sample", "games": 1_000, "low": 0.7, "high": 0.8}
    rows = [{**against, "opponent": name, "rate": 0.75} for name in names]
    assert not script["met_all"](rows[:1], names)
    assert script["met_all"](rows, names)
    elo, line = script["search_row"](names, play, [0, 1], rows)
    assert 100 < elo < 400
    assert line.count("75.0 ± 5.0") == 2


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize(("tried", "changes"), [(1, False), (20, True)])
def test_a_search_gains_by_what_its_blueprint_would_not_play(tried, changes, everywhere, tmp_path):
    budget, team = f"worlds=2,hands=10,top={tried}", runpy.run_path(str(SCRIPT))["search_in_team"]
    found = team("hanabi:3p", budget, 3, tmp_path, everywhere)
    assert found["games"] == 3
    assert (found["gain"]["low"] == found["gain"]["high"] == 0) != changes
    assert found["score"]["low"] <= found["score"]["mean"] <= found["score"]["high"]


def test_a_stopped_search_of_a_team_goes_on_with_the_same_result(tmp_path):
    team = runpy.run_path(str(SCRIPT))["search_in_team"]
    whole = team("hanabi:2p", "worlds=2,hands=10", 3, tmp_path / "whole")
    team.__globals__.update(PART=1, processors=lambda: 1)
    assert team("hanabi:2p", "worlds=2,hands=10", 3, tmp_path) == whole
    kept = sorted(tmp_path.glob("leaderboard.games/hanabi-2p/*/*.npy"))
    assert len(kept) == 3
    kept[2].unlink()
    team.__globals__.update(load_policy=None)  # what is kept is not played again
    with pytest.raises(TypeError):
        team("hanabi:2p", "worlds=2,hands=10", 3, tmp_path)
    assert team("hanabi:2p", "worlds=2,hands=10", 2, tmp_path)["games"] == 2
