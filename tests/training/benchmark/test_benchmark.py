"""The benchmark compares what it says, whatever is installed; no test asks how fast anything is."""

import json
import re
import sys
from itertools import count, cycle

import numpy as np
import pytest
from root import ROOT

from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.training import benchmark
from hanamachi.training.benchmark import (
    engine,
    faces,
    kernel,
    measure,
    memory,
    peers,
    ratios,
    scale,
    searching,
    start,
)
from hanamachi.training.benchmark import training as learning
from hanamachi.training.benchmark.measure import (
    Comparison,
    Contest,
    Curve,
    Figure,
    LeftOut,
    Side,
    Work,
)
from hanamachi.training.benchmark.recorded import follow, recorded
from hanamachi.training.benchmark.report import Report, draw, draw_curves, tables, write
from hanamachi.training.cli import main as cli
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

TINY = {"rounds": 1, "seconds": 0}
SMALL = {**TINY, "most": 64}
SMALL_RUN = {
    "device": "cpu",
    "num_games": 8,
    "network": {"hidden": [16]},
    "ppo": {"batch_size": 64, "n_epochs": 1},
}
PEERS = ("pyspiel", "rlcard", "pgx", "pettingzoo.classic.hanabi", "pettingzoo.classic.connect_four")


def side(name, work=lambda: 1, library=""):
    return Side(name, lambda: Work(work, f"what {name} gives"), library)


def absent():
    raise ImportError("no such library")


# --- What a comparison is


def test_a_ratio_is_the_median_of_the_rounds():
    comparison = Comparison("a", "", "b", "", "", rates=[2, 4, 9], peer_rates=[1, 4, 3])
    assert comparison.ratios == [2, 1, 3]
    assert comparison.ratio == 2


def test_the_sides_take_turns_after_a_round_that_does_not_count():
    calls = []
    ours, theirs = (lambda name=name: calls.append(name) or 1 for name in ("ours", "theirs"))
    measured = measure.in_turn(ours, theirs, 2, 0)
    assert calls == ["ours", "theirs"] * 3
    assert len(measured) == 2


def test_a_rate_counts_all_work_of_its_time(monkeypatch):
    clock = count(step=2)  # seconds a look
    monkeypatch.setattr(measure.time, "perf_counter", lambda: next(clock))
    assert measure.rate(lambda: 10, seconds=5) == 30 / 6


def test_a_peer_that_is_missing_is_named_in_one_line_and_the_others_are_measured():
    missing = Side("Their chess", absent, "TheirLibrary")
    contest = Contest(side("ours"), [missing, side("theirs")])
    left_out, comparison = measure.compare(contest, **TINY)
    assert isinstance(left_out, LeftOut)
    assert "Their chess" in left_out.why
    assert "TheirLibrary is not installed; run: pip install" in left_out.why
    assert "\n" not in left_out.why
    assert (comparison.what, comparison.peer) == ("ours", "theirs")
    assert (comparison.gives, comparison.peer_gives) == ("what ours gives", "what theirs gives")


# --- Every kind runs


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(kernel, "BATCH", 16)
    monkeypatch.setattr(kernel, "DECISIONS", 5)
    monkeypatch.setattr(kernel, "RECORDED", 100)
    monkeypatch.setattr(engine, "MANY", 32)
    monkeypatch.setattr(faces, "MANY", 16)
    monkeypatch.setattr(peers, "RECORDED", (2, 100))
    monkeypatch.setattr(peers, "TRIAL", 0)
    monkeypatch.setattr(scale, "BATCHES", (1, 8, 100))
    monkeypatch.setattr(scale, "SECONDS", 0)
    monkeypatch.setattr(learning, "SETTINGS", SMALL_RUN)


@pytest.mark.parametrize(
    ("kind", "compared"),
    [
        (
            "engine",
            [
                ("hanamikoji, random play, int8", "hanamikoji, raw_env()"),
                ("hanamikoji, random play, float32", "hanamikoji, raw_env()"),
                (
                    "hanamikoji, random play, int8, 32 games",
                    "hanamikoji, random play, int8, 32 games, threads: 1",
                ),
            ],
        ),
        (
            "faces",
            [
                ("hanamikoji, raw_env()", "idle raw_env()"),
                ("hanamikoji, usual wrappers", "idle, usual wrappers"),
                ("hanamikoji, VectorEnv", "hanamikoji, its kernel"),
            ],
        ),
        ("training", [("hanamikoji, training", "its bare network")]),
    ],
)
def test_without_peers_we_are_beside_ourselves(tiny, kind, compared):
    report = benchmark.run([kind], ["hanamikoji"], **TINY)
    assert [(c.what, c.peer) for c in report.comparisons] == compared
    assert all(len(c.rates) == 1 and c.ratio > 0 for c in report.comparisons)
    assert not report.left_out


def test_without_any_other_library_the_run_goes_on(tiny, monkeypatch):
    for name in PEERS:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    report = benchmark.run(["engine", "faces"], ["hanamikoji"], peers=True, **TINY)
    assert len(report.comparisons) == 6
    assert len(report.left_out) == 2 * len(peers.engine_peers(make_variant("hanamikoji"))) + 2
    assert all("pip install 'hanamachi[bench]'" in line for line in report.left_out)


def test_memory_counts_the_bytes_of_every_variant(tiny):
    figures = benchmark.run(["memory"], ["hanamikoji"], **SMALL).figures
    cells = {(f.what, f.measure): f.values for f in figures}
    assert {what for what, _ in cells} == set(VARIANTS)
    for id in VARIANTS:
        variant = make_variant(id)
        game = np.zeros(1, variant.game.record).nbytes
        view = np.zeros(variant.observation.size, np.float32).nbytes
        assert cells[id, "record"] == [game]
        assert cells[id, "with float32 view"] == [game + view + variant.actions.size]
        assert cells[id, "with 1-byte view"] == [game + view / 4 + variant.actions.size]
    if memory.STATUS.exists():
        assert cells["hanamikoji", "64 games"][0] > 1


def test_evaluation_is_timed_and_scale_is_a_curve(tiny):
    report = benchmark.run(["evaluation", "scale"], ["hanamikoji"], **SMALL)
    (evaluation,) = report.figures
    assert evaluation.measure == "64 games, network against greedy"
    assert evaluation.values[0] > 0
    assert {curve.what for curve in report.curves} == {"hanamikoji"}
    assert {curve.measure for curve in report.curves} >= {"threads: 1"}
    assert all(curve.batches == [1, 8] and min(curve.medians) > 0 for curve in report.curves)


def test_start_compiles_in_an_empty_cache_and_else_does_not(monkeypatch):
    finds_a_cache = "import os; print(float(not os.environ.get('NUMBA_CACHE_DIR')))"
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(start, "FIRST_STEP", finds_a_cache)
    monkeypatch.setattr(start, "IMPORT", "print(1)")
    figures = start.figures([make_variant("hanamikoji")], rounds=2)
    values = {figure.what: figure.values for figure in figures}
    assert values["first step of hanamikoji, compiled before"] == [1, 1]
    assert values["first step of hanamikoji, to be compiled"] == [0]


def test_start_takes_a_step():
    assert start.seconds_of(start.FIRST_STEP, "hanamikoji") > 0


def test_search_simulates_whole_games(monkeypatch):
    monkeypatch.setattr(searching, "MANY", 8)
    monkeypatch.setattr(searching, "SECONDS", 0)
    report = benchmark.run(["search"], ["hanamikoji"], **TINY)
    (figure,) = report.figures
    assert figure.measure.startswith("random play")
    assert figure.values[0] > 0
    assert searching.whole_games(make_variant("hanamikoji")) > 8 * 8  # a round has more decisions


def test_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match="did you mean engine"):
        benchmark.run(["engin"], ["hanamikoji"])


# --- The same work


def test_a_batch_makes_the_decisions_that_it_counts(tiny):
    for dtype in (np.int8, np.float32):
        assert kernel.random_play(make_variant("hanamikoji"), dtype, 16).play() == 16 * 5
        assert kernel.mixed_play(make_variant("hanabi:2p"), dtype, 16).play() == 16 * 100


def test_games_are_led_through_what_was_recorded():
    """Beside the batch that the recording was made with: all views of the last decisions agree."""
    variant = make_variant("hanabi:2p")
    games = SelfPlayVecEnv(variant, 4)
    actions = recorded(games, 150)
    games.reseed(0)
    games.restart()
    led, seen, masks = (
        games.games.copy(),
        np.zeros((4, 672), np.float32),
        np.zeros((4, 20), np.int8),
    )
    for row in actions[:-1]:
        games.advance(row)
    follow(variant.rule_set, led, np.ascontiguousarray(actions.T), seen, masks)
    np.testing.assert_array_equal(seen, games.observations)
    np.testing.assert_array_equal(masks, games.masks)


@pytest.mark.parametrize("work", [
    lambda: faces.face(faces.AEC, make_variant("hanabi:2p")),
    lambda: peers.pettingzoo_hanabi(2),
])  # fmt: skip
def test_hanabi_is_played_until_the_deck_is_empty(work):
    play = work().play
    assert np.mean([play() for _ in range(4)]) > 60  # 40 cards are drawn, clues between them


def test_nothing_happens_in_the_floor():
    assert faces.idle(make_variant("hanamikoji")).play() == faces.IDLE_STEPS
    assert faces.idle(make_variant("hanabi:3p"), faces.guarded).play() == faces.IDLE_STEPS


def engine_peer(name):
    (found,) = [side for side in peers.engine_peers(make_variant("hanabi:2p")) if side.name == name]
    return found


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
def test_a_peer_plays_and_says_what_it_delivers(tiny, monkeypatch, name, module, entries):
    pytest.importorskip(module)
    monkeypatch.setattr(peers, "BATCHES", (2, 4))
    monkeypatch.setattr(peers, "BATCHED_DECISIONS", 8)
    work = engine_peer(name).prepare()
    assert work.play() + work.play() > 0
    assert f"observation of {entries} entries" in work.gives


def test_the_pipeline_learns_from_connect_four(monkeypatch):
    pytest.importorskip("pettingzoo.classic.connect_four.connect_four")
    monkeypatch.setattr(learning, "PIPELINE", {"n_steps": 64, "n_epochs": 1})
    assert learning.pipeline().play() == 64


def test_the_page_tells_of_every_side():
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    variant = make_variant("hanabi:2p")
    contests = [*faces.contests(variant, True), *learning.contests(variant, True)]
    others = [other for contest in contests for other in contest.others]
    for name in [other.name for other in [*others, *peers.engine_peers(variant)]]:
        words = re.findall(r"\w+", name.partition(",")[0])
        assert all(word in page for word in words), name


# --- What is written


@pytest.fixture
def report():
    compared = Comparison("ours", "much", "theirs", "little", "Lib", [30, 40, 90], [3, 2, 3])
    figures = [Figure("game", "record", "bytes", [160]), Figure("import", "time", "s", [1, 3, 2])]
    machine = {"processor": "abacus", "cores": 1}
    curves = [Curve("game", f"threads: {n}", [1, 64], [[5, 7, 6], [8 * n] * 3]) for n in (1, 2)]
    return Report(machine, 0.1, 0.2, [compared], figures, curves, ["no PGX: hanamachi[bench]"])


def test_the_tables_show_all_of_it(report, capsys):
    from rich.console import Console

    Console(width=200).print(tables(report))
    shown = capsys.readouterr().out
    for words in (
        "ours",
        "much",
        "theirs",
        "little",
        "20.0",
        "10.0 to 30.0",
        "no PGX: hanamachi[bench]",
        "5.00 to 7.00",
    ):
        assert words in shown
    for words in ("160", "1.00 to 3.00", "abacus", "load after 0.2"):
        assert words in shown


def test_the_file_holds_every_round(report, tmp_path):
    data, picture, curves = write(report, tmp_path / "new")
    content = json.loads(data.read_text())
    (row,) = content["comparisons"]
    assert row["rates"] == [30, 40, 90]
    assert row["ratios"] == [10, 20, 30]
    assert row["ratio"] == 20
    assert row["peer_gives"] == "little"
    assert content["machine"]["processor"] == "abacus"
    assert (content["load_before"], content["load_after"]) == (0.1, 0.2)
    assert [figure["values"] for figure in content["figures"]] == [[160], [1, 3, 2]]
    assert content["curves"][1]["rates"] == [[5, 7, 6], [16, 16, 16]]
    for image in (picture, curves):
        assert image.read_bytes().startswith(b"\x89PNG")


def test_the_picture_shows_medians_and_ranges_on_a_log_axis(report):
    (axes,) = draw(report).axes
    (bar,) = axes.patches
    (reach,) = [c.lines[2][0].get_segments()[0] for c in axes.containers if len(c) == 3]
    assert axes.get_xscale() == "log"
    assert bar.get_x() + bar.get_width() == 20
    assert reach[:, 0].tolist() == [10, 30]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ours\nbeside theirs"]


def test_a_curve_goes_through_the_medians(report):
    (axes,) = draw_curves(report).axes
    assert [line.get_ydata().tolist() for line in axes.lines] == [[6, 8], [6, 16]]
    assert [line.get_xdata().tolist() for line in axes.lines] == [[1, 64]] * 2


def test_without_comparisons_and_curves_there_is_no_picture(report, tmp_path):
    report.comparisons.clear()
    report.curves.clear()
    assert [path.name for path in write(report, tmp_path)] == ["benchmark.json"]


# --- Ratios that are kept


def test_a_ratio_is_lost_if_it_is_low_three_times():
    runs = iter([{"a": 7.4}, {"a": 6.0}, {"a": 7.4}])
    assert ratios.losses(lambda: next(runs), {"a": 10.0}) == ["a: 7.4, but it was 10"]


@pytest.mark.parametrize("found", [[7.6], [7.4, 7.6], [7.4, 7.4, 7.6]])
def test_a_ratio_that_was_reached_once_is_not_lost(found):
    runs = iter(found)
    assert ratios.losses(lambda: {"a": next(runs), "new": 1}, {"a": 10, "elsewhere": 1}) == []
    assert list(runs) == []


def test_two_ratios_that_are_low_in_turn_are_not_lost():
    runs = cycle([{"a": 1, "b": 9}, {"a": 9, "b": 1}])
    assert ratios.losses(lambda: next(runs), {"a": 10, "b": 10}) == []


def test_where_nothing_can_be_compared_that_is_said():
    with pytest.raises(UserError, match=r"hanamachi\[bench\]"):
        ratios.losses(lambda: {"b": 1}, {"a": 1})


def test_ratios_are_kept_to_three_digits(tmp_path):
    ratios.keep({"a": 123.456, "b": 0.12345}, tmp_path / "ratios.json")
    assert ratios.kept(tmp_path / "ratios.json") == {"a": 123, "b": 0.123}


@pytest.mark.parametrize("content", ["", "[]", '{"a": null}', '{"a": "x"}'])
def test_a_file_without_ratios_is_refused(content, tmp_path):
    (tmp_path / "ratios.json").write_text(content)
    with pytest.raises(UserError, match="--keep"):
        ratios.kept(tmp_path / "ratios.json")


@pytest.mark.parametrize(("was", "code"), [(1e-6, 0), (1e6, 1)])
def test_the_command_fails_where_a_ratio_is_lost(was, code, tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(engine, "engine_peers", lambda variant: [side("theirs", library="Lib")])
    file = tmp_path / "ratios.json"
    command = ["benchmark", "engine", "--peers", "--rounds", "1", "--seconds", "0"]
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--keep", str(file), "--out", str(tmp_path)])
    assert ended.value.code == 0
    names = ratios.kept(file)  # not those beside ourselves
    assert [name.rpartition(", ")[2] for name in names] == ["int8 / theirs", "float32 / theirs"]
    assert (tmp_path / "benchmark.json").exists()
    ratios.keep(dict.fromkeys(names, was), file)
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--against", str(file)])
    assert ended.value.code == code
    assert ("slower than before" in capsys.readouterr().out) == bool(code)


def test_what_is_kept_is_what_make_bench_measures():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\nbench:")[2].partition("\n\n")[0]
    games = re.findall(r"--game (\S+)", recipe)
    contests = [c for game in games for c in engine.contests(make_variant(game), peers=True)]
    measured = {f"{c.ours.name} / {other.name}" for c in contests for other in c.others}
    assert "ratios.json" in recipe
    assert ratios.kept(ROOT / "benchmarks" / "ratios.json").keys() <= measured
