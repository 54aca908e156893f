"""The benchmark measures what it says; no test depends on how fast anything is."""

import json
import re
from itertools import count

import numpy as np
import pytest
import torch
from root import ROOT

from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.training import benchmark
from hanamachi.training.benchmark import (
    adapters,
    engine,
    evaluation,
    kernel,
    measure,
    memory,
    scale,
    search,
    start,
)
from hanamachi.training.benchmark import training as learning
from hanamachi.training.benchmark.measure import (
    Case,
    Comparison,
    Curve,
    Figure,
    Omission,
    Side,
    Work,
)
from hanamachi.training.benchmark.recorded import recorded, replay
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


def side(name):
    return Side(name, lambda: Work(lambda: 1, f"what {name} gives"))


# --- What a comparison is


def test_a_ratio_is_the_median_of_the_rounds():
    comparison = Comparison("a", "", "b", "", rates=[2, 4, 9], baseline_rates=[1, 4, 3])
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


def test_each_baseline_is_compared_with_the_measured_side():
    case = Case(side("ours"), [side("floor"), side("kernel")])
    compared = list(measure.compare(case, **TINY))
    assert [(c.what, c.baseline) for c in compared] == [("ours", "floor"), ("ours", "kernel")]
    assert (compared[0].gives, compared[0].baseline_gives) == (
        "what ours gives",
        "what floor gives",
    )


# --- Every kind runs


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(kernel, "BATCH", 16)
    monkeypatch.setattr(kernel, "DECISIONS", 5)
    monkeypatch.setattr(kernel, "RECORDED", 100)
    monkeypatch.setattr(engine, "MANY", 32)
    monkeypatch.setattr(adapters, "MANY", 16)
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
            "adapters",
            [
                ("hanamikoji, raw_env()", "idle raw_env()"),
                ("hanamikoji, usual wrappers", "idle, usual wrappers"),
                ("hanamikoji, VectorEnv", "hanamikoji, the kernel alone"),
            ],
        ),
        ("training", [("hanamikoji, training", "forward-backward")]),
    ],
)
def test_a_kind_compares_with_its_baselines(tiny, kind, compared):
    report = benchmark.run([kind], ["hanamikoji"], **TINY)
    assert [(c.what, c.baseline) for c in report.comparisons] == compared
    assert all(len(c.rates) == 1 and c.ratio > 0 for c in report.comparisons)
    assert not report.left_out


def test_memory_counts_the_bytes_of_every_variant(tiny):
    figures = benchmark.run(["memory"], ["hanamikoji"], **SMALL).figures
    cells = {(f.what, f.measure): f.values for f in figures}
    assert {what for what, _ in cells} == set(VARIANTS)
    for id in VARIANTS:
        variant = make_variant(id)
        game = np.zeros(1, variant.game.record).nbytes
        view = np.zeros(variant.observation.size, np.float32).nbytes
        assert cells[id, "record"] == [game]
        assert cells[id, "with float32 observation"] == [game + view + variant.actions.size]
        assert cells[id, "with 1-byte observation"] == [game + view / 4 + variant.actions.size]
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
    assert values["first step of hanamikoji, kernels cached"] == [1, 1]
    assert values["first step of hanamikoji, kernels to be compiled"] == [0]


@pytest.mark.parametrize(
    "program", ["import os; os.kill(os.getpid(), 9)", "raise MemoryError"], ids=["killed", "none"]
)
def test_what_gets_no_memory_is_left_out(program, monkeypatch):
    for name in ("IMPORT", "FIRST_STEP"):
        monkeypatch.setattr(start, name, program)
    monkeypatch.setattr(memory, "PROGRAM", program)
    variant = make_variant("hanamikoji")
    found = [*start.figures([variant], rounds=1), *memory.peaks(variant, most=8)]
    assert all(isinstance(each, Omission) and "memory" in each.why for each in found)
    assert "8 games" in found[-1].why


def test_an_odd_number_of_games_at_once_is_evaluated_too(monkeypatch):
    (figure,) = evaluation.figures([make_variant("hanamikoji")], rounds=1, most=3)
    assert figure.measure.startswith("2 games")


def test_an_evaluation_is_timed_after_a_round_that_compiles(monkeypatch):
    now, takes = [0], iter([100, 1, 2])  # seconds of each match
    monkeypatch.setattr(evaluation, "match", lambda *_: now.append(now[-1] + next(takes)))
    monkeypatch.setattr(evaluation.time, "perf_counter", lambda: now[-1])
    (figure,) = evaluation.figures([make_variant("hanamikoji")], rounds=2, most=2)
    assert figure.values == [1, 2]


def test_start_takes_a_step():
    assert start.seconds_of(start.FIRST_STEP, "hanamikoji") > 0


def test_search_simulates_whole_games(monkeypatch):
    monkeypatch.setattr(search, "MANY", 8)
    monkeypatch.setattr(search, "SECONDS", 0)
    report = benchmark.run(["search"], ["hanamikoji"], **TINY)
    (figure,) = report.figures
    assert figure.measure.startswith("random play")
    assert figure.values[0] > 0
    assert search.whole_games(make_variant("hanamikoji")) > 8 * 8  # a round has more decisions


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused():
    with pytest.raises(UserError, match="cuda is not there"):
        benchmark.run(["training"], ["hanamikoji"], **TINY, device="cuda")


@pytest.mark.parametrize(
    ("kind", "option"),
    [("scale", "--seconds=1"), ("engine", "--most=9"), ("evaluation", "--device=cuda")],
)
def test_a_setting_that_no_kind_takes_is_refused(kind, option, capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "run", lambda *_, **__: pytest.fail("measured"))
    with pytest.raises(SystemExit, match="2"):
        cli.main(["benchmark", kind, option])
    assert f"leave out {option.partition('=')[0]}" in capsys.readouterr().err


def test_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match="did you mean engine"):
        benchmark.run(["engin"], ["hanamikoji"])


# --- The same work


def test_a_batch_makes_the_decisions_that_it_counts(tiny):
    for dtype in (np.int8, np.float32):
        assert kernel.random_play(make_variant("hanamikoji"), dtype, 16).play() == 16 * 5
        assert kernel.mixed_play(make_variant("hanabi:2p"), dtype, 16).play() == 16 * 100


def test_recorded_decisions_are_replayed():
    """The last observations and masks equal those of the batch that was recorded."""
    variant = make_variant("hanabi:2p")
    games = SelfPlayVecEnv(variant, 4)
    actions = recorded(games, 150)
    games.reseed(0)
    games.restart()
    replayed, seen, masks = (
        games.games.copy(),
        np.zeros((4, 672), np.float32),
        np.zeros((4, 20), np.int8),
    )
    for row in actions[:-1]:
        games.advance(row)
    replay(variant.rule_set, replayed, np.ascontiguousarray(actions.T), seen, masks)
    np.testing.assert_array_equal(seen, games.observations)
    np.testing.assert_array_equal(masks, games.masks)


def test_hanabi_is_played_until_the_deck_is_empty():
    play = adapters.one_game(adapters.AEC, make_variant("hanabi:2p")).play
    assert np.mean([play() for _ in range(4)]) > 60  # 40 cards are drawn, clues between them


def test_the_idle_environment_counts_its_steps():
    assert adapters.idle(make_variant("hanamikoji")).play() == adapters.IDLE_STEPS
    assert (
        adapters.idle(make_variant("hanabi:3p"), adapters.usual_wrappers).play()
        == adapters.IDLE_STEPS
    )


def test_the_page_names_every_baseline():
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    variant = make_variant("hanabi:2p")
    cases = [*adapters.cases(variant), *learning.cases(variant, "cpu")]
    baselines = [baseline.name for case in cases for baseline in case.baselines]
    sides = {row.split("|")[2].replace("`", "").strip() for row in re.findall(r"\|.*\|", page)}
    assert {name.removeprefix(f"{variant.id}, ") for name in baselines} <= sides


# --- What is written


@pytest.fixture
def report():
    compared = Comparison("ours", "much", "theirs", "little", [30, 40, 90], [3, 2, 3])
    figures = [
        Figure("game", "record", "bytes", [160]),
        Figure("import", "time", "s", [1, 3, 2]),
        Figure("game", "two games", "s", [5]),  # whose measures differ from those of the import
    ]
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
    assert row["baseline_gives"] == "little"
    assert content["machine"]["processor"] == "abacus"
    assert (content["load_before"], content["load_after"]) == (0.1, 0.2)
    assert [figure["values"] for figure in content["figures"]] == [[160], [1, 3, 2], [5]]
    assert content["curves"][1]["rates"] == [[5, 7, 6], [16, 16, 16]]
    for image in (picture, curves):
        assert image.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["benchmark.json", "benchmark.png", "scale.png"])
def test_no_report_is_replaced_and_that_is_said_before_anything_is_measured(name, tmp_path, capsys):
    (tmp_path / name).write_text("theirs")
    with pytest.raises(SystemExit, match="2"):
        cli.main(["benchmark", "engine", "--out", str(tmp_path)])
    assert f"{name} is there already" in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["theirs"]


def test_the_picture_shows_medians_and_ranges_on_a_log_axis(report):
    (axes,) = draw(report).axes
    (bar,) = axes.patches
    (extent,) = [c.lines[2][0].get_segments()[0] for c in axes.containers if len(c) == 3]
    assert axes.get_xscale() == "log"
    assert bar.get_x() + bar.get_width() == 20
    assert extent[:, 0].tolist() == [10, 30]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ours /\ntheirs"]


def test_a_curve_goes_through_the_medians(report):
    (axes,) = draw_curves(report).axes
    assert [line.get_ydata().tolist() for line in axes.lines] == [[6, 8], [6, 16]]
    assert [line.get_xdata().tolist() for line in axes.lines] == [[1, 64]] * 2


def test_without_comparisons_and_curves_there_is_no_picture(report, tmp_path):
    report.comparisons.clear()
    report.curves.clear()
    assert [path.name for path in write(report, tmp_path)] == ["benchmark.json"]
