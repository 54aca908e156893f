"""On a Ray cluster everything comes out as it should, whatever is lost on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml
from root import ROOT
from samples import WHOLE, sample
from small_games import GIFTS

from hanamachi.errors import UserError
from hanamachi.limits import MESSAGE
from hanamachi.policies import load_policy
from hanamachi.training import evaluate, ownership
from hanamachi.training.best_responses import exploit
from hanamachi.training.build import games_of_workers, make_games, new_learner
from hanamachi.training.cli import main as cli
from hanamachi.training.cluster import connect, join, listens, rollouts
from hanamachi.training.cluster.map_on_cluster import GIVEN_UP, called, map_on_cluster
from hanamachi.training.cluster.rollouts import config_of
from hanamachi.training.config import Config
from hanamachi.training.resume import save_learner
from hanamachi.training.run import train
from hanamachi.training.run_files import SAVED
from hanamachi.training.sweep import sweep

ray = pytest.importorskip("ray")

KILLS = sample(20, 0.05)  # 50 in all: of processes, machines and heads
HEADS = 30  # in `make verify`
SMALL = {
    "game": "hanamikoji",
    "options": GIFTS,
    "steps": 3_000,
    "num_games": 15,
    "opponents": {"self": 0.5, "past": 0.25, "greedy": 0.25},
    "network": {"hidden": [32], "features": ["advice"]},
    "critic": "all",
    "ppo": {"batch_size": 128, "n_epochs": 2},
    "past": {"every": 1_000, "keep": 2},
    "export": "average",
    "evaluation": {
        "every": 1_000,
        "games": 20,
        "opponents": ["random"],
        "final_games": 20,
        "final_opponents": ["random"],
    },
    "save_every": 500,
}
WORKERS = 2
MACHINES = WORKERS if WHOLE else 0  # besides the head, which plays too if there are none
QUICK = {"health_check_period_ms": 1_000}  # a dead machine is noticed after five of them
UNSEEN = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}


def started(processors=1):
    """A cluster on this machine; its head has this number of processors."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": processors, "_system_config": QUICK, **UNSEEN}
    return Cluster(initialize_head=True, head_node_args=head)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the tests connect to the cluster."""
    return tmp_path_factory.mktemp("folder")


@pytest.fixture(scope="module")
def cluster(folder):
    """A head that only learns and two machines that play, or one machine that does both."""
    handler = signal.getsignal(signal.SIGTERM)  # in place of which Ray's cluster sets its own
    made = started(0 if MACHINES else 1)
    for _ in range(MACHINES):
        made.add_node(num_cpus=1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_ADDRESS", made.address)
        with chdir(folder):
            connect()
        yield made
    ray.shutdown()
    made.shutdown()
    signal.signal(signal.SIGTERM, handler)
    torch.set_num_threads(threads)


def run(out, **changes):
    return train(Config.from_dict({**SMALL, **changes}), out, resume=True, workers=WORKERS)


@pytest.fixture(scope="module")
def undisturbed(cluster, tmp_path_factory):
    """The checkpoint of a run in which nothing is lost, and how many seconds it took.

    Ray starts processes in the run before it, which takes longer.
    """
    folder = tmp_path_factory.mktemp("undisturbed")
    run(folder / "first")
    begun = time.perf_counter()
    return run(folder / "run"), time.perf_counter() - begun


def weights(checkpoint):
    return (checkpoint / "model.safetensors").read_bytes()


def test_workers_are_where_the_command_was_given(cluster, folder):
    assert set(map_on_cluster(lambda _: os.getcwd(), range(2))) == {str(folder.resolve())}


# --- Training


@pytest.mark.skipif(not WHOLE, reason="the next test shows more")
def test_the_same_seed_and_number_of_workers_give_the_same_policy(undisturbed, tmp_path):
    assert weights(run(tmp_path / "again")) == weights(undisturbed[0])


def test_it_costs_only_rollouts_to_lose_a_process_or_a_machine(cluster, undisturbed, tmp_path):
    checkpoint, seconds = undisturbed
    rng, in_time = random.Random(0), 0
    for kill in range(5 * KILLS):
        lose = rng.choice([lose_process, lose_machine] if MACHINES else [lose_process])
        lost = threading.Event()
        kill_one = threading.Timer(rng.uniform(0, seconds), lose, (cluster, rng, lost))
        kill_one.start()
        assert weights(run(tmp_path / str(kill))) == weights(checkpoint)
        in_time += lost.is_set()
        kill_one.join()
        while len(cluster.worker_nodes) < MACHINES:
            cluster.add_node(num_cpus=1)
        if in_time == KILLS:
            return
    pytest.fail("most runs had ended before anything was lost")


def lose_machine(cluster, rng, lost):
    cluster.remove_node(rng.choice(sorted(cluster.worker_nodes, key=str)), False)
    lost.set()


def lose_process(cluster, rng, lost):
    os.kill(rng.choice(processes(cluster)), signal.SIGKILL)
    lost.set()


def processes(cluster):
    """The ids of the processes that play."""
    nodes = [cluster.head_node, *cluster.worker_nodes]
    parents = {node.all_processes["raylet"][0].process.pid for node in nodes}
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True)
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [
        int(pid)
        for pid, parent, command in rows
        if int(parent) in parents and command.startswith("ray::") and "Agent" not in command
    ]


def test_a_run_is_resumed_with_as_many_workers_as_it_had(undisturbed):
    out = undisturbed[0].parent
    (out / "evaluation.json").rename(out / "evaluation.kept")
    try:
        with pytest.raises(UserError, match="--ray --workers 2"):
            train(Config.from_dict(SMALL), out, resume=True)
    finally:
        (out / "evaluation.kept").rename(out / "evaluation.json")


def test_workers_play_as_many_games_against_each_opponent_as_one_process():
    changes = {"num_games": 21, "opponents": {"self": 0.6, "greedy": 0.4}, "past": {}}
    config = Config.from_dict({**SMALL, **changes})
    ours = [config_of(config, n, games) for n, games in enumerate(games_of_workers(config, 4))]
    (whole,), parts = rows(config), [rows(own) for own in ours]
    assert whole == 8
    assert parts == [[2]] * 4
    assert sum(own.num_games for own in ours) == 21


def test_a_process_makes_one_player_for_all_shares_of_a_kind(monkeypatch):
    names = ["random", "greedy", "expert", "past", "hanamikoji", "self"]
    opponents = {name: games / 75 for games, name in enumerate(names, start=10)}
    changes = {"num_games": 75, "opponents": opponents}
    config = Config.from_dict({**SMALL, **changes})
    divided = games_of_workers(config, 9)
    made = []
    monkeypatch.setattr(rollouts, "new_player", lambda *given: made.append(given))
    for _ in range(2):
        for number, games in enumerate(divided):
            rollouts.kept_player("run", config_of(config, number, games), compact=False)
    assert len(made) == len({tuple(games.values()) for games in divided}) == 7


def rows(config):
    """How many games each opponent plays."""
    return [len(opponent.rows) for opponent in make_games(config).fixed_opponents]


@pytest.fixture
def workers_of(monkeypatch):
    """How many workers a command to train would have, on a cluster of this size."""

    def of(processors, *arguments):
        wanted = []
        monkeypatch.setattr("hanamachi.training.cluster.processors", lambda: processors)
        monkeypatch.setattr(
            "hanamachi.training.run.train", lambda *given, workers, **how: wanted.append(workers)
        )
        monkeypatch.setattr("hanamachi.training.cli.commands.train.written", lambda *paths: None)
        with pytest.raises(SystemExit):
            cli.main(["train", *map(str, arguments), "--ray"])
        return wanted

    return of


@pytest.mark.parametrize("name", ["geishas_road-advanced", "hanamikoji"])
@pytest.mark.parametrize("processors", [4, 32, 1_000])
def test_by_default_each_opponent_has_a_game_for_every_worker(name, processors, workers_of):
    recipe = ROOT / "configs" / f"{name}.yaml"
    (wanted,) = workers_of(processors, recipe)
    config = Config.load(recipe)
    assert len(games_of_workers(config, wanted)) == wanted
    if wanted < processors:
        with pytest.raises(UserError, match=f"at least {wanted + 1}"):
            games_of_workers(config, wanted + 1)


def test_a_run_is_resumed_by_default_with_as_many_workers_as_it_had(workers_of, tmp_path):
    config = Config.from_dict(SMALL)
    settings, out = tmp_path / "run.yaml", tmp_path / "out"
    settings.write_text(json.dumps(SMALL))
    learner = new_learner(config)
    learner.workers = SimpleNamespace(states=[{"games": 1}, {"games": 2}])
    save_learner(learner, config, out / SAVED)
    assert workers_of(3, settings, "--out", out, "--resume") == [2]
    assert workers_of(3, settings, "--out", tmp_path / "another", "--resume") == [3]


def test_only_work_of_a_cluster_waits_for_another_owner():
    assert called(ownership.patience.get) == GIVEN_UP
    assert ownership.patience.get() == 0


def test_workers_that_leave_an_opponent_without_games_are_refused(tmp_path):
    given = {"opponents": {"self": 0.9, "greedy": 0.1}, "past": {}, "num_games": 8}
    few = Config.from_dict({**SMALL, **given})
    with pytest.raises(UserError, match="greedy"):
        train(few, tmp_path / "run", workers=4)
    assert not (tmp_path / "run").exists()


def test_workers_without_ray_are_a_mistake(tmp_path, capsys):
    settings = tmp_path / "run.yaml"
    settings.write_text(json.dumps(SMALL))
    with pytest.raises(SystemExit, match="2"):
        cli.main(["train", str(settings), "--workers", "2"])
    assert "--ray" in capsys.readouterr().err


# --- Evaluation


@pytest.mark.parametrize("game", ["hanamikoji", "hanabi:2p"] if WHOLE else [])
def test_an_evaluation_is_the_same_wherever_its_games_are_played(cluster, game):
    how = {"games": 60, "seed": 3, "play": "both"}
    there = evaluate(["greedy", "expert"], game, **how, mapper=map_on_cluster, batch=16).as_json()
    assert there == evaluate(["greedy", "expert"], game, **how).as_json()


@pytest.mark.skipif(not WHOLE, reason="workers load and compile much for little")
def test_checkpoints_and_searches_play_there_too(cluster, undisturbed):
    policies = [str(undisturbed[0]), "search:improve:greedy:worlds=2"]
    how = {"games": 12, **SMALL["options"]}
    there = evaluate(policies, "hanamikoji", **how, mapper=map_on_cluster, batch=4).as_json()
    assert there == evaluate(policies, "hanamikoji", **how).as_json()


@pytest.mark.skipif(not WHOLE, reason="a second cluster takes half a minute to start")
def test_without_an_address_a_cluster_is_started_on_this_machine(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments("evaluate", tmp_path))],
        env={name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.count("hanamachi: ")) == (0, 0), done.stderr
    assert (tmp_path / "out" / "evaluation.json").exists()


def test_mistakes_come_back_in_the_same_words(cluster):
    def refuse(_):
        raise UserError("not here")

    with pytest.raises(UserError, match="not here"):
        list(map_on_cluster(refuse, [1, 2]))


def test_what_is_left_of_the_work_is_not_done_after_a_mistake(cluster, tmp_path):
    def work(number):
        if number == 0:
            raise UserError("not here")
        time.sleep(0.1)
        (tmp_path / str(number)).touch()

    with pytest.raises(UserError, match="not here"):
        list(map_on_cluster(work, range(100)))
    assert list(map_on_cluster(lambda _: (tmp_path / "99").exists(), [0])) == [False]


def test_work_that_is_done_is_not_cancelled(cluster, monkeypatch):
    cancelled = []
    monkeypatch.setattr(ray, "cancel", cancelled.append)
    assert list(map_on_cluster(lambda number: number, range(20))) == list(range(20))
    assert not cancelled


@pytest.mark.skipif(not WHOLE, reason="in short, sweeps show that runs learn there")
def test_best_responses_may_learn_at_once(cluster, tmp_path):
    alone = {"opponents": {"self": 1}, "past": {}, "critic": "own"}
    config = Config.from_dict({**SMALL, **alone})
    how = {"steps": 300, "seeds": 2, "config": config}
    there = exploit("greedy", tmp_path / "there", mapper=map_on_cluster, **how)
    here = exploit("greedy", tmp_path / "here", **how)
    assert there == here
    with pytest.raises(UserError, match="holds a run already"):
        exploit("greedy", tmp_path / "there", **how)


# --- Sweeps

SWEPT = {
    **SMALL,
    "steps": 300,
    "opponents": {"self": 1},
    "past": {},
    "sweep": {
        "trials": 2,
        "over": {"ppo.gae_lambda": {"between": [0.5, 1]}, "num_games": [8, 16]},
    },
}


def test_a_sweep_writes_the_best_settings_that_it_has_tried(cluster, tmp_path):
    file = tmp_path / "sweep.yaml"
    file.write_text(json.dumps(SWEPT))
    best, trials = sweep(file, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "sweep.json").read_text()) == [
        each.as_json() for each in trials
    ]
    chosen = trials[0].settings
    settings = yaml.safe_load(best.read_text())
    assert len(trials) == 2
    assert trials[0].result >= trials[1].result
    assert settings["ppo"]["gae_lambda"] == chosen["ppo.gae_lambda"]
    assert settings["num_games"] == chosen["num_games"]
    assert Config.load(best).steps == SWEPT["steps"]
    assert sweep(file, tmp_path / "out", resume=True)[1] == trials
    with pytest.raises(UserError, match="holds a sweep already"):
        sweep(file, tmp_path / "out")


@pytest.mark.parametrize(
    ("section", "words"),
    [
        (None, "section sweep"),
        ({"over": {}}, "sweep.over"),
        ({"over": {"ppo.gae_lambda": {"between": [1, 0.5]}}}, "to a larger one"),
        ({"over": {"ppo.gae_lambda": {"log": [0, 0.5]}}}, "to a larger one"),
        ({"over": {"ppo.gae_lambda": {}}}, "give a range as"),
        ({"over": {"ppo.gae_lambda": [0.5, 2]}}, "ppo.gae_lambda"),
        ({"over": {"ppo.gea_lambda": [0.5]}}, "did you mean gae_lambda?"),
        ({"over": {"seed": [1, 2]}, "trails": 3}, "did you mean trials?"),
    ],
)
def test_what_cannot_be_swept_is_said_before_anything_runs(section, words, tmp_path):
    file = tmp_path / "sweep.yaml"
    given = {name: value for name, value in SWEPT.items() if name != "sweep"}
    file.write_text(json.dumps(given | ({"sweep": section} if section is not None else {})))
    with pytest.raises(UserError) as error:
        sweep(file, tmp_path / "out")
    assert words in str(error.value)
    assert not Path(tmp_path / "out").exists()


def test_a_checkpoint_of_a_cluster_run_loads_like_any_other(undisturbed):
    assert load_policy(str(undisturbed[0])).checkpoint.hidden == (32,)


# --- Without a head


def test_a_head_that_is_lost_while_a_process_joins_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("hanamachi.training.cluster.WAIT", 0.1)
    monkeypatch.setattr("hanamachi.training.cluster.PATIENCE", 0.2)
    stuck = threading.Event()
    monkeypatch.setattr("hanamachi.training.cluster.start_ray", lambda *_: stuck.wait())
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9"):
        join("127.0.0.1:9")
    stuck.set()


@pytest.mark.parametrize("address", ["127.0.0.1:9", "localhost:abc", "localhost", "::1:99999", ""])
def test_nothing_listens_at_what_is_no_address(address):
    assert not listens(address)


@pytest.mark.parametrize(("end", "speaks"), [("os._exit(1)", True), ("sys.exit(1)", False)])
def test_a_process_that_ray_ends_does_not_go_without_a_word(end, speaks):
    program = (
        f"import os, sys; from hanamachi.training import cluster; cluster.announce_end(); {end}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ("--resume" in done.stderr, done.returncode) == (speaks, 1)
    assert len(done.stderr) <= MESSAGE


# with less patience than users have
PROGRAM = (
    "from hanamachi.training import cluster; from hanamachi.training.cli.main import main; "
    "cluster.PATIENCE = 1.0; main()"
)
LONGEST = 120  # seconds until a command ends that has lost its cluster


class Command:
    """A command in a cluster of its own, whose head may be killed at any moment."""

    def __init__(self, *arguments):
        self.cluster, self.arguments = started(), [*map(str, arguments)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *self.arguments],
            env={**os.environ, "RAY_ADDRESS": self.cluster.address, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ended(self):
        """The exit code; what a loss leads to is one sentence, soon."""
        try:
            _, said = self.process.communicate(timeout=LONGEST)
        finally:
            self.process.kill()
            self.cluster.shutdown()
        code, (_, lost, sentence) = self.process.returncode, said.rpartition("hanamachi: ")
        # with code 1 Ray has ended the process
        assert (code, bool(lost)) in ((0, False), (1, True), (2, True)), (code, said)
        assert "Traceback" not in said
        assert not lost or len(sentence.rstrip()) <= MESSAGE
        return code

    def lose_head(self, process):
        getattr(self.cluster.head_node, process)(check_alive=False)


def arguments(name, folder):
    """A small command of this name, which writes to `folder`/out."""
    out = ["--out", folder / "out"]
    if name == "evaluate":
        return [name, "greedy", "expert", "--game", "hanamikoji", "--games", 200, "--ray", *out]
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(SMALL if name == "train" else SWEPT))
    return [name, file, *(["--ray", "--workers", WORKERS] if name == "train" else []), *out]


def outcome(name, folder):
    """The bytes that a command has to write, whatever happens."""
    files = {"train": "policy/model.safetensors", "evaluate": "evaluation.json"}
    return (folder / "out" / files.get(name, "sweep.json")).read_bytes()


@pytest.fixture(scope="module")
def expected(cluster, tmp_path_factory):
    """What each command writes if nothing is lost, and how many seconds it takes."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("train", "evaluate", "sweep")}
    seconds = {}
    for name, folder in folders.items():
        command, begun = Command(*arguments(name, folder)), time.perf_counter()
        assert command.ended() == 0
        seconds[name] = time.perf_counter() - begun
    return [(name, seconds[name], outcome(name, folder)) for name, folder in folders.items()]


@pytest.mark.skipif(not WHOLE, reason="each starts a cluster")
@pytest.mark.parametrize("kill", range(HEADS))
def test_it_costs_only_a_repetition_to_lose_the_head(kill, expected, tmp_path):
    rng = random.Random(kill)
    name, seconds, whole = expected[kill % len(expected)]
    command = Command(*arguments(name, tmp_path))
    time.sleep(rng.uniform(0, seconds))
    command.lose_head(rng.choice(["kill_gcs_server", "kill_raylet"]))
    if command.ended() != 0:
        resume = [] if name == "evaluate" else ["--resume"]
        with pytest.raises(SystemExit, match="0"):
            cli.main([*command.arguments, *resume])
    assert outcome(name, tmp_path) == whole


@pytest.mark.skipif(not WHOLE, reason="a second cluster takes half a minute to start")
def test_without_its_head_a_run_can_be_resumed(cluster, undisturbed, tmp_path, monkeypatch):
    """The last of this file, because it leaves the cluster without a head."""
    monkeypatch.setattr("hanamachi.training.cluster.PATIENCE", 1.0)
    saved = tmp_path / "run" / "resume.zip"
    killer = threading.Thread(target=kill_head, args=(cluster, saved))
    killer.start()
    with pytest.raises(UserError):
        run(tmp_path / "run")
    killer.join()
    another = started()
    monkeypatch.setenv("RAY_ADDRESS", another.address)
    try:
        assert weights(run(tmp_path / "run")) == weights(undisturbed[0])
    finally:
        ray.shutdown()
        another.shutdown()


def kill_head(cluster, saved):
    """Kill the head as soon as the run is saved for the first time."""
    while not saved.exists():
        time.sleep(0.01)
    cluster.head_node.kill_gcs_server(check_alive=False)
