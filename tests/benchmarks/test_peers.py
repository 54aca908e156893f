"""Comparisons with other libraries do what they say, whichever of the libraries are installed."""

import re
import sys
from importlib import import_module
from itertools import cycle

import commands
import numpy as np
import pytest
from root import ROOT

from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.training.benchmark import kernel
from hanamachi.training.benchmark.measure import Comparison, Omission, Side, Work

TINY = {"rounds": 1, "seconds": 0}
MODULES = (
    "pyspiel",
    "rlcard",
    "pgx",
    "pettingzoo.classic.hanabi",
    "pettingzoo.classic.connect_four",
)


@pytest.fixture
def load(monkeypatch):
    """Import a file of benchmarks/ by its name."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return import_module


@pytest.fixture
def peers(load):
    return load("peers")


@pytest.fixture
def engines(load):
    return load("engines")


@pytest.fixture
def ratios(load):
    return load("ratios")


@pytest.fixture
def tiny(engines, monkeypatch):
    monkeypatch.setattr(kernel, "BATCH", 16)
    monkeypatch.setattr(kernel, "DECISIONS", 5)
    monkeypatch.setattr(kernel, "RECORDED", 100)
    monkeypatch.setattr(engines, "RECORDED", (2, 100))
    monkeypatch.setattr(engines, "TRIAL", 0)


def work(name):
    return Work(lambda: 1, f"what {name} gives")


# --- Which sides are compared


def test_a_missing_library_is_named_in_one_line_and_the_others_are_measured(peers):
    def absent():
        raise ImportError("no such library")

    chess = peers.Peer("Their chess", "TheirLibrary", absent)
    go = peers.Peer("theirs", "Lib", lambda: work("theirs"))
    ours = Side("ours", lambda: work("ours"))
    left_out, comparison = peers.played(peers.Match(ours, [chess, go]), **TINY)
    assert isinstance(left_out, Omission)
    assert "Their chess" in left_out.why
    assert "TheirLibrary is not installed; run: pip install" in left_out.why
    assert "\n" not in left_out.why
    assert (comparison.what, comparison.baseline) == ("ours", "theirs")
    assert (comparison.gives, comparison.baseline_gives) == ("what ours gives", "what theirs gives")


def test_without_any_other_library_all_of_them_are_named(peers, tiny, monkeypatch):
    for name in MODULES:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    report = peers.measure(["engine", "adapters"], ["hanamikoji"], **TINY)
    assert not report.comparisons
    assert len(report.left_out) == 2 * len(peers.engine_peers(make_variant("hanamikoji"))) + 2
    assert all("pip install 'hanamachi[bench]'" in line for line in report.left_out)


def test_the_page_names_every_peer(peers):
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    variant = make_variant("hanabi:2p")
    matches = [match for matches in peers.KINDS.values() for match in matches(variant)]
    for name in {peer.name for match in matches for peer in match.peers}:
        words = re.findall(r"\w+", name.partition(",")[0])
        assert all(word in page for word in words), name


# --- What the peers play


@pytest.mark.parametrize(
    ("name", "module", "entries"),
    [
        ("OpenSpiel hanabi, 2 players", "pyspiel", 658),
        ("OpenSpiel gin_rummy", "pyspiel", 644),
        ("OpenSpiel leduc_poker", "pyspiel", 16),
        ("PettingZoo hanabi, 2 players", "pettingzoo.classic.hanabi.hanabi", 658),
        ("RLCard gin-rummy", "rlcard", 260),
        ("PGX leduc_holdem", "pgx", 34),
    ],
)
def test_a_peer_plays_and_says_what_it_delivers(engines, tiny, monkeypatch, name, module, entries):
    pytest.importorskip(module)
    monkeypatch.setattr(engines, "BATCHES", (2, 4))
    monkeypatch.setattr(engines, "BATCHED_DECISIONS", 8)
    (peer,) = [p for p in engines.engine_peers(make_variant("hanabi:2p")) if p.name == name]
    prepared = peer.prepare()
    assert prepared.play() + prepared.play() > 0
    assert f"observation of {entries} entries" in prepared.gives


def test_pettingzoo_plays_hanabi_until_the_deck_is_empty(engines):
    play = engines.pettingzoo_hanabi(2).play
    assert np.mean([play() for _ in range(4)]) > 60  # 40 cards are drawn, clues between them


def test_the_pipeline_learns_from_connect_four(load, monkeypatch):
    pytest.importorskip("pettingzoo.classic.connect_four.connect_four")
    pipeline = load("pipeline")
    monkeypatch.setattr(pipeline, "SETTINGS", {"n_steps": 64, "n_epochs": 1})
    assert pipeline.pipeline().play() == 64


# --- Ratios that are kept


def test_a_ratio_is_lost_if_it_is_low_three_times(ratios):
    runs = iter([{"a": 7.4}, {"a": 6.0}, {"a": 7.4}])
    assert ratios.losses(lambda: next(runs), {"a": 10.0}) == ["a: 7.4, but it was 10"]


@pytest.mark.parametrize("found", [[7.6], [7.4, 7.6], [7.4, 7.4, 7.6]])
def test_a_ratio_that_was_reached_once_is_not_lost(ratios, found):
    runs = iter(found)
    assert ratios.losses(lambda: {"a": next(runs), "new": 1}, {"a": 10, "elsewhere": 1}) == []
    assert list(runs) == []


def test_two_ratios_that_are_low_in_turn_are_not_lost(ratios):
    runs = cycle([{"a": 1, "b": 9}, {"a": 9, "b": 1}])
    assert ratios.losses(lambda: next(runs), {"a": 10, "b": 10}) == []


def test_a_run_that_measures_no_kept_ratio_is_refused(ratios):
    with pytest.raises(UserError, match=r"hanamachi\[bench\]"):
        ratios.losses(lambda: {"b": 1}, {"a": 1})


def test_ratios_are_kept_to_three_digits(ratios, tmp_path):
    ratios.keep({"a": 123.456, "b": 0.12345}, tmp_path / "ratios.json")
    assert ratios.kept(tmp_path / "ratios.json") == {"a": 123, "b": 0.123}


@pytest.mark.parametrize("content", ["", "[]", '{"a": null}', '{"a": "x"}'])
def test_a_file_without_ratios_is_refused(ratios, content, tmp_path):
    (tmp_path / "ratios.json").write_text(content)
    with pytest.raises(UserError, match="--keep"):
        ratios.kept(tmp_path / "ratios.json")


@pytest.mark.parametrize(("was", "code"), [(1e-6, 0), (1e6, 1)])
def test_the_command_fails_where_a_ratio_is_lost(
    was, code, peers, ratios, tiny, tmp_path, monkeypatch
):
    theirs = peers.Peer("theirs", "Lib", lambda: work("theirs"))
    monkeypatch.setattr(peers, "engine_peers", lambda variant: [theirs])
    file = tmp_path / "ratios.json"

    def command(*options):
        options = ["engine", "--rounds", "1", "--seconds", "0", *map(str, options)]
        monkeypatch.setattr(sys, "argv", ["peers.py", *options])
        return peers.main(peers.arguments())

    assert command("--keep", file, "--out", tmp_path) == 0
    names = ratios.kept(file)
    assert [name.rpartition(", ")[2] for name in names] == ["int8 / theirs", "float32 / theirs"]
    assert (tmp_path / "benchmark.json").exists()
    ratios.keep(dict.fromkeys(names, was), file)
    assert command("--against", file) == code


def test_a_kept_ratio_that_is_not_measured_is_named(
    peers, ratios, tiny, tmp_path, monkeypatch, capsys
):
    theirs = peers.Peer("theirs", "Lib", lambda: work("theirs"))
    monkeypatch.setattr(peers, "engine_peers", lambda variant: [theirs])
    options = ["engine", "--rounds", "1", "--seconds", "0", "--keep", str(tmp_path / "kept.json")]
    monkeypatch.setattr(sys, "argv", ["peers.py", *options])
    peers.main(peers.arguments())
    kept = dict.fromkeys(ratios.kept(tmp_path / "kept.json"), 1e-6)
    ratios.keep({**kept, "ours / renamed": 1}, tmp_path / "kept.json")
    monkeypatch.setattr(sys, "argv", ["peers.py", *options[:-2], "--against", options[-1]])
    assert peers.main(peers.arguments()) == 0
    assert capsys.readouterr().err.count("not measured") == 1


def test_the_command_helps(tmp_path):
    assert "--against" in commands.script(ROOT / "benchmarks" / "peers.py", ["--help"], tmp_path)


def test_ratios_are_either_kept_or_compared(peers, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["peers.py", "--keep", "new.json", "--against", "old.json"])
    with pytest.raises(SystemExit):
        peers.arguments()
    assert "not allowed with" in capsys.readouterr().err


def test_what_is_kept_is_what_make_bench_measures(peers, ratios):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\nbench:")[2].partition("\n\n")[0]
    games = re.findall(r"--game (\S+)", recipe)
    matches = [match for game in games for match in peers.engine_matches(make_variant(game))]
    measured = {f"{m.ours.name} / {peer.name}" for m in matches for peer in m.peers}
    assert "ratios.json" in recipe
    assert ratios.kept(ROOT / "benchmarks" / "ratios.json").keys() <= measured


def test_a_ratio_is_named_after_both_sides(peers):
    report = peers.Report({}, None, comparisons=[Comparison("a", "", "b", "", [4], [2])])
    assert peers.ratios_of(report) == {"a / b": 2}
