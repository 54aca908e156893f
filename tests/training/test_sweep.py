"""A sweep ranks what its trials reached, and one that cannot run does not end the others."""

import json

import pytest
import yaml
from rich.console import Console
from small_games import GIFTS

from hanamachi.errors import UserError
from hanamachi.training import sweep as sweeping
from hanamachi.training.config import Config
from hanamachi.training.ownership import owned
from hanamachi.training.sweep import Sweep, check_comparable, drawn_settings, sweep, table

SETTINGS = {
    "game": "hanamikoji",
    "options": GIFTS,
    "device": "cpu",
    "steps": 64,
    "num_games": 8,
    "network": {"hidden": [8]},
    "ppo": {"n_steps": 8, "batch_size": 32, "n_epochs": 1},
    "evaluation": {"games": 4, "opponents": ["random"]},
}


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    """Without a cluster: one trial after the other, in this process."""
    monkeypatch.setattr(sweeping, "map_on_cluster", map)


@pytest.fixture
def file(tmp_path):
    """Writes the file of a sweep."""

    def written(over, trials=2, **changes):
        path = tmp_path / "sweep.yaml"
        section = {"over": over, "trials": trials}
        path.write_text(json.dumps({**SETTINGS, **changes, "sweep": section}))
        return path

    return written


def test_a_trial_that_fails_ranks_last_with_its_reason(file, tmp_path):
    given, out = file({"ppo.gamma": {"between": [0.5, 1]}}), tmp_path / "out"
    with owned(out / "trials" / "0"):
        best, trials = sweep(given, out, resume=True)
    assert [trial.result is None for trial in trials] == [False, True]
    assert "another process" in trials[1].reason
    assert json.loads((out / "sweep.json").read_text()) == [each.as_json() for each in trials]
    assert yaml.safe_load(best.read_text())["ppo"]["gamma"] == trials[0].settings["ppo.gamma"]
    console = Console(width=200)
    with console.capture() as shown:
        console.print(table(trials))
    assert "another process" in shown.get()
    _, again = sweep(given, out, resume=True)
    assert all(trial.result is not None for trial in again)


def test_a_trial_without_memory_ranks_last_and_others_run(file, tmp_path, monkeypatch):
    def fit(config, *arguments, **settings):
        if config.num_games == 16:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return really_fit(config, *arguments, **settings)

    really_fit = sweeping.fit
    monkeypatch.setattr(sweeping, "fit", fit)
    _, trials = sweep(file({"num_games": [8, 16]}, seed=1), tmp_path / "out")
    assert {trial.settings["num_games"]: trial.result is None for trial in trials} == {
        8: False,
        16: True,
    }
    assert "memory" in trials[-1].reason


@pytest.mark.parametrize("name", ["best.yaml", "sweep.json"])
def test_a_result_that_something_else_wrote_is_not_replaced(name, file, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("theirs")
    with pytest.raises(UserError, match=name):
        sweep(file({"ppo.gamma": [0.5, 1]}), tmp_path / "out")
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["theirs"]


def test_a_sweep_in_which_every_trial_fails_says_why(file, tmp_path):
    given, out = file({"ppo.gamma": {"between": [0.5, 1]}}, trials=1), tmp_path / "out"
    with owned(out / "trials" / "0"), pytest.raises(UserError, match="another process"):
        sweep(given, out, resume=True)
    assert json.loads((out / "sweep.json").read_text())[0]["result"] is None
    assert not (out / "best.yaml").exists()


@pytest.mark.parametrize(
    ("over", "changes", "named"),
    [
        ({"init_from": ["runs/nowhere/policy"]}, {}, "nowhere"),
        ({"num_games": [2]}, {"opponents": {"self": 0.9, "greedy": 0.1}}, "greedy"),
    ],
)
def test_a_trial_that_could_not_begin_is_refused_before_any_runs(
    over, changes, named, file, tmp_path
):
    with pytest.raises(UserError, match=named):
        sweep(file(over, **changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "over",
    [
        {"game": ["hanamikoji", "hanamikoji:three_rounds"]},
        {"options.max_rounds": [1, 2]},
        {"evaluation.games": [2, 2000]},
        {"evaluation.opponents": [["random"], ["expert"]]},
    ],
)
def test_what_results_are_measured_by_is_the_same_in_all_trials(over, file, tmp_path):
    with pytest.raises(UserError, match=f"{next(iter(over))} could not be compared"):
        sweep(file(over), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["between", "log"])
def test_a_range_of_a_whole_number_gives_whole_numbers_with_both_ends(kind):
    wanted = Sweep(trials=100, over={"ppo.n_steps": {kind: [8, 11]}, "ppo.gamma": {kind: [0.5, 1]}})
    chosen = drawn_settings(wanted, 0)
    assert {each["ppo.n_steps"] for each in chosen} == {8, 9, 10, 11}
    assert all(type(each["ppo.n_steps"]) is int for each in chosen)
    assert all(0.5 < each["ppo.gamma"] < 1 for each in chosen)


def test_a_sweep_over_a_range_of_whole_numbers_runs(file, tmp_path):
    best, trials = sweep(file({"ppo.n_steps": {"between": [8, 16]}}, trials=1), tmp_path / "out")
    assert trials[0].result is not None
    assert Config.load(best).ppo.n_steps == trials[0].settings["ppo.n_steps"]


def test_when_runs_are_evaluated_can_be_swept():
    check_comparable(Sweep(over={"evaluation.every": [32, 64]}), "sweep.yaml")


@pytest.mark.parametrize("seed", [None, "abc", -1])
def test_the_seed_that_draws_is_checked_where_trials_have_others(seed, file, tmp_path):
    with pytest.raises(UserError, match="seed"):
        sweep(file({"seed": [1, 2]}, seed=seed), tmp_path / "out")


def test_a_sweep_resumes_with_more_trials_and_not_with_other_settings(file, tmp_path):
    over, out = {"num_games": [8]}, tmp_path / "out"
    sweep(file(over, trials=1), out)
    results = {path: path.read_bytes() for path in (out / "best.yaml", out / "sweep.json")}
    with pytest.raises(UserError, match="steps was 64 and is 128"):
        sweep(file(over, steps=128), out, resume=True)
    with pytest.raises(UserError, match="num_games was 8 and is 4"):
        sweep(file({"num_games": [4]}, trials=2), out, resume=True)
    assert {path: path.read_bytes() for path in results} == results
    _, trials = sweep(file(over, trials=2), out, resume=True)
    assert [trial.result is None for trial in trials] == [False, False]


def test_settings_that_belong_together_are_swept_together(file, tmp_path):
    over = {"magnet.kind": ["start", "average"], "magnet.kl_coef": [0, 0.1]}
    _, trials = sweep(file(over), tmp_path / "out")
    assert all(trial.result is not None for trial in trials)
