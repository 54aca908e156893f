"""A dataset holds every decision as it was made, whoever plays and however it is interrupted."""

import errno
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from messages import assert_one_sentence
from small_datasets import JUDGES, SMALL, content, made

from hanamachi.engine import kernels
from hanamachi.engine.entries import int8_rows
from hanamachi.engine.threads import parallel_for
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies import load_policy
from hanamachi.sessions.players import SeatedPlayer, step, turns_of
from hanamachi.training import evaluate
from hanamachi.training.dataset import load, make
from hanamachi.training.dataset.figures import figures_in
from hanamachi.training.dataset.recipe import OTHER_DEALS, Recipe
from hanamachi.training.dataset.record import begun
from hanamachi.training.evaluation.playing import new_games
from hanamachi.training.ownership import locked

GAMES = pytest.mark.parametrize("game", SMALL)
COLUMNS = ("game", "decision", "seat", "legal", "observation", "mask", "action", "probabilities")

# --- What is in it


@GAMES
def test_a_game_can_be_replayed_to_the_same_rows(game, tmp_path):
    found = load(made(tmp_path, game, games=6))
    rules = variant(game, **SMALL[game])
    table = begun(found.recipe)
    player = SeatedPlayer(load_policy("expert", game, **SMALL[game]), rules, 6)
    totals = np.zeros((6, rules.seats))
    for rows in found.by_decision():
        turns = turns_of(rules, table, found.game[rows].astype(np.int64))
        assert (found.seat[rows] == turns.seats).all()
        assert (found.mask[rows] == turns.masks).all()
        seen = int8_rows(turns.observations, rules.observation.units)
        assert (found.observation[rows] == seen).all()
        assert (found.probabilities[rows] == player.distribution(turns)[0]).all()
        assert (found.earned[rows] == totals[turns.rows, turns.seats]).all()
        actions = found.action[rows].astype(np.int64)
        totals[turns.rows] += step(rules, table, turns.rows, actions)
    assert (table["mover"] < 0).all()
    assert (found.earned + found.returns == totals[found.game, found.seat]).all()


@GAMES
def test_a_judge_adds_values_and_changes_nothing_else(game, tmp_path):
    judged = load(made(tmp_path / "a", game, games=6, judge=JUDGES[game]))
    alone = load(made(tmp_path / "b", game, games=6))
    for name in COLUMNS:
        assert (getattr(judged, name) == getattr(alone, name)).all(), name
    assert alone.values is None
    choices = judged.decisions
    assert (np.isfinite(choices.values) == (choices.mask == 1)).all()
    taken = choices.values[np.arange(len(choices)), choices.action]
    assert np.corrcoef(taken, choices.returns)[0, 1] > 0.3


def test_one_policy_needs_no_list(tmp_path):
    assert load(made(tmp_path, games=1, policies="greedy")).recipe.policies == ("greedy",)


def test_two_policies_exchange_their_seats_on_each_deal(tmp_path):
    found = load(made(tmp_path, games=40, policies=["greedy", "random"]))
    first = found.part(found.decision == 0)
    assert (first.observation[::2] == first.observation[1::2]).all()
    assert (first.policy[::2] + first.policy[1::2] == 1).all()
    assert found.returns[found.policy == 0].mean() > 0.2


def test_no_evaluation_plays_its_deals(tmp_path):
    found, rules = load(made(tmp_path)), variant("hanamikoji", **SMALL["hanamikoji"])
    table, _ = new_games(rules, np.arange(8, dtype=np.uint64), 0)
    parallel_for(kernels.reset, rules.rule_set, table)
    seen = turns_of(rules, table, np.arange(8)).observations
    assert (
        int8_rows(seen, rules.observation.units) != found.part(found.decision == 0).observation
    ).any()
    with pytest.raises(UserError, match="seed"):
        evaluate(["greedy"], "hanamikoji", 8, OTHER_DEALS, opponents=["random"])


def test_its_card_says_what_was_played(tmp_path):
    card = (made(tmp_path, judge=JUDGES["hanamikoji"], seed=77) / "README.md").read_text()
    for words in ("expert", JUDGES["hanamikoji"], "77", "hanamikoji", "license: mit", "`values`"):
        assert words in card


@pytest.mark.parametrize("game", SMALL)
def test_its_card_shows_the_actions_of_the_same_rule_set(game, tmp_path, capsys):
    card = (made(tmp_path, game, games=1) / "README.md").read_text()
    (shown,) = (block for block in re.findall("```python\n(.*?)```", card, re.S) if "0" in block)
    exec(shown, {})
    assert capsys.readouterr().out.strip() == variant(game, **SMALL[game]).actions.describe(0)


# --- The same rows, whatever happens


MINE = """
import os, signal

calls = 0

def first(variant):
    return choose

def choose(observation, mask):
    global calls
    calls += 1
    if calls == int(os.environ.get("KILLED_AT", 0)):
        os.kill(os.getpid(), signal.SIGKILL)
    return int(mask.argmax())
"""
COMMAND = "dataset hanamikoji --policy mine:first --games 40 --set max_rounds=1 --out"


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A working folder with a policy of the user's own."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_killed_command_goes_on_to_the_same_bytes(own_folder, hanamachi):
    killed = subprocess.run(
        [sys.executable, "-m", "hanamachi", *COMMAND.split(), "killed"],
        env={**os.environ, "KILLED_AT": "300"}, capture_output=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    kept = content(own_folder / "killed")
    assert kept.pop(".lock") == b""
    assert 1 < len(kept) < 4
    (own_folder / "killed" / "data" / ".train-00001-of-00003.parquet.0123abcd.new").touch()
    for out in ("killed", "whole"):
        assert hanamachi(*f"{COMMAND} {out}".split())[0] == 0
    assert content(own_folder / "killed") == content(own_folder / "whole")
    assert kept.items() <= content(own_folder / "whole").items()


def test_two_processes_write_the_same_bytes_as_one(own_folder, hanamachi):
    for out, processes in (("one", 1), ("two", 2)):
        assert hanamachi(*f"{COMMAND} {out} --processes {processes}".split())[0] == 0
    assert content(own_folder / "one") == content(own_folder / "two")
    assert len(content(own_folder / "one")) == 5


def test_it_can_be_made_again_without_playing_and_another_is_refused(own_folder, hanamachi):
    assert "delete" not in hanamachi(*f"{COMMAND} out".split())[2]
    code, _, said = hanamachi(*f"{COMMAND} out".split())
    assert code == 0
    assert "delete out" in said
    (own_folder / "mine.py").write_text(MINE + "\n")
    for more in ("", "--seed 1", "--games 41", "--set starter=0"):
        code, _, said = hanamachi(*f"{COMMAND} out {more}".split())
        assert (code, said.count("\n")) == (2, 1)


def test_the_refusal_of_another_dataset_names_only_what_the_user_set(tmp_path):
    made(tmp_path, games=2)
    with pytest.raises(UserError, match="was added") as refused:
        made(tmp_path, games=2, policies=["search:improve:random:worlds=1"])
    assert "games_a_file" not in assert_one_sentence(refused.value)


def test_a_page_that_something_else_wrote_is_not_replaced(tmp_path):
    (tmp_path / "README.md").write_text("theirs")
    with pytest.raises(UserError, match=r"README\.md"):
        made(tmp_path)
    assert content(tmp_path) == {"README.md": b"theirs"}


def test_games_of_another_recipe_are_not_taken_for_its_own(tmp_path):
    """Not even where the description and the card of the other dataset were deleted."""
    made(tmp_path, games=2)
    for name in ("dataset.json", "README.md"):
        (tmp_path / name).unlink()
    before = content(tmp_path)
    with pytest.raises(UserError, match="data is there already"):
        made(tmp_path, games=2, seed=1)
    assert content(tmp_path) == before


def test_two_processes_do_not_make_one_dataset_at_the_same_time(tmp_path):
    made(tmp_path, games=2)
    (file,) = (tmp_path / "data").iterdir()
    in_progress = file.rename(file.with_name(f".{file.name}.0123abcd.new"))
    with locked(tmp_path, "making"), pytest.raises(UserError, match="another process"):
        made(tmp_path, games=2)
    assert in_progress.exists()
    made(tmp_path, games=2)
    assert sorted(content(tmp_path)) == ["README.md", f"data/{file.name}", "dataset.json"]


def test_a_lack_of_memory_or_of_a_right_is_no_damage(tmp_path, monkeypatch):
    def fail(*given, **how):
        raise MemoryError

    def forbidden(path, *how):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    file = made(tmp_path, games=2) / "data" / "train-00000-of-00001.parquet"
    for place, name, failing, kind in (
        (pq, "read_schema", fail, MemoryError),
        (type(file), "open", forbidden, PermissionError),
    ):
        with monkeypatch.context() as lack:
            lack.setattr(place, name, failing)
            with pytest.raises(kind):
                figures_in(file)
    file.write_bytes(b"")
    with pytest.raises(UserError, match="damaged"):
        figures_in(file)


def test_ctrl_c_says_how_to_go_on(own_folder, hanamachi):
    (own_folder / "mine.py").write_text(
        "def first(variant):\n    return stop\ndef stop(*seen):\n    raise KeyboardInterrupt\n"
    )
    code, _, said = hanamachi(*f"{COMMAND} out".split())
    assert (code, said.count("\n")) == (130, 1)
    assert f"{COMMAND} out" in said


# --- Refused


@pytest.mark.parametrize(
    "how",
    [
        {"games": 0},
        {"games": 1.5},
        {"seed": -1},
        {"seed": 2**62},
        {"policies": []},
        {"policies": None},
        {"policies": ["random"] * 3},
        {"policies": ["exprt"]},
        {"policies": ["dataset:hanamikoji"]},
        {"play": "best"},
        {"processes": 0},
        {"judge": "expert"},
        {"judge": "search:improve:expert:seconds=0.1"},
        {"judge": "search:mcts:expert:worlds=4"},
        {"max_rounds": 0},
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_before_anything_is_written(how, tmp_path):
    given = {"policies": ["expert"], "games": 2, **how}
    with pytest.raises(UserError):
        make("hanamikoji", out=tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


def test_without_pyarrow_it_says_how_to_install_it(tmp_path, monkeypatch, hanamachi):
    for name in [name for name in sys.modules if name.startswith("hanamachi.training.dataset")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    command = f"dataset hanamikoji --policy random --out {tmp_path / 'out'}"
    code, _, said = hanamachi(*command.split())
    assert (code, said.count("\n")) == (2, 1)
    assert "hanamachi[data]" in said


# --- Its size


@pytest.mark.parametrize(("how", "games"), [({}, 2048), ({"judge": JUDGES["hanamikoji"]}, 16)])
def test_who_decides_slowly_has_few_games_in_a_file(how, games):
    rows = {"policies": ("expert",), "games": 9999, "seed": 0, "play": "sample"}
    assert Recipe("hanamikoji", {}, **rows, **how).games_a_file == games


# --- Processes that are killed


def test_a_process_that_is_killed_ends_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "killer.py").write_text(
        "import os\n\ndef make(variant):\n"
        "    return lambda observation, mask: os.kill(os.getpid(), 9)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="was killed"):
        make("hanamikoji", ["killer:make"], 40, tmp_path / "out", processes=2)


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path):
    (tmp_path / "train-00000-of-00001.parquet").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        figures_in(tmp_path / "train-00000-of-00001.parquet")
