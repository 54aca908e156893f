"""The page on what search is worth is what its script measured."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest
from root import ROOT
from samples import WHOLE

from hanamachi.training.cluster import ONE_THREAD


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return import_module("search")


def test_the_page_shows_what_was_measured(script):
    results, agents = (
        script.kept(ROOT / "docs" / f"{name}.json") for name in ("search", "leaderboard")
    )
    for match in (*script.CURVE, *script.TENTH, *script.BESIDE):
        assert results[script.key(match)]["games"] == match.games
    page = (ROOT / "docs" / script.PAGE_NAME).read_text(encoding="utf-8")
    assert page == script.page(results, agents)
    for agent in agents:
        assert re.search(rf"\| `search:\w+:{agent}:worlds=\d+` \|", page)


def test_every_search_is_measured_once_and_shown(script, monkeypatch, tmp_path, capsys):
    curve = [
        script.Match("hanamikoji", f"search:improve:expert:worlds={worlds}", "expert", 2)
        for worlds in (1, 2)
    ]
    other = script.Match("hanamikoji", "search:mcts:worlds=1", "greedy", 2)
    with_partners = script.Match(
        "hanabi:2p", "search:single_agent:expert:worlds=1,hands=2", "expert", 2
    )
    short = {"SECONDS": (0.1, 0.2), "CURVE": curve, "TENTH": [other], "BESIDE": [with_partners]}
    for name, value in {**short, "PLAIN": 2}.items():
        monkeypatch.setattr(script, name, value)
    if not WHOLE:  # a process takes long to import what is here already
        monkeypatch.setattr(script, "ProcessPoolExecutor", lambda *how: ThreadPoolExecutor(1))
    for name in ONE_THREAD:
        monkeypatch.setenv(name, "1")  # as the script does, but not for other tests
    monkeypatch.setattr(sys, "argv", ["search.py", "--out", str(tmp_path)])
    script.main(script.parsed())
    assert len(capsys.readouterr().out.splitlines()) == 4
    page = (tmp_path / script.PAGE_NAME).read_text(encoding="utf-8")
    for match in (*curve, other, with_partners):
        assert f"`{match.search}`" in page
    assert (tmp_path / "search.png").stat().st_size > 10_000
    script.main(script.parsed())
    assert capsys.readouterr().out == ""  # all is there already


def test_the_gain_beside_a_partner_is_the_difference_of_two_means(script):
    searched, plain = (
        {"mean": m, "low": m - h, "high": m + h} for m, h in ((23.6, 0.3), (22.6, 0.4))
    )
    gain = script.difference(searched, plain)
    assert gain == pytest.approx({"plain": 22.6, "mean": 1.0, "low": 0.5, "high": 1.5})
