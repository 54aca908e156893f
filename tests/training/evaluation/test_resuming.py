"""A stopped evaluation resumes where it was, to the same bits, and shows its progress."""

import errno
import json
import os
import signal
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.search.improve import Improve
from hanamachi.storage import reading
from hanamachi.training import evaluate
from hanamachi.training.evaluation import progress, saved_parts
from hanamachi.training.evaluation.progress import ShowGames
from hanamachi.training.ownership import locked

POLICIES = ["random", "greedy", "expert"]
GAMES = 8
SMALL = {"max_rounds": 1}
TOGETHER = {"colours": 2, "ranks": 3, "hand_size": 2}
PARTS = 12  # of three pairings


def evaluated(out=None, policies=POLICIES, games=GAMES, **how):
    how = {"batch": 2, **SMALL} | how
    return evaluate(policies, "hanamikoji", games, 3, out=out, **how)


def stopping(parts):
    """A `map` that is interrupted after this number of parts, over all calls."""

    def mapper(play, deals):
        for each in deals:
            if not len(left):
                raise KeyboardInterrupt
            left.pop()
            yield play(each)

    left = [None] * parts
    return mapper


class Counting:
    """A `map` that counts the deals it plays."""

    def __init__(self):
        self.deals = 0

    def __call__(self, play, deals):
        for each in deals:
            self.deals += len(each)
            yield play(each)


@pytest.mark.parametrize("batch", [2, 6, 8192])
@pytest.mark.parametrize("parts", [0, 1, 5, PARTS])
def test_it_goes_on_where_it_was_stopped_to_the_same_bits(parts, batch, tmp_path):
    whole, counting = evaluated().as_json(), Counting()
    try:
        evaluated(tmp_path, mapper=stopping(parts))
    except KeyboardInterrupt:
        assert parts < PARTS
    again = evaluated(tmp_path, mapper=counting, batch=batch).as_json()
    assert json.dumps(again) == json.dumps(whole)
    assert counting.deals == PARTS - parts  # each has one deal


def test_partners_and_forfeits_go_on_to_the_same_bits(tmp_path):
    def fails(observation, mask):
        raise ValueError("no idea")

    def scored(**how):
        policies = ["random", fails]
        how |= {"batch": 1, "strict": False}
        return evaluate(policies, "hanabi:2p", 4, **how, **TOGETHER).as_json()

    with pytest.raises(KeyboardInterrupt):
        scored(out=tmp_path, mapper=stopping(7))
    assert json.dumps(scored(out=tmp_path)) == json.dumps(scored())


def test_opponents_go_on_to_the_same_bits(tmp_path):
    how = {"policies": ["greedy"], "opponents": ["random", "expert"], "play": "both"}
    with pytest.raises(KeyboardInterrupt):
        evaluated(tmp_path, mapper=stopping(9), **how)
    assert evaluated(tmp_path, **how) == evaluated(**how)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"games": 10}, "games"),
        ({"policies": ["random", "expert"]}, "greedy is gone"),
        ({"opponents": ["random"]}, "opponents"),
        ({"play": "argmax"}, "play"),
        ({"strict": False}, "strict"),
        ({"max_rounds": 2}, "max_rounds"),
    ],
)
def test_another_evaluation_in_the_folder_is_refused(change, name, tmp_path):
    evaluated(tmp_path)
    with pytest.raises(UserError, match=name) as refused:
        evaluated(tmp_path, **change)
    assert str(tmp_path) in str(refused.value)


SCRIPT = """
from hanamachi.training import evaluate

def first(variant):
    return lambda observation, mask: int(mask.argmax())

if __name__ == "__main__":
    print(evaluate(["__main__:first", "random"], "hanamikoji", games=2, out="kept").games)
"""


def test_policies_of_a_script_can_be_evaluated_and_kept(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, check=False)
    done = run([sys.executable, "script.py"])
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr
    (tmp_path / "script.py").write_text(SCRIPT.replace("argmax", "argmin"))
    assert "__main__:first" in run([sys.executable, "script.py"]).stderr


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("scores", lambda scores: scores * np.nan),
        ("scores", lambda scores: scores[:0]),
        ("deals", lambda deals: deals.repeat(2)),
        ("lost", lambda lost: lost.astype(str)),
        ("counts", lambda counts: np.frombuffer(b"[3, 4]", np.uint8)),
    ],
)
def test_saved_games_that_cannot_have_been_are_refused(name, change, tmp_path):
    evaluated(tmp_path, POLICIES[:2], 4)
    file = sorted((tmp_path / "games" / "0").glob("*.npz"))[0]
    arrays = dict(np.load(file))
    np.savez_compressed(file, **{**arrays, name: change(arrays[name])})
    with pytest.raises(UserError, match="damaged"):
        evaluated(tmp_path, POLICIES[:2], 4)


def test_games_of_other_weights_or_other_code_are_not_mixed_in(tmp_path, monkeypatch):
    small = variant("hanamikoji", **SMALL)
    weights = str(tmp_path / "policy")
    save_checkpoint(weights, checkpoint_of(for_variant(small, [4]), small), "")
    (tmp_path / "changing.py").write_text("def make(variant): return lambda o, m: int(m.argmax())")
    monkeypatch.syspath_prepend(tmp_path)
    searching = f"search:improve:{weights}:worlds=1"
    for name in (weights, "changing:make", searching):
        evaluated(tmp_path / "out" / str(len(name)), [name, "random"], 2)
    save_checkpoint(weights, checkpoint_of(for_variant(small, [4]), small), "")
    (tmp_path / "changing.py").write_text("def make(variant): return lambda o, m: m.argmax() + 0")
    for name in (weights, "changing:make", searching):
        with pytest.raises(UserError, match="has changed"):
            evaluated(tmp_path / "out" / str(len(name)), [name, "random"], 2)


def test_games_of_other_policies_that_are_no_names_are_not_mixed_in(tmp_path):
    small = variant("hanamikoji", **SMALL)

    def network():
        return CompiledPolicy(checkpoint_of(for_variant(small, [4]), small), "policy")

    first = network()
    for policies in (
        [first, "random"],
        [Improve(small, RandomPolicy(small), worlds=1), first],
    ):
        out = tmp_path / str(len(policies[0].name))
        kept = [evaluated(out, policies, 2) for _ in range(2)]
        assert json.dumps(kept[0].as_json()) == json.dumps(kept[1].as_json())
        others = [network() if policy is first else policy for policy in policies]
        with pytest.raises(UserError, match="has changed"):
            evaluated(out, others, 2)
    with pytest.raises(UserError, match="has changed"):
        evaluated(out, [Improve(small, RandomPolicy(small), worlds=2), first], 2)


def test_deals_that_are_kept_twice_are_not_counted_twice(tmp_path):
    evaluated(tmp_path, POLICIES[:2], 8)
    parts = sorted((tmp_path / "games" / "0").glob("*.npz"))
    (tmp_path / "games" / "0" / "9.npz").write_bytes(parts[0].read_bytes())
    with pytest.raises(UserError, match="begin again"):
        evaluated(tmp_path, POLICIES[:2], 8)


@pytest.mark.parametrize("file", ["evaluation.json", "1/0.npz"])
@pytest.mark.parametrize("content", [b"", b"{", b"PK\3\4 and no more"])
def test_a_damaged_file_is_named_in_one_sentence(file, content, tmp_path):
    evaluated(tmp_path)
    (tmp_path / "games" / file).write_bytes(content)
    with pytest.raises(UserError, match=file):
        evaluated(tmp_path)


def test_a_lack_of_memory_or_of_a_right_is_no_damage(tmp_path, monkeypatch):
    def fail(*given, **how):
        raise MemoryError

    def forbidden(path, flags):
        raise PermissionError(errno.EACCES, "Permission denied")

    evaluated(tmp_path)
    with monkeypatch.context() as lack:
        lack.setattr(np, "load", fail)
        with pytest.raises(MemoryError):
            evaluated(tmp_path)
    monkeypatch.setattr(reading, "opened_at_once", forbidden)
    with pytest.raises(UserError, match="Permission denied"):
        evaluated(tmp_path)


def test_the_folder_of_a_run_that_still_learns_holds_no_evaluation(tmp_path):
    (tmp_path / "run.json").touch()
    with pytest.raises(UserError, match="holds a training run"):
        evaluated(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


# --- The command


COMMAND = (
    "evaluate random mine:first --game hanamikoji --games 130 --play sample --set max_rounds=1"
)
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


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A working folder with a policy of the user's own."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_killed_command_goes_on_to_the_same_file(own_folder, hanamachi):
    killed = subprocess.run(
        [sys.executable, "-m", "hanamachi", *COMMAND.split(), "--out", "killed"],
        env={**os.environ, "KILLED_AT": "700"}, capture_output=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    kept = [file.name for file in (own_folder / "killed" / "games" / "0").iterdir()]
    assert kept, "it was killed before any part was played"
    assert not (own_folder / "killed" / "evaluation.json").exists()
    for out in ("killed", "whole"):
        assert hanamachi(*f"{COMMAND} --out {out}".split())[0] == 0
    results = [own_folder / out / "evaluation.json" for out in ("killed", "whole")]
    assert results[0].read_bytes() == results[1].read_bytes()


def test_a_finished_command_prints_again_and_another_is_refused(own_folder, hanamachi):
    assert "delete" not in hanamachi(*f"{COMMAND} --out out".split())[2]
    code, _, said = hanamachi(*f"{COMMAND} --out out --matrix".split())
    assert code == 0
    assert "delete out/games" in said
    code, _, said = hanamachi(*f"{COMMAND} --out out --seed 1".split())
    assert (code, said.count("\n")) == (2, 1)
    assert "seed was 0 and is 1" in said


@pytest.mark.parametrize("kind", ["json", "csv", "html", "png"])
def test_a_result_that_something_else_wrote_is_not_replaced(kind, own_folder, hanamachi):
    theirs = own_folder / "out" / f"evaluation.{kind}"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    code, _, said = hanamachi(*f"{COMMAND} --out out".split())
    assert (code, said.count("\n")) == (2, 1)
    assert f"evaluation.{kind}" in said
    assert [path.read_text() for path in theirs.parent.iterdir()] == ["theirs"]


def test_two_processes_do_not_play_the_same_evaluation(tmp_path):
    evaluated(tmp_path)
    with locked(tmp_path / "games", "playing"), pytest.raises(UserError, match="another process"):
        evaluated(tmp_path)
    evaluated(tmp_path)


def test_of_two_evaluations_that_claim_a_folder_at_once_one_is_refused(tmp_path, monkeypatch):
    file, create = tmp_path / "evaluation.json", saved_parts.creating

    def late(path):
        with create(path) as theirs:
            theirs.write(json.dumps({"hanamachi": version("hanamachi"), "seed": 1}).encode())
        return create(path)

    monkeypatch.setattr(saved_parts, "creating", late)
    with pytest.raises(UserError, match="seed was 1 and is 2"):
        saved_parts.claim(file, {"seed": 2}, "an evaluation")
    assert json.loads(file.read_text())["seed"] == 1


def test_what_follows_from_other_settings_is_told_only_if_they_are_the_same(tmp_path):
    def refusal(**about):
        with pytest.raises(UserError) as refused:
            saved_parts.claim(tmp_path / "about.json", about, "a test", derived=["size"])
        return str(refused.value)

    saved_parts.claim(tmp_path / "about.json", {"seed": 1, "size": 2}, "a test")
    assert "size" not in refusal(seed=2, size=3)
    assert "size was 2 and is 3" in refusal(seed=1, size=3)


@pytest.mark.parametrize("kept", [True, False])
def test_ctrl_c_says_how_to_go_on(kept, own_folder, hanamachi):
    (own_folder / "mine.py").write_text(
        "def first(variant):\n    return stop\ndef stop(*seen):\n    raise KeyboardInterrupt\n"
    )
    command = COMMAND + " --out out" * kept
    code, _, said = hanamachi(*command.split())
    assert (code, said.count("\n")) == (130, 1)
    assert (command in said) == kept
    assert "--out" in said


# --- On a terminal


def shown(terminal, monkeypatch, slow=0.0, **how):
    monkeypatch.setattr(progress, "SLOW", slow)
    console = Console(file=StringIO(), force_terminal=terminal, width=80)
    with ShowGames(console) as watch:
        evaluated(watch=watch, **how)
    return console.file.getvalue()


def test_a_terminal_shows_games_the_time_left_and_slow_results_on_the_way(monkeypatch):
    words = shown(True, monkeypatch)
    assert "/24" in words
    assert "left" in words
    lines = [line for line in words.splitlines() if "against" in line]
    assert any("random (sample)" in line and "against greedy" in line for line in lines)


def test_the_time_left_is_known_from_the_first_part_on():
    console = Console(file=StringIO(), force_terminal=True)
    with pytest.raises(KeyboardInterrupt), ShowGames(console) as watch:
        evaluated(watch=watch, mapper=stopping(1))
    assert watch.bar.tasks[0].completed == 2
    assert watch.bar.tasks[0].time_remaining is not None


def test_fast_results_wait_for_the_end_and_nothing_is_shown_elsewhere(monkeypatch):
    assert "8 games\n" not in shown(True, monkeypatch, slow=100.0)
    assert shown(False, monkeypatch) == ""


def test_what_was_kept_counts_as_played(tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        evaluated(tmp_path, mapper=stopping(PARTS - 1))
    with ShowGames() as watch:
        evaluated(tmp_path, watch=watch)
    assert (watch.games, watch.kept, watch.ended_before) == (24, 22, False)
    with ShowGames() as watch:
        evaluated(tmp_path, watch=watch)
    assert watch.ended_before
