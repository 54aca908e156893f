"""A run that was stopped in any way resumes to the same end, to the bit."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import pexpect
import pytest
import torch
from samples import WHOLE, sample
from terminals import in_terminal
from threads import one_thread

from hanamachi.errors import UserError
from hanamachi.policies import load_policy
from hanamachi.training.callbacks import SaveRun
from hanamachi.training.cli import main as cli
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.resume import resumed_learner
from hanamachi.training.run import train

KILLS = sample(30, 0.07)
OTHER_RUNS = [("another_game", KILLS // 3), ("a_clone", KILLS // 3)] if WHOLE else []
FLIPS = sample(1_000, 0.03)
PATIENCE = 300  # seconds for a run that takes a few

SETTINGS = {
    "game": "hanamikoji",
    "options": {"cards": [2, 3, 4], "actions": ["secret", "gift"], "max_rounds": 1},
    "steps": 6_000,
    "num_games": 16,
    "opponents": {"self": 0.5, "past": 0.25, "greedy": 0.25},
    "network": {"hidden": [32]},
    "ppo": {"batch_size": 128, "n_epochs": 2},
    "past": {"every": 1_000, "keep": 2},
    "magnet": {"kind": "refreshed", "kl_coef": 0.1, "every": 1_000},
    "average": {"decay": 0.99},
    "export": "average",
    "evaluation": {
        "every": 1_000,
        "games": 20,
        "opponents": ["random"],
        "final_games": 20,
        "final_opponents": ["random", "greedy"],
    },
    "save_every": 256,
}
ROAD = SETTINGS | {
    "game": "geishas_road:advanced",
    "options": {"colours": 2, "item_values": [1, 2, 3, 4], "actions": ["reveal", "gift"]},
    "steps": 3_000,
    "critic": "all",
    "magnet": {"kind": "average", "kl_coef": 0.1},
    "export": "policy",
}
CLONE = SETTINGS | {
    "game": "hanabi:2p",
    "options": {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3},
    "steps": 2_000,
    "opponents": {"self": 1},
    "init_from": "expert",
    "clone": {"steps": 1_000},
    "critic": "all",
    "magnet": {"kind": "start", "kl_coef": 0.1},
    "export": "policy",
    "network": {"hidden": [32], "features": ["convention"]},
}
ONE_THREAD = {"HANAMACHI_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """The file of a small run."""
    path = tmp_path_factory.mktemp("settings") / "run.yaml"
    path.write_text(json.dumps(SETTINGS))
    return path


def command(settings, out, *more):
    module = [sys.executable, "-m", "hanamachi.training.cli.main"]
    return [*module, "train", str(settings), "--out", str(out), "--resume", *more]


@pytest.fixture
def start(settings):
    """Starts or resumes the run in a folder; ends it with the test."""
    started = []

    def process(out, settings=settings, **keywords):
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        environment = {**os.environ, **ONE_THREAD}
        running = subprocess.Popen(command(settings, out), env=environment, **pipes, **keywords)
        started.append(running)
        return running

    yield process
    for running in started:
        running.kill()
        running.communicate()


def finish(process):
    """Wait for the end; returns the exit code and what was said on stderr."""
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


@pytest.fixture(scope="module")
def uninterrupted(settings, stopped, tmp_path_factory):
    """The folder of a run that nothing stopped, and after how many seconds it began and ended.

    As `stopped` comes before it, these seconds hold no compilation.
    """
    return whole_run(settings, tmp_path_factory.mktemp("uninterrupted") / "run")


def whole_run(settings, out):
    environment, began = {**os.environ, **ONE_THREAD}, time.time()
    subprocess.run(command(settings, out), env=environment, check=True, capture_output=True)
    return out, (out / "config.yaml").stat().st_mtime - began, time.time() - began


@pytest.fixture(scope="module")
def another_game(tmp_path_factory):
    """The same of a run that learns another game."""
    return second_run(ROAD, tmp_path_factory.mktemp("another_game"))


@pytest.fixture(scope="module")
def a_clone(tmp_path_factory):
    """The same of a run that clones a policy first, for a network with features."""
    return second_run(CLONE, tmp_path_factory.mktemp("a_clone"))


def second_run(settings, folder):
    """After one that may have had to compile the game."""
    (folder / "run.yaml").write_text(json.dumps(settings))
    whole_run(folder / "run.yaml", folder / "first")
    return whole_run(folder / "run.yaml", folder / "run")


def assert_same_end(out, uninterrupted):
    for name in ("policy/model.safetensors", "policy/config.json", "evaluation.json"):
        assert (out / name).read_bytes() == (uninterrupted[0] / name).read_bytes(), name


# --- Stopped


@pytest.mark.parametrize(("run", "wanted"), [("uninterrupted", KILLS), *OTHER_RUNS])
def test_killed_at_random_moments_it_ends_with_the_same_weights(
    run, wanted, start, tmp_path, request
):
    uninterrupted = whole, begins, ends = request.getfixturevalue(run)
    start = partial(start, settings=whole / "config.yaml")
    rng, kills, runs = random.Random(0), 0, 0
    while kills < wanted:
        out = tmp_path / str(runs)
        process = start(out)
        try:
            process.wait(rng.uniform(begins, ends))
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
        if process.wait() == 0:
            assert_same_end(out, uninterrupted)
            runs += 1
        assert process.returncode in (0, -signal.SIGKILL), process.communicate()
        assert_loads_if_there(out / "policy")
    assert finish(start(out))[0] == 0
    assert_same_end(out, uninterrupted)


def assert_loads_if_there(policy):
    if policy.exists():
        assert load_policy(str(policy)).network.hidden == (32,)


def test_ctrl_c_is_one_sentence_and_leaves_the_terminal_as_it_was(
    start, settings, uninterrupted, tmp_path
):
    out = tmp_path / "run"
    program, *arguments = command(settings, out)
    child = in_terminal(program, arguments, env={**os.environ, **ONE_THREAD}, timeout=PATIENCE)
    child.expect_exact("left")
    wait_for_in_terminal(out / "resume.zip", child)
    child.sendintr()
    child.expect_exact(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert child.before.endswith("hanamachi: interrupted\r\n")
    assert "Traceback" not in child.before
    hidden, shown = "\x1b[?25l", "\x1b[?25h"
    assert child.before.rfind(shown) > child.before.rfind(hidden)
    assert finish(start(out))[0] == 0
    assert_same_end(out, uninterrupted)


def wait_for_in_terminal(path, terminal):
    while not path.exists():
        assert terminal.isalive()
        time.sleep(0.005)


# --- Without room


class Disk:
    """A small disk of its own, which only root can mount."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)]
        subprocess.run(mount, check=True, capture_output=True)

    def fill(self, leave):
        """Leave a number of bytes; returns how to start a process that is limited to them."""
        free = os.statvfs(self.folder)
        (self.folder / "filler").write_bytes(bytes(free.f_bavail * free.f_bsize - leave))
        return {}

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
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (leave, leave))
        return {"preexec_fn": limit}

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
        process.kill()
        process.wait()
        saved = (out / "resume.zip").read_bytes()
        code, said = finish(start(out, **disk.fill(leave=len(saved) // 2)))
        assert code == 2
        assert said.splitlines()[-1] in (
            "hanamachi: No space left on device",
            "hanamachi: File too large",
        )
        assert "Traceback" not in said
        assert (out / "resume.zip").read_bytes() == saved
        assert_loads_if_there(out / "policy")
        disk.clear()
        assert finish(start(out))[0] == 0
        assert_same_end(out, uninterrupted)


# --- Resumed in this process


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The folder of a run that was interrupted during its fourth save."""
    out, saves = tmp_path_factory.mktemp("stopped") / "run", []

    def save(self):
        saves.append(self.learner.num_timesteps)
        if len(saves) == 4:
            raise KeyboardInterrupt
        act(self)

    act, SaveRun.act = SaveRun.act, save
    try:
        with one_thread(), pytest.raises(KeyboardInterrupt):
            train(Config(**SETTINGS), out)
    finally:
        SaveRun.act = act
    assert saves == [256, 512, 768, 1_024]
    return out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    config = Config(game="hanamikoji", device="cuda")
    with pytest.raises(UserError, match="cuda"):
        train(config, tmp_path / "run")
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
    with one_thread():
        return train(Config(**SETTINGS), out, resume=True)


def test_it_resumes_from_the_last_save_and_not_from_the_beginning(run, rollouts, uninterrupted):
    assert resume(run) == run / "policy"
    assert rollouts == list(range(768, 6_000, 256))
    assert_same_end(run, uninterrupted)


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


def test_a_save_cut_between_its_two_renames_is_put_right(run, uninterrupted):
    (run / "policy").rename(run / ".policy.old")
    (run / ".policy.new").mkdir()
    (run / ".policy.new" / "config.json").write_text("{")
    (run / ".resume.zip.new").write_bytes(b"PK")
    resume(run)
    assert_same_end(run, uninterrupted)
    assert not any(path.name.startswith(".") for path in run.iterdir())


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


def test_a_run_is_never_resumed_with_other_settings(settings, run, capsys):
    sentence = refusal(capsys, settings, "--out", run, "--resume", "--set", "seed=1")
    assert str(run / "config.yaml") in sentence


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


def test_a_save_of_another_version_is_refused_and_not_called_damaged(settings, run, capsys):
    saved = run / "resume.zip"
    members = {name: ZipFile(saved).read(name) for name in ZipFile(saved).namelist()}
    members["data"] = members["data"].replace(b'"run_state"', b'"saved_state"')
    with ZipFile(saved, "w") as older:
        for name, content in members.items():
            older.writestr(name, content)
    sentence = refusal(capsys, settings, "--out", run, "--resume")
    assert str(saved) in sentence
    assert "version" in sentence
    assert "damaged" not in sentence
    assert len(sentence.replace(str(saved), "")) <= 300


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
    assert rollouts == list(range(0, 6_000, 256))
    assert_same_end(run, uninterrupted)
