"""A run keeps the last checkpoint that is not worse beyond noise, on the same deals."""

import shutil

import numpy as np
import pytest
from small_games import GIFTS

from hanamachi.errors import UserError
from hanamachi.policies import load_policy
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.training.build import new_learner, quiet
from hanamachi.training.callbacks import KeepUnlessWorse
from hanamachi.training.config import Config
from hanamachi.training.curve import AGAINST, LoggedResult
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.evaluation.statistics import is_better
from hanamachi.training.ownership import owned

DEALS = 1000
SETTINGS = {
    "game": "hanamikoji",
    "options": GIFTS,
    "device": "cpu",
    "num_games": 4,
    "network": {"hidden": [16]},
    "evaluation": {"games": 40, "opponents": ["greedy", "random"]},
}
TOGETHER = {
    "game": "hanabi:2p",
    "options": {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3},
    "evaluation": {"games": 40},
}


@pytest.fixture
def keep(tmp_path):
    """Makes what evaluates the policy of a new learner."""

    def made(**settings):
        config = Config(**SETTINGS | settings)
        learner = new_learner(config)
        learner.set_logger(quiet())
        learner.begin(config.steps)
        return KeepUnlessWorse(learner, config, tmp_path)

    with owned(tmp_path):
        yield made


def kept(keeper, evaluations, monkeypatch):
    """Which of these evaluations, (n, D), chose a checkpoint."""
    chosen = set()
    for number, scores in enumerate(evaluations, 1):
        found = [LoggedResult("score", 0, scores.mean(), 1)], scores
        monkeypatch.setattr(keeper, "evaluated", lambda policy, found=found: found)
        keeper.learner.num_timesteps = number
        keeper.act()
        chosen.add(keeper.learner.run_state.kept_decisions)
    return chosen


def test_an_opponent_stays_as_it_was_when_the_run_began(keep, tmp_path):
    weak = checkpoint_of(keep().learner.policy.network, Config(**SETTINGS).variant())
    opponent = tmp_path / "opponent"
    save_checkpoint(opponent, weak, "a card")
    keeper = keep(evaluation={"games": 40, "opponents": [str(opponent)]})
    before, _ = keeper.evaluated(CompiledPolicy(weak))
    shutil.rmtree(opponent)
    assert keeper.evaluated(CompiledPolicy(weak))[0] == before
    assert [result.name for result in before] == [f"{AGAINST}{opponent}"]


def test_of_equally_good_checkpoints_the_last_is_kept_though_an_earlier_one_was_luckier(
    keep, monkeypatch
):
    rng = np.random.default_rng(41)
    luck, noise = rng.normal(size=DEALS), rng.normal(size=(20, DEALS))
    assert is_better(noise[:-1][noise[:-1].mean(1).argmax()], than=noise[-1])  # if it were alone
    assert max(kept(keep(), luck + noise, monkeypatch)) == 20


def test_a_slow_decline_is_noticed(keep, monkeypatch):
    rng = np.random.default_rng(3)
    evaluations = -0.01 * np.arange(20)[:, None] + 0.3 * rng.normal(size=(20, DEALS))
    assert max(kept(keep(), evaluations, monkeypatch)) < 9


def test_a_better_checkpoint_replaces_the_one_before_and_a_worse_one_does_not(keep, monkeypatch):
    rng = np.random.default_rng(1)
    strengths = np.array([0, 0.5, 0.2, 1, 0.8, 1.5])[:, None]
    keeper = keep()
    evaluations = strengths + rng.normal(size=(6, DEALS))
    assert kept(keeper, evaluations, monkeypatch) == {1, 2, 4, 6}
    assert keeper.learner.run_state.kept_result == evaluations[-1].mean()
    assert (keeper.out / "policy" / "README.md").exists()


def test_a_small_loss_that_shows_on_every_deal_is_enough(keep, monkeypatch):
    luck = np.random.default_rng(2).normal(size=DEALS)
    assert kept(keep(), [luck, luck - 0.01, luck], monkeypatch) == {1, 3}


@pytest.mark.parametrize("settings", [{}, TOGETHER])
def test_all_evaluations_of_a_run_have_the_same_deals(keep, settings):
    keeper = keep(**settings)
    policy = load_policy("greedy", keeper.config.game, **keeper.config.options)
    results, scores = keeper.evaluated(policy)
    again, same_scores = keeper.evaluated(policy)
    assert results == again
    assert (scores == same_scores).all()
    assert scores.std() > 0


def test_the_results_are_those_of_the_deals(keep):
    keeper = keep()
    policy, config = load_policy("expert", "hanamikoji", **SETTINGS["options"]), keeper.config
    results, scores = keeper.evaluated(policy)
    how = {"games": 40, "seed": config.choosing_seed, "plays": ["sample"], **config.options}
    rows = results_of(policy, ["greedy", "random"], config.game, **how)
    assert [result.middle for result in results] == [row.rate for row in rows]
    assert (len(scores), scores.mean()) == (20, pytest.approx(np.mean([r.rate for r in rows])))


def test_the_results_of_a_team_are_its_scores(keep):
    keeper = keep(**TOGETHER)
    config = keeper.config
    policy = load_policy("expert", config.game, **config.options)
    results, scores = keeper.evaluated(policy)
    how = {"games": 40, "seed": config.choosing_seed, "plays": ["argmax"], **config.options}
    (team,) = results_of(policy, [], config.game, **how)
    assert [(result.low, result.middle, result.high) for result in results] == [
        (team.low, team.mean, team.high)
    ]
    assert (len(scores), scores.mean()) == (40, pytest.approx(team.mean))


def test_in_a_cooperative_game_partners_count_as_much_as_the_policy_itself(keep):
    keeper = keep(**TOGETHER | {"evaluation": {"games": 40, "partners": ["greedy", "random"]}})
    config = keeper.config
    policy = load_policy("expert", config.game, **config.options)
    results, scores = keeper.evaluated(policy)
    assert [result.name for result in results] == [
        "score",
        "score_with_greedy",
        "score_with_random",
    ]
    how = {"games": 40, "seed": config.choosing_seed, "plays": ["argmax"], **config.options}
    teams = results_of(policy, ["greedy", "random"], config.game, **how)
    played = [team.mean for team in teams if team.policy == "expert"]
    assert [result.middle for result in results] == pytest.approx(played)
    assert scores.mean() == pytest.approx(np.mean(played))


def test_partners_are_for_cooperative_games():
    with pytest.raises(UserError, match=r"evaluation\.opponents"):
        Config.from_dict({"game": "hanamikoji", "evaluation": {"partners": ["greedy"]}})
