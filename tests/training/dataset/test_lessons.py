"""A network learns from a dataset what its policy did; then self-play continues from there."""

import numpy as np
import pytest
from learners import SETTINGS
from small_datasets import SMALL, made

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.training.build import cloning_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.dataset import load, make, read
from hanamachi.training.dataset.lessons import discounted, features_of, lessons
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.run import check_policies, train

pytestmark = pytest.mark.usefixtures("on_one_thread")

RUN = {
    "clone": {"steps": 2_000},
    "steps": 1_000,
    "evaluation": {"games": 20, "opponents": ["random"], "final_games": 20,
                   "final_opponents": ["random"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A folder with 400 games of `greedy`."""
    return made(tmp_path_factory.mktemp("games"), games=400, policies=["greedy"])


def cloned(**settings):
    """The learner that has just cloned what `settings` say."""
    config = Config(**SETTINGS | settings)
    learner = cloning_learner(config)
    learner.set_logger(quiet())
    learner.learn(config.clone.steps, reset_num_timesteps=False)
    return learner


def agreement(learner, dataset):
    """Share of the decisions in which the likeliest action is one that the labels hold likely."""
    chosen = dataset.decisions
    policy = CompiledPolicy(checkpoint_of(learner.policy.network, dataset.variant))
    chances, values, _ = policy.distribution(
        chosen.observations, chosen.mask, policy.initial_memory(len(chosen))
    )
    likely = chosen.probabilities[np.arange(len(chosen)), chances.argmax(1)] > 0
    return likely.mean(), np.corrcoef(values, chosen.returns)[0, 1]


# --- What is learned


def test_nothing_can_be_learned_from_forced_moves_alone(tmp_path):
    one_card = {"cards": [6], "actions": ["secret"], "max_rounds": 1}
    make("hanamikoji", ["random"], 2, tmp_path, **one_card)
    with pytest.raises(UserError, match="forced moves"):
        lessons(load(tmp_path), Features(variant("hanamikoji", **one_card), ()), gamma=1.0)


def test_a_clone_plays_as_the_games_show_and_knows_their_returns(games, tmp_path):
    others = load(made(tmp_path, games=100, policies=["greedy"], seed=1))
    start = f"dataset:{games}"
    before, _ = agreement(cloning_learner(Config(**SETTINGS, init_from=start)), others)
    after, known = agreement(cloned(init_from=start, clone={"steps": 7_000}), others)
    assert before < 0.5
    assert after > 0.75
    assert known > 0.3


def test_a_clone_is_the_same_each_time(games):
    once, again = (cloned(init_from=f"dataset:{games}", clone={"steps": 2_000}) for _ in range(2))
    for a, b in zip(once.policy.weights(), again.policy.weights(), strict=True):
        assert (a == b).all()


def test_each_pass_has_every_decision_once(games):
    learner = cloning_learner(Config(**SETTINGS, init_from=f"dataset:{games}"))
    size = len(learner.lessons.returns)
    passes = learner.next_rows(2 * size).reshape(2, size)
    assert (np.sort(passes) == np.arange(size)).all()
    assert (passes[0] != passes[1]).any()


@pytest.mark.parametrize("game", SMALL)
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_returns_are_discounted_as_in_self_play(game, gamma, tmp_path):
    dataset = load(made(tmp_path, game)).decisions
    expected, rows = np.zeros(len(dataset)), len(dataset)
    for i in range(rows - 1, -1, -1):
        ends = i + 1 == rows or dataset.game[i + 1] != dataset.game[i]
        foe = (
            not dataset.variant.game.cooperative and dataset.seat[(i + 1) % rows] != dataset.seat[i]
        )
        sign = 0 if ends else -1 if foe else 1
        reward = dataset.returns[i] - sign * dataset.returns[(i + 1) % rows]
        expected[i] = reward + gamma * sign * expected[(i + 1) % rows]
    assert discounted(dataset, gamma) == pytest.approx(expected, abs=1e-4)
    if gamma == 1:
        assert expected == pytest.approx(dataset.returns, abs=1e-4)


def test_features_remember_what_each_seat_has_seen(tmp_path):
    dataset = load(made(tmp_path, "hanabi:2p", games=3))
    features = Features(dataset.variant, ["belief"])
    found = features_of(dataset, features)
    for game in range(3):
        for seat in range(2):
            memory = features.initial_memory(1)
            for i in np.flatnonzero((dataset.game == game) & (dataset.seat == seat)):
                row = dataset.part(np.array([i]))
                seen, memory = features.extend(row.observations, row.mask, memory)
                assert (found[i] == seen[0, dataset.variant.observation.size :]).all()


def test_forced_moves_are_no_lessons(games):
    dataset = load(games)
    found = lessons(dataset, Features(dataset.variant, []), 1.0)
    assert (found.masks.sum(1) > 1).all()
    assert len(found.returns) == len(dataset.decisions) < len(dataset)


# --- In a run


def test_a_run_begins_with_a_clone_of_the_games(games, tmp_path):
    config = Config(**SETTINGS | RUN | {"init_from": f"dataset:{games}"})
    policy = train(config, tmp_path / "run", show=False)
    assert (tmp_path / "run" / "clone" / "model.safetensors").exists()
    assert f"dataset:{games}" in (policy / "README.md").read_text()
    (row, _) = results_of(
        tmp_path / "run" / "clone", ["random"], config.game, 200, **config.options
    )
    assert row.rate > 0.5


def test_a_dataset_ships_to_learn_from(tmp_path):
    config = Config(
        game="geishas_road:standard", init_from="dataset:geishas_road:standard",
        num_games=8, network={"hidden": [8]}, ppo={"batch_size": 64}, device="cpu",
    )  # fmt: skip
    assert len(cloning_learner(config).lessons.returns) > 1_000


@pytest.mark.parametrize(
    ("start", "words"),
    [("dataset:runs/nowhere", "runs/nowhere"), ("dataset:hanabi:2p", "hanabi:2p")],
)
def test_games_that_cannot_be_learned_from_are_refused_before_a_run_begins(start, words, tmp_path):
    with pytest.raises(UserError, match=words):
        train(Config(**SETTINGS | {"init_from": start}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_games_under_other_options_are_refused_with_the_options(games, tmp_path):
    with pytest.raises(UserError, match=r"hanamikoji .*cards=\[2,3,4\].* which hanamikoji cannot"):
        train(Config(game="hanamikoji", init_from=f"dataset:{games}"), tmp_path / "run")


def test_a_dataset_is_checked_without_its_rows(games, monkeypatch):
    monkeypatch.setattr(read, "read_files", None)
    check_policies(Config(**SETTINGS, init_from=f"dataset:{games}"))
