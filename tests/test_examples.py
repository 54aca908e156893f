"""The examples are short, run as they stand, and their adapters keep what the libraries want."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import hanamachi
from hanamachi.errors import IllegalAction, UserError
from hanamachi.games import variant
from hanamachi.policies import BatchPolicy
from hanamachi.rllib import for_rllib
from hanamachi.torchrl import for_torchrl
from hanamachi.training import evaluate

ROOT = Path(__file__).parents[1]
CLIENTS = runpy.run_path(str(ROOT / "scripts" / "clients.py"))
HERE = ("sb3", "pettingzoo", "gymnasium", "openspiel")  # their libraries are ours as well
LONGEST = {"gymnasium": 150}  # lines; the others at most 60
SHORT = {"max_rounds": 1}


@pytest.mark.parametrize("name", CLIENTS["EXAMPLES"])
def test_an_example_is_short_and_says_what_it_needs(name):
    lines = CLIENTS["EXAMPLES"][name].read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST.get(name, 60)
    ours, itself, *_ = CLIENTS["requirements"](name)[1:]
    assert ours == ".[train]"
    assert CLIENTS["library"](name) in itself


@pytest.mark.parametrize("command", [[name] for name in HERE] + [["sb3", "--self-play"]], ids=str)
def test_an_example_runs_and_ends_with_its_figure(command):
    name, *flags = command
    done = subprocess.run(
        [sys.executable, CLIENTS["EXAMPLES"][name], "--steps", "64", *flags],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    last = done.stdout.splitlines()[-1]
    figure, low = CLIENTS["figure_of"](done.stdout)
    assert last == f"with_{name}: {figure}"
    assert re.fullmatch(rf"\d+\.\d % against random \({low} to \d+\.\d\), 2,000 games", figure)


# --- The table of clients


def test_a_client_that_fails_says_why(tmp_path):
    with (tmp_path / "log").open("w+") as log, pytest.raises(CLIENTS["Failed"], match="no luck"):
        CLIENTS["said"]([sys.executable, "-c", "raise SystemExit('begun\\nno luck')"], log)
    with pytest.raises(CLIENTS["Failed"], match="no figure"):
        CLIENTS["figure_of"]("with_sb3: nothing")


def test_make_verify_clients_runs_them():
    done = subprocess.run(
        ["make", "--dry-run", "verify-clients"], cwd=ROOT, capture_output=True, text=True
    )
    assert "scripts/clients.py" in done.stdout


# --- Functions that choose for many games


def test_a_function_of_many_games_is_judged():
    def first_legal(observations, masks):
        return masks.argmax(1)

    first = BatchPolicy(first_legal, variant("hanamikoji", **SHORT))
    judged = evaluate([first], "hanamikoji", 20, opponents=["random"], **SHORT).results[0]
    one_by_one = evaluate([lambda seen, mask: int(mask.argmax())], "hanamikoji", 20,
                          opponents=["random"], **SHORT).results[0]  # fmt: skip
    assert judged.policy == "first_legal"
    assert judged.rate == one_by_one.rate
    assert str(judged).endswith("20 games")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda masks: masks.argmin(1), IllegalAction),
        (lambda masks: masks.argmax(1) + masks.shape[1], IllegalAction),
        (lambda masks: masks.argmax(1)[:-1], UserError),
        (lambda masks: masks.argmax(1) * 1.0, UserError),
    ],
    ids=["illegal", "unknown", "too few", "no whole numbers"],
)
def test_a_wrong_answer_for_many_games_is_refused(answer, error):
    policy = BatchPolicy(lambda observations, masks: answer(masks), variant("hanamikoji"))
    masks = np.eye(3, policy.variant.actions.size, k=1, dtype=np.int8)
    seen = np.zeros((3, policy.variant.observation.size), np.float32)
    with pytest.raises(error):
        policy.distribution(seen, masks, policy.initial_memory(3))


# --- RLlib


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced", "hanabi:3p"])
def test_for_rllib_renames_and_changes_nothing_else(id, capsys):
    env, plain = for_rllib(hanamachi.make(id)), hanamachi.make(id)
    env.reset(seed=1)
    plain.reset(seed=1)
    for agent in plain.agent_iter(20):
        seen, expected = env.last()[0], plain.last()[0]
        assert env.observation_space(agent).contains(seen)
        assert seen["action_mask"].dtype == np.float32
        np.testing.assert_array_equal(seen["action_mask"], expected["action_mask"])
        np.testing.assert_array_equal(seen["observations"], expected["observation"])
        action = int(expected["action_mask"].argmax())
        env.step(action)
        plain.step(action)


# --- TorchRL


def test_for_torchrl_shows_the_end_and_then_the_next_game():
    made = {"num_envs": 16, "max_rounds": 1}
    plain = gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made)
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", **made))
    assert games.autoreset_mode == AutoresetMode.DISABLED
    seen, infos = plain.reset(seed=1)
    told, _ = games.reset(seed=1)
    ended = 0
    for _ in range(20):
        assert games.observation_space.contains(told)
        np.testing.assert_array_equal(told["observation"], seen)
        np.testing.assert_array_equal(told["action_mask"], infos["action_mask"])
        actions = infos["action_mask"].argmax(1)
        seen, rewards, over, _, infos = plain.step(actions)
        told, same_rewards, same_over, _, _ = games.step(actions)
        np.testing.assert_array_equal(same_rewards, rewards)
        np.testing.assert_array_equal(same_over, over)
        if over.any():
            ended += over.sum()
            last = np.stack(infos["final_obs"][over])
            np.testing.assert_array_equal(told["observation"][over], last)
            assert told["action_mask"][over].all()
            told, _ = games.reset(options={"reset_mask": over})
    assert ended > 16


def test_for_torchrl_refuses_to_go_on_with_games_that_are_over():
    games = for_torchrl(gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=2, max_rounds=1))
    told, _ = games.reset(seed=1)
    with pytest.raises(UserError, match="games that have ended"):
        games.reset(options={"reset_mask": np.array([True, False])})
    over = np.zeros(2, bool)
    while not over.any():
        told, _, over, _, _ = games.step(told["action_mask"].argmax(1))
    with pytest.raises(UserError, match="call reset"):
        games.step(told["action_mask"].argmax(1))
