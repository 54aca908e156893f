"""A run that was stopped in any way resumes to the same end, to the bit, and has one owner."""

import base64
import errno
import io
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import threading
import time
from functools import partial
from itertools import count
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pexpect
import pytest
import torch
from forked_runs import (
    CLONE,
    ROAD,
    SETTINGS,
    Run,
    begin_server,
    kill_at,
    limit_files,
    move_in,
    signal_in,
    take_terminal,
)
from messages import assert_one_sentence
from pexpect.fdpexpect import fdspawn
from root import ROOT
from samples import WHOLE, sample
from saved_runs import all_that_is_saved, assert_same

from hanamachi.errors import UserError
from hanamachi.policies import load_policy
from hanamachi.policies.networks.checkpoint import load_checkpoint
from hanamachi.training import provenance
from hanamachi.training.best_responses import exploit
from hanamachi.training.callbacks import Save
from hanamachi.training.cli import main as cli
from hanamachi.training.config import Config
from hanamachi.training.learner.past import PastSelves, playing
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.shards import one_thread_each
from hanamachi.training.modelcard import model_card
from hanamachi.training.ownership import LOCK, OWNER, owned
from hanamachi.training.provenance import RESUMED
from hanamachi.training.resume import resumed_learner
from hanamachi.training.run import begin_run, train
from hanamachi.training.run_files import CLONE_SAVED, SAVED, WRITTEN
from hanamachi.training.sweep import run_trial, sweep

KILLS, TERMS, STEPS = sample(40, 0.025), sample(50, 0.04), sample(200, 0.01)
OTHER_RUNS = ["another_game", "a_clone"] if WHOLE else []
FLIPS = sample(1_000, 0.03)
PATIENCE = 300  # seconds for a run that takes one
COLLECT = "hanamachi.training.learner.selfplay.SelfPlayPPO.collect"


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory):
    begin_server()
    Run(["games"], tmp_path_factory.mktemp("server") / "said").end()  # it is warm now


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """The file of a small run."""
    return written(SETTINGS, tmp_path_factory.mktemp("settings"))


def written(settings, folder):
    path = folder / "run.yaml"
    path.write_text(json.dumps(settings))
    return path


def command(settings, out, *more):
    return ["train", str(settings), "--out", str(out), "--resume", *more]


@pytest.fixture
def start(settings, tmp_path):
    """Starts or resumes the run in a folder; ends it with the test."""
    started = []

    def process(out, *prepare, settings=settings, more=()):
        said = tmp_path / f"said-{len(started)}"
        started.append(Run(command(settings, out, *more), said, *prepare))
        return started[-1]

    yield process
    for running in started:
        running.process.kill()
        running.process.join()


def wait_for(path, run):
    while not path.exists():
        assert not run.ends(0.005), run.end()


@pytest.fixture(scope="module")
def uninterrupted(settings, tmp_path_factory):
    """The folder of a run that nothing stopped, and how many seconds it took."""
    return whole_run(settings, tmp_path_factory.mktemp("uninterrupted"))


def whole_run(settings, folder):
    out, began = folder / "run", time.time()
    assert Run(command(settings, out), folder / "said").end()[0] == 0
    return out, time.time() - began


@pytest.fixture(scope="module")
def another_game(tmp_path_factory):
    """The same of a run that learns another game."""
    folder = tmp_path_factory.mktemp("another_game")
    return whole_run(written(ROAD, folder), folder)


@pytest.fixture(scope="module")
def a_clone(tmp_path_factory):
    """The same of a run that clones a policy first, for a network with features."""
    folder = tmp_path_factory.mktemp("a_clone")
    return whole_run(written(CLONE, folder), folder)


def assert_same_end(out, uninterrupted):
    whole = uninterrupted[0]
    for name in ("policy/model.safetensors", "policy/config.json", "evaluation.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    assert_same(all_that_is_saved(out), all_that_is_saved(whole))
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == [LOCK]


def assert_loads_if_there(policy):
    if policy.exists():
        assert load_policy(str(policy)).checkpoint.hidden == (16,)


# --- Killed


@pytest.mark.parametrize("run", ["uninterrupted", *OTHER_RUNS])
def test_killed_at_random_moments_it_ends_with_the_same_weights(run, start, tmp_path, request):
    uninterrupted = whole, seconds = request.getfixturevalue(run)
    start = partial(start, settings=whole / "config.yaml")
    rng, kills, runs = random.Random(0), 0, 0
    while kills < KILLS // (1 + len(OTHER_RUNS)):
        out = tmp_path / str(runs)
        process = start(out)
        code, said = process.end(None if process.ends(rng.uniform(0, seconds)) else signal.SIGKILL)
        if code == 0:
            assert_same_end(out, uninterrupted)
            runs += 1
        else:
            assert code == -signal.SIGKILL, said
            kills += 1
        assert_loads_if_there(out / "policy")
    assert start(out).end()[0] == 0
    assert_same_end(out, uninterrupted)


def test_killed_at_any_step_of_a_save_it_ends_with_the_same_weights(start, uninterrupted, tmp_path):
    code, said = start(tmp_path / "counted", partial(kill_at, -1, tmp_path / "counted")).end()
    assert code == 0
    steps = next(int(line) for line in reversed(said.splitlines()) if line.isdecimal())
    for step in random.Random(0).sample(range(steps), min(steps, STEPS)):
        out = tmp_path / str(step)
        assert start(out, partial(kill_at, step, out)).end()[0] == -signal.SIGKILL
        assert_loads_if_there(out / "policy")
        assert start(out).end()[0] == 0
        assert_same_end(out, uninterrupted)
        shutil.rmtree(out)


# --- Signals


def test_terminated_at_random_moments_it_ends_with_the_same_weights(start, uninterrupted, tmp_path):
    rng, kills, runs, ends = random.Random(0), 0, 0, set()
    while kills < TERMS:
        out = tmp_path / str(runs)
        process = start(out)
        early = process.ends(rng.uniform(0, uninterrupted[1]))
        code, said = process.end(None if early else signal.SIGTERM)
        assert "Traceback" not in said
        if code == 0:
            assert_same_end(out, uninterrupted)
            runs += 1
        else:
            assert code in (143, -signal.SIGTERM), said  # the second before the command begins
            kills += 1
        ends.add(code)
    assert start(out).end()[0] == 0
    assert_same_end(out, uninterrupted)


@pytest.mark.parametrize(
    ("number", "code", "place", "call", "decisions"),
    [
        (signal.SIGINT, 130, COLLECT, 2, 3 * 64),
        (signal.SIGHUP, 129, COLLECT, 2, 3 * 64),
        (signal.SIGTERM, 143, "hanamachi.training.callbacks.PlayThePast.start", 0, 0),
    ],
)
def test_the_first_signal_saves_the_run_and_says_how_to_resume_it(
    number, code, place, call, decisions, start, settings, uninterrupted, tmp_path
):
    out = tmp_path / "run"
    ended, said = start(out, partial(signal_in, place, number, call=call)).end()
    assert ended == code
    assert "Traceback" not in said
    last = said.splitlines()[-1]
    assert last.endswith("hanamachi " + " ".join(command(settings, out)))
    assert resumed_learner(Config(**SETTINGS), out).num_timesteps == decisions
    assert start(out).end()[0] == 0
    assert_same_end(out, uninterrupted)


def test_hangups_of_the_shell_and_of_the_system_save_a_run_once(start, tmp_path):
    out, twice = tmp_path / "run", (signal.SIGHUP, signal.SIGHUP)
    assert start(out, partial(signal_in, COLLECT, *twice, call=2)).end()[0] == 129
    assert resumed_learner(Config(**SETTINGS), out).num_timesteps == 3 * 64


def test_a_second_signal_ends_it_at_once(start, uninterrupted, tmp_path):
    out, twice = tmp_path / "run", (signal.SIGINT, signal.SIGINT)
    ended, said = start(out, partial(signal_in, COLLECT, *twice, call=3)).end()
    assert ended == 130
    assert "Traceback" not in said
    assert resumed_learner(Config(**SETTINGS), out).num_timesteps == 2 * 64
    assert start(out).end()[0] == 0
    assert_same_end(out, uninterrupted)


@pytest.mark.parametrize(
    "place",
    [
        "hanamachi.training.cli.main.app",
        "hanamachi.training.run.check_policies",
        "hanamachi.training.run.begin_run",
        "hanamachi.training.run.cloning_learner",
        "hanamachi.training.learner.clone.Cloning.collect",
        "hanamachi.training.callbacks.KeepUnlessWorse.start",
        "hanamachi.training.run.final_evaluation",
        "hanamachi.training.run.write_json",
    ],
)
def test_a_signal_at_any_time_is_one_sentence(place, start, tmp_path):
    for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)][:: 1 if WHOLE else 2]:
        out, cloning = (
            tmp_path / str(code),
            ("--set", "init_from=greedy", "--set", "clone.steps=64"),
        )
        ended, said = start(out, partial(signal_in, place, number), more=cloning).end()
        assert ended == code
        assert "Traceback" not in said
        assert said.splitlines()[-1].startswith("hanamachi: ")


@pytest.mark.parametrize("start", [{}, {"init_from": "greedy", "clone": {"steps": 192}}])
def test_a_run_ends_unfinished_after_a_signal_whose_handler_returns(start, tmp_path, monkeypatch):
    config, collect, closed = Config(**SETTINGS | start), SelfPlayPPO.collect, []

    def signalled(learner, *given):
        monkeypatch.setattr(learner.logger, "close", lambda: closed.append(learner))
        signal.raise_signal(signal.SIGTERM)
        return collect(learner, *given)

    handler = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(SelfPlayPPO, "collect", signalled)
            with pytest.raises(KeyboardInterrupt):
                train(config, tmp_path)
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert closed  # or a thread and a file would stay open
    names = {path.name for path in tmp_path.iterdir()}
    assert {"clone", "evaluation.json"}.isdisjoint(names)
    assert names & {SAVED, CLONE_SAVED} == {CLONE_SAVED if start else SAVED}
    train(config, tmp_path, resume=True)
    assert (tmp_path / "evaluation.json").exists()


def test_another_command_ends_with_143_too(tmp_path):
    place = "hanamachi.training.evaluation.matches.evaluate"
    arguments = ["evaluate", "random", "greedy", "--game", "hanamikoji", "--games", "2"]
    run = Run(arguments, tmp_path / "said", partial(signal_in, place, signal.SIGTERM))
    code, said = run.end()
    assert code == 143
    assert said.count("\n") == 1


def test_ctrl_c_in_a_terminal_leaves_it_as_it_was(start, tmp_path):
    ours, theirs = os.openpty()
    out, endless, shown = tmp_path / "run", ("--set", "steps=1_000_000"), io.StringIO()
    run = start(out, partial(take_terminal, os.ttyname(theirs)), more=endless)
    child = fdspawn(ours, encoding="utf-8", codec_errors="replace", timeout=PATIENCE)
    child.logfile_read = shown
    child.expect_exact("left")
    os.close(theirs)
    wait_for(out / "resume.zip", run)
    child.send("\x03")
    child.expect_exact("again to stop at once")
    child.expect_exact("hanamachi: interrupted; to resume: hanamachi train ")
    child.expect_exact(pexpect.EOF)
    assert run.end()[0] == 130
    assert "Traceback" not in shown.getvalue()
    assert shown.getvalue().rfind("\x1b[?25h") > shown.getvalue().rfind("\x1b[?25l")  # the cursor


def test_a_terminal_that_is_closed_ends_a_run_as_ctrl_c_does(start, tmp_path):
    ours, theirs = os.openpty()
    out, endless = tmp_path / "run", ("--set", "steps=1_000_000")
    run = start(out, partial(take_terminal, os.ttyname(theirs)), more=endless)
    child = fdspawn(ours, encoding="utf-8", codec_errors="replace", timeout=PATIENCE)
    child.expect_exact("left")
    os.close(theirs)
    wait_for(out / "resume.zip", run)
    before = resumed_learner(Config(**SETTINGS | {"steps": 1_000_000}), out).num_timesteps
    child.close()
    assert run.end()[0] == 129
    after = resumed_learner(Config(**SETTINGS | {"steps": 1_000_000}), out).num_timesteps
    assert after > before


@pytest.fixture
def ctrl_c(monkeypatch):
    """Sends Ctrl-C to this process during the third rollout."""
    collect, calls = SelfPlayPPO.collect, count()

    def interrupted(self):
        if next(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return collect(self)

    monkeypatch.setattr(SelfPlayPPO, "collect", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_in_code_the_run_is_saved_before_ctrl_c_goes_on(ctrl_c, uninterrupted, tmp_path):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with one_thread_each(), pytest.raises(KeyboardInterrupt) as interrupt:
        train(Config(**SETTINGS), tmp_path / "run")
    assert "resume=True" in "".join(interrupt.value.__notes__)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert resumed_learner(Config(**SETTINGS), tmp_path / "run").num_timesteps == 3 * 64
    resume(tmp_path / "run")
    assert_same_end(tmp_path / "run", uninterrupted)


def test_in_another_thread_no_signal_is_handled(uninterrupted, tmp_path):
    ended = []
    thread = threading.Thread(target=lambda: ended.append(resume(tmp_path / "run")))
    thread.start()
    thread.join()
    assert ended == [tmp_path / "run" / "policy"]
    assert_same_end(tmp_path / "run", uninterrupted)


# --- One owner


def test_a_run_folder_has_one_owner_until_it_ends_in_any_way(start, uninterrupted, tmp_path):
    out = tmp_path / "run"
    first = start(out)
    wait_for(out / OWNER, first)
    os.kill(first.process.pid, signal.SIGSTOP)
    code, said = start(out).end()
    assert code == 2
    assert said.count("\n") == 1
    assert str(first.process.pid) in said
    first.end(signal.SIGKILL)
    assert start(out).end()[0] == 0
    assert_same_end(out, uninterrupted)


def test_an_owned_folder_is_refused_in_one_sentence_with_its_owner(tmp_path):
    with owned(tmp_path), pytest.raises(UserError) as refused, owned(tmp_path):
        pass
    assert_one_sentence(refused.value, str(os.getpid()))
    with owned(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


def test_sweeps_and_best_responses_have_one_owner_too(tmp_path):
    ranges = ROOT / "configs" / "sweeps" / "hanamikoji.yaml"
    with owned(tmp_path / "sweep"), pytest.raises(UserError, match=str(os.getpid())):
        sweep(ranges, tmp_path / "sweep")
    game = Config(game=SETTINGS["game"], options=SETTINGS["options"])
    with owned(tmp_path / "1"), pytest.raises(UserError, match=str(os.getpid())):
        exploit("random", tmp_path, 64, 1, config=game)


def test_a_file_system_without_locks_is_refused_in_one_sentence(tmp_path, monkeypatch):
    def fail(self):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", fail)
    with pytest.raises(UserError, match="No locks available"), owned(tmp_path):
        pass


@pytest.mark.parametrize("place", [COLLECT, COLLECT.replace("collect", "train")])
def test_a_folder_that_vanishes_ends_the_run_in_one_sentence(place, start, tmp_path):
    out, away = tmp_path / "run", tmp_path / "away"
    code, said = start(out, partial(move_in, place, out, away, call=3)).end()
    assert code == 2
    assert "Traceback" not in said
    assert str(out) in said.splitlines()[-1]
    assert (away / "resume.zip").exists()
    assert not out.exists()


# --- Without room


class Disk:
    """A small disk of its own, which only root can mount."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)]
        subprocess.run(mount, check=True, capture_output=True)

    def fill(self, leave):
        """Leave a number of bytes; returns how to prepare a process that is limited to them."""
        free = os.statvfs(self.folder)
        (self.folder / "filler").write_bytes(bytes(free.f_bavail * free.f_bsize - leave))
        return ()

    def clear(self):
        (self.folder / "filler").unlink()

    def close(self):
        subprocess.run(["umount", str(self.folder)], check=True)


class Quota:
    """Where no disk can be mounted: a process that may not write long files."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def fill(self, leave):
        return (partial(limit_files, leave),)

    def clear(self):
        pass

    def close(self):
        pass


def can_mount(folder):
    try:
        Disk(folder).close()
    except (subprocess.CalledProcessError, OSError):
        return False
    return True


@pytest.fixture
def disks(tmp_path):
    """A real disk where that is allowed, else a quota; in full, all that are possible."""
    real = [Disk] if can_mount(tmp_path / "tried") else []
    kinds = [*real, Quota] if WHOLE or not real else real
    opened = [kind(tmp_path / kind.__name__) for kind in kinds]
    yield opened
    for disk in opened:
        disk.close()


def test_a_full_disk_ends_in_one_sentence_and_the_save_before_resumes(start, uninterrupted, disks):
    for disk in disks:
        out = disk.folder / "run"
        process = start(out)
        wait_for(out / "resume.zip", process)
        process.end(signal.SIGKILL)
        saved = (out / "resume.zip").read_bytes()
        code, said = start(out, *disk.fill(leave=len(saved) // 2)).end()
        assert code == 2
        last = said.splitlines()[-1]
        assert "no room" in last or "File too large" in last
        assert str(disk.folder) in last
        assert "Traceback" not in said
        assert (out / "resume.zip").read_bytes() == saved
        assert_loads_if_there(out / "policy")
        disk.clear()
        assert start(out).end()[0] == 0
        assert_same_end(out, uninterrupted)


# --- Resumed in this process


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The folder of a run that was interrupted during its third save."""
    out, saves = tmp_path_factory.mktemp("stopped") / "run", []

    def save(self):
        saves.append(self.learner.num_timesteps)
        if len(saves) == 3:
            raise KeyboardInterrupt
        act(self)

    act, Save.act = Save.act, save
    try:
        with one_thread_each(), pytest.raises(KeyboardInterrupt):
            train(Config(**SETTINGS), out)
    finally:
        Save.act = act
    assert saves == [128, 256, 384]
    return out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    config = Config(game="hanamikoji", device="cuda")
    with pytest.raises(UserError, match="cuda"):
        train(config, tmp_path / "run")
    assert "cuda" in run_trial({}, config, tmp_path / "run").reason  # of a sweep
    assert not (tmp_path / "run").exists()


@pytest.fixture
def run(stopped, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(stopped, tmp_path / "run"))


@pytest.fixture
def rollouts(monkeypatch):
    """Where each rollout begins, in decisions."""
    begun, collect = [], SelfPlayPPO.collect

    def counted(self, *arguments, **keywords):
        begun.append(self.num_timesteps)
        return collect(self, *arguments, **keywords)

    monkeypatch.setattr(SelfPlayPPO, "collect", counted)
    return begun


def resume(out):
    with one_thread_each():
        return train(Config(**SETTINGS), out, resume=True)


def test_it_resumes_from_the_last_save_and_not_from_the_beginning(run, rollouts, uninterrupted):
    assert resume(run) == run / "policy"
    assert rollouts == list(range(256, 384, 64))
    assert_same_end(run, uninterrupted)


def test_a_save_holds_the_games_in_progress_with_their_selves_and_the_results_to_beat(stopped):
    learner = resumed_learner(Config(**SETTINGS), stopped)
    state = learner.run_state
    (memory,) = (o.memory for o in learner.env.fixed_opponents if isinstance(o.policy, PastSelves))
    assert set(playing(memory)) <= state.past.keys()
    assert state.kept_decisions == 256
    assert len(state.best_results) == SETTINGS["evaluation"]["games"] // 2
    assert load_checkpoint(stopped / "policy").checkpoint.hidden == (16,)


def test_a_run_without_its_final_evaluation_is_only_evaluated(uninterrupted, rollouts, tmp_path):
    out = Path(shutil.copytree(uninterrupted[0], tmp_path / "run"))
    (out / "evaluation.json").unlink()
    resume(out)
    assert rollouts == []
    assert_same_end(out, uninterrupted)


def test_a_finished_run_stays_as_it_is(uninterrupted, monkeypatch, tmp_path, capsys):
    out = Path(shutil.copytree(uninterrupted[0], tmp_path / "run"))
    monkeypatch.setattr("hanamachi.training.run.final_evaluation", None)
    assert resume(out) == out / "policy"
    assert_same_end(out, uninterrupted)
    assert "greedy" in capsys.readouterr().out  # the table is printed again


@pytest.mark.parametrize("name", ["policy", "evaluation.json"])
def test_a_finished_run_that_lost_a_part_says_what_to_do(name, uninterrupted, tmp_path):
    out = Path(shutil.copytree(uninterrupted[0], tmp_path / "run"))
    if name == "policy":
        shutil.rmtree(out / name)
    else:
        (out / name).write_text("[1]")
    with pytest.raises(UserError, match=f"{name}.* restore") as refused:
        resume(out)
    assert_one_sentence(refused.value)


def test_a_save_cut_between_its_two_renames_is_put_right(run, uninterrupted):
    (run / "policy").rename(run / ".policy.old")
    (run / ".policy.0123abcd.new").mkdir()
    (run / ".policy.0123abcd.new" / "config.json").write_text("{")
    (run / ".resume.zip.abcd0123.new").write_bytes(b"PK")
    resume(run)
    assert_same_end(run, uninterrupted)


def test_a_checkpoint_can_be_read_between_the_two_renames_of_a_save(run):
    expected = load_checkpoint(run / "policy").checkpoint.weights
    (run / "policy").rename(run / ".policy.old")
    policy = load_checkpoint(run / "policy")
    assert policy.name == "policy"
    for name, weights in policy.checkpoint.weights.items():
        np.testing.assert_array_equal(weights, expected[name])


# --- Refused


def refusal(capsys, *arguments):
    """The sentence with which `hanamachi train` refuses."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.count("\n") == 1
    return err.removeprefix("hanamachi: ").removesuffix("\n")


def test_a_run_folder_is_never_overwritten(settings, run, capsys):
    sentence = refusal(capsys, settings, "--out", run)
    assert str(run) in sentence
    assert "--resume" in sentence


@pytest.mark.parametrize(
    "name", ["run.json", "resume.zip", "tensorboard", "curve.png", "report.html"]
)
def test_no_run_begins_where_it_would_replace_something_else(name, tmp_path):
    (tmp_path / name).write_text("theirs")
    with pytest.raises(UserError, match=name):
        train(Config(**SETTINGS), tmp_path)
    assert (tmp_path / name).read_text() == "theirs"
    assert {path.name for path in tmp_path.iterdir()} == {name, LOCK}


def test_all_that_a_run_writes_is_looked_for_before_it_begins(uninterrupted):
    found = {path.name for path in uninterrupted[0].iterdir() if path.name != LOCK}
    assert found == {"config.yaml", *WRITTEN} - {"clone", CLONE_SAVED}


def test_a_run_that_was_killed_before_it_was_described_can_be_resumed(tmp_path):
    config = Config(**SETTINGS)
    begin_run(config, tmp_path, resume=False)
    (tmp_path / "run.json").unlink()
    begin_run(config, tmp_path, resume=True)
    assert (tmp_path / "run.json").exists()


def test_a_run_names_every_machine_and_version_that_it_learned_with(tmp_path, monkeypatch):
    config = Config(**SETTINGS)
    begin_run(config, tmp_path, resume=False)
    first = json.loads((tmp_path / "run.json").read_text())
    assert RESUMED not in first
    for processor in ("another one", "another one", first["processor"]):
        monkeypatch.setattr(provenance, "processor", lambda name=processor: name)
        begin_run(config, tmp_path, resume=True)
    made = json.loads((tmp_path / "run.json").read_text())
    assert made == {**first, RESUMED: [{"processor": "another one"}]}
    assert "resumed with processor another one." in model_card(config, made, 0, [])
    (tmp_path / "evaluation.json").write_text("[1]")  # the run is finished
    monkeypatch.setattr(provenance, "processor", lambda: "a third")
    begin_run(config, tmp_path, resume=True)
    assert json.loads((tmp_path / "run.json").read_text()) == made


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"policies": 3}'])
def test_a_damaged_description_of_a_run_is_named(damage, tmp_path):
    config = Config(**SETTINGS)
    begin_run(config, tmp_path, resume=False)
    (tmp_path / "run.json").write_bytes(damage)
    with pytest.raises(UserError, match=r"run\.json is damaged"):
        begin_run(config, tmp_path, resume=True)


@pytest.mark.parametrize("among", ["opponents", "evaluation"])
def test_a_run_is_never_resumed_with_other_weights_in_the_other_seats(among, run, tmp_path):
    other = shutil.copytree(run / "policy", tmp_path / "other")
    named = {
        "opponents": {"opponents": {"self": 0.5, str(other): 0.5}, "past": {}},
        "evaluation": {"evaluation": {"opponents": [str(other)]}},
    }
    config, out = Config(**SETTINGS | named[among]), tmp_path / "another"
    out.mkdir()
    begin_run(config, out, resume=False)
    begin_run(config, out, resume=True)
    (other / "config.json").write_text("{}")
    with pytest.raises(UserError, match=f"{other} has changed") as caught:
        begin_run(config, out, resume=True)
    assert_one_sentence(caught.value)
    shutil.rmtree(other)
    with pytest.raises(UserError, match=f"{other} has changed"):
        begin_run(config, out, resume=True)


def test_a_run_is_never_resumed_with_other_settings(settings, run, capsys):
    sentence = refusal(capsys, settings, "--out", run, "--resume", "--set", "seed=1")
    assert "seed was" in sentence
    assert f"hanamachi train {run / 'config.yaml'} --out {run} --resume)" in sentence


@pytest.mark.parametrize(
    "damage",
    [lambda saved: b"", lambda saved: saved[:-1], lambda saved: saved[: len(saved) // 2],
     lambda saved: b"no zip", lambda saved: saved[:200] + bytes(1_000) + saved[1_200:]],
    ids=["empty", "a byte short", "half", "no zip", "overwritten"],
)  # fmt: skip
def test_a_damaged_save_is_refused(settings, run, damage, capsys):
    saved = run / "resume.zip"
    saved.write_bytes(damage(saved.read_bytes()))
    sentence = refusal(capsys, settings, "--out", run, "--resume")
    assert f"{saved} is damaged" in sentence


def test_a_save_for_which_memory_is_too_small_is_not_called_damaged(run, monkeypatch):
    def too_large(*given, **how):
        raise MemoryError

    monkeypatch.setattr(SelfPlayPPO, "set_parameters", too_large)
    with pytest.raises(MemoryError):
        resumed_learner(Config.load(run / "config.yaml"), run)


def test_a_save_of_which_a_part_cannot_be_read_is_refused(run, monkeypatch):
    lost = base64.b64encode(pickle.dumps(ZipFile)).replace(b"A", b"B")
    with ZipFile(run / "resume.zip") as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    state = json.loads(parts["data"])
    state["ep_info_buffer"][":serialized:"] = lost.decode()
    with ZipFile(run / "resume.zip", "w") as opened:
        for name, content in (parts | {"data": json.dumps(state).encode()}).items():
            opened.writestr(name, content)
    with pytest.raises(UserError, match="is damaged"):
        resumed_learner(Config.load(run / "config.yaml"), run)


@pytest.mark.parametrize("name", [b'"run_state"', b'"settings"'])
def test_a_save_of_another_version_is_refused_and_not_called_damaged(name, settings, run, capsys):
    saved = run / "resume.zip"
    members = {name: ZipFile(saved).read(name) for name in ZipFile(saved).namelist()}
    members["data"] = members["data"].replace(name, b'"another"')
    with ZipFile(saved, "w") as older:
        for member, content in members.items():
            older.writestr(member, content)
    sentence = refusal(capsys, settings, "--out", run, "--resume")
    assert str(saved) in sentence
    assert "version" in sentence
    assert "damaged" not in sentence
    assert len(sentence.replace(str(saved), "")) <= 300


@pytest.mark.parametrize(
    "change", [("0.01", "0.02"), ("- 16", "- 8"), ("greedy: 0.25", "expert: 0.25")]
)
def test_a_run_whose_settings_were_edited_in_its_folder_is_not_resumed(change, run, capsys):
    written, saved = run / "config.yaml", (run / "resume.zip").read_bytes()
    text = written.read_text()
    assert change[0] in text
    written.write_text(text.replace(*change))
    sentence = refusal(capsys, written, "--out", run, "--resume")
    assert str(written) in sentence
    assert "damaged" not in sentence
    assert (run / "resume.zip").read_bytes() == saved
    written.write_text(text)
    assert resumed_learner(Config.load(written), run)


def test_a_changed_bit_in_a_save_is_refused_or_does_no_harm(run):
    config, rng, saved = Config(**SETTINGS), random.Random(0), run / "resume.zip"
    content = saved.read_bytes()
    expected = resumed_learner(config, run).policy.state_dict()
    refused = 0
    for _ in range(FLIPS):
        damaged = bytearray(content)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        saved.write_bytes(damaged)
        try:
            learner = resumed_learner(config, run)
        except UserError:
            refused += 1
        else:
            for name, weights in learner.policy.state_dict().items():
                assert torch.equal(weights, expected[name])
    assert refused > FLIPS / 2


def test_without_its_save_a_run_starts_again(run, rollouts, uninterrupted):
    (run / "resume.zip").unlink()
    resume(run)
    assert rollouts == list(range(0, 384, 64))
    assert_same_end(run, uninterrupted)
