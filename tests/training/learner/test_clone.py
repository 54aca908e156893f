"""A policy that `init_from` names is cloned first, and self-play continues from the clone."""

import re

import numpy as np
import pytest
import torch
from learners import last_rollout
from samples import sample
from saved_runs import all_that_is_saved, assert_same
from small_datasets import made
from small_games import GIFTS
from stable_baselines3.common.logger import Logger

from hanamachi.errors import UserError
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.training import callbacks, run
from hanamachi.training.build import cloning_learner, new_learner, quiet
from hanamachi.training.callbacks import KeepUnlessWorse, Save
from hanamachi.training.config import Config
from hanamachi.training.curve import LoggedResult
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.learner.clone import Cloning, Imitation, Teacher, guided
from hanamachi.training.learner.rollout_buffer import mover_signed_advantages
from hanamachi.training.learner.selfplay import SelfPlayPPO, divergence
from hanamachi.training.learner.vecenv import SelfPlayVecEnv
from hanamachi.training.modelcard import model_card
from hanamachi.training.ownership import LOCK, owned
from hanamachi.training.run import train
from hanamachi.training.run_files import CLONE_SAVED

pytestmark = pytest.mark.usefixtures("on_one_thread")

GAME = {
    "game": "hanamikoji",
    "options": GIFTS,
}
SETTINGS = GAME | {
    "num_games": 32,
    "network": {"hidden": [32]},
    "ppo": {"batch_size": 128, "n_epochs": 2},
    "device": "cpu",
    "init_from": "greedy",
    "clone": {"steps": 20_000},
}
RUN = SETTINGS | {
    "clone": {"steps": 2_000},
    "magnet": {"kind": "start", "kl_coef": 0.1},
    "ppo": {"n_steps": 4, "batch_size": 128, "n_epochs": 2},
    "steps": 4_000,  # in rollouts of 128; only the value learns from the first three
    "evaluation": {
        "every": 1_000,
        "games": 20,
        "opponents": ["random"],
        "final_games": 20,
        "final_opponents": ["random"],
    },
    "save_every": 128,
}
HANABI = SETTINGS | {
    "game": "hanabi:2p",
    "options": {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3},
    "num_games": 16,
    "init_from": "expert",
    "network": {"hidden": [32], "features": ["convention"]},
    "clone": {"steps": 1_000},
}


@pytest.fixture(scope="module")
def config():
    return Config(**SETTINGS)


@pytest.fixture(scope="module")
def learner(config):
    return cloned(config)


def cloned(config):
    """The learner that has just cloned what `config` says."""
    learner = cloning_learner(config)
    learner.set_logger(quiet())
    learner.learn(config.clone.steps, reset_num_timesteps=False)
    return learner


def policy(learner):
    return CompiledPolicy(checkpoint_of(learner.policy.network, learner.env.variant))


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


# --- The clone


def test_a_clone_plays_as_its_teacher_does(config, learner):
    before, after = agreement(cloning_learner(config)), agreement(learner)
    assert before < 0.5
    assert after > 0.8


def agreement(learner):
    """Share of the decisions of new games in which the likeliest action is the teacher's."""
    games = SelfPlayVecEnv(learner.env.variant, 200, seed=7)
    games.reset()
    teacher, student = Teacher(learner.teacher.player.policy, games), policy(learner)
    rng, agreed = np.random.default_rng(0), []
    for _ in range(20):
        labels = teacher.labels(games)
        chances, _, _ = student.distribution(games.seen, games.masks, np.zeros((200, 0)))
        agreed.append(labels[np.arange(200), chances.argmax(1)] > 0)
        actions, _ = student.act(games.seen, games.masks, np.zeros((200, 0)), rng)
        games.advance(actions)
    return np.mean(agreed)


def test_a_clone_beats_random_play_as_its_teacher_does(config, learner):
    clones, teachers = (rate_against_random(p, config) for p in (policy(learner), "greedy"))
    assert teachers > 0.6
    assert clones > teachers - 0.05


def rate_against_random(player, config):
    (row,) = results_of(player, ["random"], config.game, 2_000, plays=["argmax"], **config.options)
    return row.rate


def test_the_value_head_knows_how_games_end(learner):
    games = SelfPlayVecEnv(learner.env.variant, 500, seed=8)
    games.reset()
    student, rng, steps = policy(learner), np.random.default_rng(0), []
    for _ in range(30):
        _, values, _ = student.distribution(games.seen, games.masks, np.zeros((500, 0)))
        actions, _ = student.act(games.seen, games.masks, np.zeros((500, 0)), rng)
        games.advance(actions)
        steps.append([values, games.rewards.copy(), games.terminated.copy(), games.signs.copy()])
    values, rewards, terminated, signs = (np.array(kept) for kept in zip(*steps, strict=True))
    nothing = np.zeros((31, 500), np.float32)
    results = mover_signed_advantages(rewards, nothing, terminated, signs, gamma=1, gae_lambda=1)
    ended = terminated[::-1].cumsum(0)[::-1] > 0  # the game of this decision was seen to its end
    errors = (results - values)[ended]
    assert (errors**2).mean() < results[ended].var()


def test_labels_are_what_the_teacher_says_when_asked_game_by_game():
    learner = cloned(Config(**HANABI))
    kept, expert = learner.rollout_buffer, learner.teacher.player.policy
    plain = learner.env.variant.observation.size
    at_first = learner.env.variant.seats  # decisions until every seat has a memory
    observations, masks = kept.observations.numpy(), kept.masks.numpy().astype(np.int8)
    remembered = 0
    for b in range(learner.n_envs):
        begun = (
            np.flatnonzero(kept.terminated[:, b])[:-1] + 1
        )  # games that lie in this rollout wholly
        for start in begun:
            memory = [expert.initial_memory(1) for _ in range(at_first)]
            for t in range(start, start + np.flatnonzero(kept.terminated[start:, b])[0] + 1):
                view = observations[t, [b], :plain], masks[t, [b]]
                seat = (t - start) % at_first
                label, _, memory[seat] = expert.distribution(*view, memory[seat])
                np.testing.assert_array_equal(kept.labels[t, b], label[0])
                forgetful, _, _ = expert.distribution(*view, expert.initial_memory(1))
                remembered += (forgetful != label).any()
    assert remembered > 0


def test_the_teacher_plays_fewer_and_fewer_of_the_games():
    assert [guided(left) for left in (1, 0.75, 0.5, 0.25, 0)] == [1, 0.5, 0, 0, 0]


def clone_in(folder, **settings):
    """Clone as a run does, which owns its folder."""
    with owned(folder):
        run.starting_point(Config(**RUN | settings), folder)


def test_a_seed_gives_the_same_clone_to_the_bit(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        clone_in(tmp_path / name, seed=seed)
    a, b, c = (weights(tmp_path / name / "clone") for name in "abc")
    assert a == b != c


def test_no_clone_is_saved_in_a_folder_that_vanished(tmp_path, monkeypatch):
    out = tmp_path / "run"
    monkeypatch.setattr(Cloning, "improve", lambda learner: out.rename(tmp_path / "away"))
    with pytest.raises(UserError, match="was removed"):
        clone_in(out, clone={"steps": 1})
    assert not out.exists()


# --- The run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that nothing stopped."""
    out = tmp_path_factory.mktemp("whole") / "run"
    train(Config(**RUN), out)
    return out


MOMENTS = {
    "in the fourth save of the clone": (Save, "act", 4),
    "in the fourth save after the clone": (Save, "act", 16 + 4),  # the clone is saved 16 times
    "cloning": (Cloning, "train", 3),
    "while only the value learns": (SelfPlayPPO, "loss", 5),
    "saving the clone": (run, "save_checkpoint", 1),
}


@pytest.mark.parametrize("moment", list(MOMENTS)[: sample(5, 0.4)])
def test_a_run_stopped_anywhere_ends_with_the_same_weights(moment, whole, tmp_path, monkeypatch):
    owner, method, call = MOMENTS[moment]
    with monkeypatch.context() as patch:
        patch.setattr(owner, method, stopped_at(call, getattr(owner, method)))
        with pytest.raises(KeyboardInterrupt):
            train(Config(**RUN), tmp_path)
    train(Config(**RUN), tmp_path, resume=True)
    for name in ("clone", "policy"):
        assert weights(tmp_path / name) == weights(whole / name)
    assert_same(all_that_is_saved(tmp_path), all_that_is_saved(whole))
    assert (tmp_path / "evaluation.json").read_bytes() == (whole / "evaluation.json").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in whole.iterdir()}


STUDENTS = {
    "of a policy with memory": HANABI | {"evaluation": {}},
    "of a search": {"init_from": "search:improve:greedy:worlds=2"},
    "of a dataset": {},
}


@pytest.mark.parametrize("student", STUDENTS)
def test_a_clone_that_was_stopped_continues_from_its_last_save(student, tmp_path, monkeypatch):
    settings = STUDENTS[student] | {
        "num_games": 16,
        "clone": {"steps": 20 * 64},  # in rollouts of 64
        "save_every": 2 * 64,
        "ppo": RUN["ppo"],
    }
    if student == "of a dataset":
        settings["init_from"] = f"dataset:{made(tmp_path / 'data')}"
    clone_in(tmp_path / "whole", **settings)
    decisions, improve = [], Imitation.improve

    def interrupted(self):
        decisions.append(self.num_timesteps)
        # games have ended with the last decision before the save
        ended = self.env.terminated.any() or student == "of a dataset"
        if not stops and ended and self.num_timesteps % (2 * 64) == 0:
            stops.append(self.num_timesteps)
        elif len(stops) == 1 and self.num_timesteps > stops[0]:
            stops.append(self.num_timesteps)
            raise KeyboardInterrupt
        improve(self)

    stops = []
    monkeypatch.setattr(Imitation, "improve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clone_in(tmp_path / "stopped", **settings)
    clone_in(tmp_path / "stopped", **settings)
    saved, stopped = stops
    again = decisions.index(stopped) + 1
    assert decisions[again:] == [*range(saved + 64, 20 * 64 + 1, 64)]
    assert weights(tmp_path / "stopped" / "clone") == weights(tmp_path / "whole" / "clone")
    assert not (tmp_path / "stopped" / CLONE_SAVED).exists()


def test_a_slow_learner_is_saved_after_some_minutes_too(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(callbacks, "SAVE_EVERY_SECONDS", 0.0)
    save, saves = callbacks.save_learner, []

    def counted(learner, *given):
        saves.append(learner.num_timesteps)
        save(learner, *given)

    monkeypatch.setattr(callbacks, "save_learner", counted)
    train(Config(**RUN | {"save_every": 10**6}), tmp_path)
    assert saves == [*range(128, 2_048 + 1, 128), *range(128, 4_096 + 1, 128)]
    assert weights(tmp_path / "policy") == weights(whole / "policy")


def stopped_at(call, method):
    """The method, until it is called for the so-manieth time."""
    before = iter(range(call - 1))

    def called(*arguments, **keywords):
        if next(before, None) is None:
            raise KeyboardInterrupt
        return method(*arguments, **keywords)

    return called


def test_the_model_cards_say_what_was_cloned(whole):
    clone = " ".join((whole / "clone" / "README.md").read_text().split())
    policy = " ".join(model_card(Config(**RUN), {}, 3_000, []).split())
    assert all("2,048 decisions" in card and "greedy" in card for card in (clone, policy))
    assert ("3,000 decisions" in clone, "3,000 decisions" in policy) == (False, True)
    assert ("Cloning" in clone, "Cloning" in policy) == (True, True)
    assert ("Proximal" in clone, "Proximal" in policy) == (False, True)


@pytest.mark.parametrize("name", ["clone", "policy"])
def test_what_another_run_left_is_neither_taken_for_this_ones_nor_replaced(name, tmp_path):
    (tmp_path / name).mkdir()
    (tmp_path / name / "theirs").touch()
    with pytest.raises(UserError, match=re.escape(str(tmp_path / name))):
        train(Config(**RUN), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {name, LOCK}
    assert (tmp_path / name / "theirs").exists()


def test_a_clone_that_self_play_spoils_stays_the_best(tmp_path, monkeypatch):
    falling = iter(np.linspace(1, 0, 20))

    def worse(self, policy):
        rate = next(falling)
        return [LoggedResult("rate", 0, rate, 1)], np.full(100, rate)

    monkeypatch.setattr(KeepUnlessWorse, "evaluated", worse)
    train(Config(**RUN), tmp_path)
    assert weights(tmp_path / "policy") == weights(tmp_path / "clone")
    assert next(falling) < 0.9  # there were more evaluations than the clone's
    card = (tmp_path / "policy" / "README.md").read_text(encoding="utf-8")
    assert "2,048 decisions" in card
    assert "Proximal" not in card


def test_self_play_stays_nearer_to_the_clone_if_that_is_wished(tmp_path):
    clone_in(tmp_path)
    free, held = (distance_from(tmp_path / "clone", kl_coef) for kl_coef in (0, 1))
    assert 0 < held < free / 2


def distance_from(clone, kl_coef):
    """KL(policy || clone) in the last rollout of some self-play that begins with the clone."""
    config = Config(**RUN | {"magnet": {"kind": "start", "kl_coef": kl_coef}})
    learner = new_learner(config, start=clone)
    reference = new_learner(config, start=clone).policy.network
    learner.set_logger(quiet())
    learner.learn(8_000, reset_num_timesteps=False)
    batch = last_rollout(learner)
    with torch.no_grad():
        chances, _ = learner.policy.network(batch.observations, batch.masks)
        log_probs = reference(batch.observations, batch.masks)[0].table(batch.masks).log()
        return float(divergence(chances, log_probs))


# --- Only the value learns at first


FIRST = SETTINGS | {"steps": 20_480, "critic": "all", "clone": {"steps": 20_000}}
ROLLOUT = 32 * 16  # decisions


def improved(start, updates, **changes):
    """A learner after some updates that follow the clone, and what the last one logged."""
    config = Config(**FIRST | changes)
    learner = new_learner(config, start=start)
    logger = Logger(None, [])
    learner.set_logger(logger)
    learner.begin(config.steps)
    for _ in range(updates):
        learner.collect()
        learner.improve()
    return learner, {name: logger.name_to_value[f"train/{name}"] for name in MOVED}


MOVED = ("approx_kl", "clip_fraction")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clone")
    clone_in(folder, **FIRST)
    return folder / "clone"


def changed(learner, clone):
    """The names of the weights that are not the clone's any more."""
    start = new_learner(Config(**FIRST), start=clone).policy.state_dict()
    weights = learner.policy.state_dict()
    return {name for name, tensor in weights.items() if not torch.equal(tensor, start[name])}


def test_after_a_clone_only_values_learn_for_a_while_and_then_the_policy_too(clone):
    updates = 20_480 // 10 // ROLLOUT
    held, moved = improved(clone, updates)
    names = changed(held, clone)
    assert {"network.value.weight", "network.value.bias"} <= names
    assert any(name.startswith("critic.") for name in names)
    assert all(name.startswith(("network.value.", "critic.")) for name in names)
    assert moved["approx_kl"] == moved["clip_fraction"] == 0
    assert "network.trunk.0.weight" in changed(improved(clone, updates + 1)[0], clone)


def test_the_optimizer_knows_the_policys_gradients_before_its_first_step(clone):
    learner, _ = improved(clone, 1)
    steps = learner.policy.optimizer.state
    for name, weight in learner.policy.network.named_parameters():
        assert (steps[weight]["exp_avg_sq"] > 0).any(), name


FEW_GAMES = {"num_games": 8, "ppo": {"n_steps": 4}}


@pytest.mark.parametrize(
    ("settings", "decisions"),
    [
        ({}, 40_000),
        ({"steps": 5_000}, 0),  # as a rollout is longer
        (FEW_GAMES | {"steps": 5_000}, 500),
        (FEW_GAMES | {"clone": {"value_steps": 70}}, 70),
        (FEW_GAMES | {"clone": {"value_steps": 7}}, 32),  # a rollout
        (FEW_GAMES | {"clone": {"value_steps": 7}, "steps": 200}, 0),  # a rollout is too long
        (FEW_GAMES | {"clone": {"value_steps": 0}}, 0),
        ({"init_from": None}, 0),
        ({"init_from": "hanamikoji", "game": "hanamikoji"}, 0),
    ],
)
def test_only_values_learn_for_a_rollout_or_more_but_a_tenth_of_the_run_at_most_after_a_clone(
    settings, decisions
):
    assert Config(**GAME | {"init_from": "greedy"} | settings).value_steps == decisions


# --- Refused


@pytest.mark.parametrize("start", [{}, {"init_from": "runs/a/policy"}])
def test_settings_of_a_clone_without_a_policy_to_clone_are_refused(start):
    with pytest.raises(UserError, match=r"clone .* init_from"):
        Config.from_dict(GAME | start | {"clone": {"steps": 5}})


@pytest.mark.parametrize(
    ("settings", "wrong", "known"),
    [
        ({"init_from": "exprt"}, "'exprt'", "expert?"),
        ({"init_from": "hat"}, "'hat'", "expert, greedy, random"),
        ({"opponents": {"gredy": 1}}, "'gredy'", "greedy?"),
        ({"evaluation": {"final_opponents": ["rendom"]}}, "'rendom'", "random?"),
    ],
)
def test_a_wrong_policy_is_refused_before_a_run_begins(settings, wrong, known, tmp_path):
    with pytest.raises(UserError) as refused:
        train(Config(**GAME | settings), tmp_path / "run")
    assert wrong in str(refused.value)
    assert known in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_a_policy_with_illegal_wishes_cannot_be_cloned(tmp_path, monkeypatch):
    (tmp_path / "theirs.py").write_text(ILLEGAL)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="blind"):
        cloned(Config(**SETTINGS | {"init_from": "theirs:Blind"}))


ILLEGAL = """
import numpy as np
from hanamachi.policies.policy import Policy

class Blind(Policy):
    name = "blind"

    def distribution(self, observation, mask, memory):
        return np.full(mask.shape, 1 / mask.shape[1], np.float32), None, memory
"""


def test_a_policy_of_ones_own_can_be_cloned(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    own = SETTINGS | {"init_from": "mine:first", "clone": {"steps": 5_000}, "num_games": 16}
    assert agreement(cloned(Config(**own))) > 0.9


OWN = """
def first(variant):
    return lambda observation, mask: int(mask.argmax())
"""
