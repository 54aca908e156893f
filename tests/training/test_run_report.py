"""A run leaves its learning curve and a report, one page that needs nothing else."""

import base64
import json
import re
from dataclasses import replace
from io import StringIO
from itertools import count
from math import isfinite
from xml.etree import ElementTree

import pytest
from rich.console import Console
from root import ROOT
from small_datasets import SMALL, made
from stable_baselines3.common.logger import TensorBoardOutputFormat

from hanamachi.policies import load_policy
from hanamachi.sessions.saved_games import replay
from hanamachi.training.build import new_learner
from hanamachi.training.callbacks import KeepUnlessWorse, spoken
from hanamachi.training.config import Config
from hanamachi.training.curve import HIGH, LOW, RESULT, LoggedResult, read_curve
from hanamachi.training.curve_pictures import draw_curve, results_picture, short
from hanamachi.training.evaluation.json_results import read_rows
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.evaluation.page import shown
from hanamachi.training.evaluation.result_tables import rows_table
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.modelcard import CHOOSING, ONLY, model_card
from hanamachi.training.ownership import owned
from hanamachi.training.run import clone, train
from hanamachi.training.run_report import sample_game

RUN = {
    "game": "hanamikoji",
    "steps": 1024,
    "num_games": 8,
    "network": {"hidden": [16]},
    "ppo": {"batch_size": 64},
    "evaluation": {"every": 256, "games": 4, "final_games": 4, "opponents": ["random", "greedy"]},
}
RARE = RUN["evaluation"] | {"every": 10_000, "final_opponents": ["random"]}
ROLLOUT = 128  # decisions
RATES = ("rate_against_random", "rate_against_greedy")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    train(Config.from_dict(RUN), folder)
    return folder


def test_the_curve_has_every_evaluation_with_its_interval(out):
    curve = read_curve(out / "tensorboard")
    for name in RATES:
        low, middle, high = (curve[f"{prefix}{name}"] for prefix in (LOW, RESULT, HIGH))
        assert list(low) == list(middle) == list(high) == [256, 512, 768, 1024]
        assert all(low[at] <= middle[at] <= high[at] for at in middle)
    assert list(curve["train/entropy"]) == list(curve["train/value_loss"]) == updates(1024)


def updates(steps):
    """The decisions after each update."""
    return list(range(ROLLOUT, steps + 1, ROLLOUT))


def learned_curve(logs):
    """What a run has logged, but for its speed."""
    return {name: values for name, values in read_curve(logs).items() if "fps" not in name}


def test_every_update_is_logged_once_also_in_a_run_that_is_resumed(tmp_path, monkeypatch):
    config = Config.from_dict(RUN | {"steps": 384, "save_every": ROLLOUT, "evaluation": RARE})
    train(config, tmp_path / "whole")
    collect, calls = SelfPlayPPO.collect, count()

    def stopped(learner):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return collect(learner)

    monkeypatch.setattr(SelfPlayPPO, "collect", stopped)
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "stopped")
    train(config, tmp_path / "stopped", resume=True)
    curve = learned_curve(tmp_path / "whole" / "tensorboard")
    assert list(curve["train/entropy"]) == updates(384)
    assert learned_curve(tmp_path / "stopped" / "tensorboard") == curve


@pytest.mark.parametrize("teacher", ["greedy", "dataset"])
def test_every_update_of_a_clone_is_logged_by_numbers(teacher, tmp_path):
    source = f"dataset:{made(tmp_path / 'dataset')}" if teacher == "dataset" else teacher
    run = RUN | {"init_from": source, "clone": {"steps": 256}, "options": SMALL["hanamikoji"]}
    with owned(tmp_path / "run"):
        clone(Config.from_dict(run), tmp_path / "run")
    curve = read_curve(tmp_path / "run" / "tensorboard" / "clone")
    assert list(curve["train/agreement"]) == updates(256)
    assert all(isfinite(value) for values in curve.values() for value in values.values())


WITH_PARTNER = {"games": 4, "final_games": 4, "partners": ["random"]}


def test_the_page_explains_every_curve(tmp_path):
    page = (ROOT / "docs" / "runs.md").read_text(encoding="utf-8")
    table = page.split("| curve |")[1].split("\n\n")[0]
    drawn: set[str] = set()
    for name, changes in (
        ("rivals", {"critic": "all", "magnet": {"kl_coef": 0.1}}),
        ("distilled", {"distillation": {"share": 0.5, "worlds": 1}}),
        ("team", {"game": "hanabi:2p", "evaluation": WITH_PARTNER}),
        ("clone", {"init_from": "greedy", "clone": {"steps": 128}}),
    ):
        train(Config.from_dict(RUN | {"steps": 256} | changes), tmp_path / name)
        drawn |= read_curve(tmp_path / name / "tensorboard").keys()
    drawn |= read_curve(tmp_path / "clone" / "tensorboard" / "clone").keys()
    names = {name.replace("random", "NAME").replace("greedy", "NAME") for name in drawn}
    ends = {name for name in names if name.startswith((LOW, HIGH))}
    assert names - ends == set(re.findall(r"`(\w+/\w+)`", table))


def test_the_curve_of_a_resumed_run_has_all_of_it(tmp_path):
    for first, value in ((1, 0.25), (3, 0.5)):  # what came after the save at 2 was lost
        log = TensorBoardOutputFormat(str(tmp_path))
        for step in range(first, first + 4):
            log.write({f"{RESULT}score": value}, {f"{RESULT}score": ()}, step)
        log.close()
    values = read_curve(tmp_path)[f"{RESULT}score"]
    assert values == {1: 0.25, 2: 0.25, 3: 0.5, 4: 0.5, 5: 0.5, 6: 0.5}


def test_a_run_with_a_part_of_its_logs_has_a_curve(tmp_path):
    draw_curve({f"{RESULT}score": {1: 2.0}}, "no interval").savefig(tmp_path / "curve.png")
    draw_curve({}, "nothing").savefig(tmp_path / "curve.png")
    assert [short(n) for n in (0, 500, 1_500, 2_000_000)] == ["0", "500", "1.5k", "2M"]


def test_a_single_evaluation_is_shown_with_its_interval(tmp_path):
    name = "rate_against_random"
    alone = {f"{RESULT}{name}": {1_000: 0.5}}
    whole = alone | {f"{LOW}{name}": {1_000: 0.4}, f"{HIGH}{name}": {1_000: 0.6}}
    panel = draw_curve(whole, "one").axes[0]
    _, interval = panel.lines
    assert interval.get_xydata().tolist() == [[1_000, 40], [1_000, 60]]
    left, right = panel.get_xlim()
    assert left == 0 < 1_000 < right
    assert results_picture(whole, 1_000) != results_picture(alone, 1_000)


def test_a_card_says_whether_the_evaluations_chose_the_checkpoint(out, tmp_path):
    alone = Config.from_dict(RUN | {"steps": 256})
    (one, several) = (
        (folder / "policy" / "README.md").read_text(encoding="utf-8")
        for folder in (train(alone, tmp_path / "one").parent, out)
    )
    assert (ONLY in one, CHOOSING in one) == (True, False)
    assert (ONLY in several, CHOOSING in several) == (False, True)


def test_a_card_says_that_the_starting_checkpoint_was_kept_as_it_is():
    config = Config.from_dict(RUN | {"init_from": "runs/first/policy"})
    card = model_card(config, {}, 0, [])
    title = next(line for line in card.splitlines() if line.startswith("# "))
    assert title.endswith("with the weights of runs/first/policy, unchanged")
    made = card.split("## How it was made")[1].split("```")[0]
    assert "runs/first/policy" in made
    assert "unchanged" not in model_card(config, {}, 128, [])


def test_the_card_and_the_report_round_alike(out):
    rows = read_rows(out / "evaluation.json")
    rows = [replace(row, rate=0.8455) for row in rows]
    card = model_card(Config.from_dict(RUN), {}, 1, rows)
    figures = [line.split("|")[4].strip() for line in card.splitlines() if "| sample |" in line]
    assert figures
    assert all(f">{figure}" in shown(rows_table(rows)) for figure in figures)


def test_the_card_shows_the_curve_with_the_checkpoint_marked(out):
    policy = out / "policy"
    assert "](curve.png)" in (policy / "README.md").read_text(encoding="utf-8")
    made = json.loads((out / "run.json").read_text(encoding="utf-8"))
    shown = (policy / "curve.png").read_bytes()
    curve = read_curve(out / "tensorboard")
    assert shown == results_picture(curve, made["decisions"])
    assert shown != results_picture(curve, made["decisions"] + 20)


def test_the_report_needs_no_script_and_no_other_file(out):
    page = (out / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|<link|https?://|@import|url\(", page)
    sources = re.findall(r'(?:src|href)="([^,"]*)', page)
    assert sources == ["data:image/png;base64", "data:image/svg+xml;base64"]


def test_the_report_shows_the_curve_the_results_a_game_and_the_settings(out):
    page = (out / "report.html").read_text(encoding="utf-8")
    picture, played = (base64.b64decode(data) for data in re.findall(r';base64,([^"]*)"', page))
    assert picture == (out / "curve.png").read_bytes()
    assert ElementTree.fromstring(played).tag.endswith("svg")
    assert shown(rows_table(read_rows(out / "evaluation.json"))) in page
    assert "num_games: 8" in page


def test_a_game_is_played_to_its_end_in_every_kind_of_game():
    for id in ("hanamikoji", "hanabi:2p"):
        record = sample_game(load_policy("greedy", id), seed=1)
        assert replay(record).mover < 0


def test_the_table_of_a_cooperative_game_shows_scores():
    rows = results_of("greedy", ["random"], "hanabi:2p", games=2)
    table = shown(rows_table(rows))
    assert table.count("<tr>") == 1 + len(rows)
    assert all(f"{row.mean:.2f}" in table for row in rows)


# --- While it runs


@pytest.mark.parametrize("terminal", [True, False])
def test_each_evaluation_is_a_line_on_a_terminal_and_in_a_file(terminal, tmp_path):
    config, shown = Config.from_dict(RUN), StringIO()
    learner = new_learner(config)
    learner.begin(config.steps)
    keeper = KeepUnlessWorse(
        learner, config, tmp_path, Console(file=shown, force_terminal=terminal)
    )
    results = [LoggedResult(RATES[0], 0.25, 0.5, 0.75), LoggedResult("score", 1.0, 2.0, 3.0)]
    keeper.show(0, results)
    (line,) = shown.getvalue().splitlines()
    assert all(spoken(result) in line for result in results)


def test_evaluations_are_shown_in_a_notebook(tmp_path, capsys):
    config = Config.from_dict(RUN)
    learner = new_learner(config)
    learner.begin(config.steps)
    keeper = KeepUnlessWorse(learner, config, tmp_path, Console(force_jupyter=True))
    keeper.show(0, [LoggedResult(RATES[0], 0.25, 0.5, 0.75)])
    assert capsys.readouterr().out.count("JupyterRenderable") == 1
