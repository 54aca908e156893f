"""A policy learns what a search over itself finds better."""

import numpy as np
import pytest
import torch
from learners import SETTINGS, last_rollout
from root import ROOT
from saved_runs import all_that_is_saved, assert_same

from hanamachi.errors import UserError
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.training.build import new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.learner.distillation import Distillation, Searching
from hanamachi.training.modelcard import model_card
from hanamachi.training.run import train

pytestmark = pytest.mark.usefixtures("on_one_thread")

SEARCHING = SETTINGS | {
    "distillation": {"share": 0.5, "worlds": 2, "tried": 3},
    "ppo": {"batch_size": 128, "n_epochs": 4, "ent_coef": 0},
}
RUN = SEARCHING | {
    "steps": 512,  # in rollouts of 128
    "ppo": {"n_steps": 4, "batch_size": 64, "n_epochs": 2},
    "save_every": 128,
    "evaluation": {
        "every": 256,
        "games": 20,
        "opponents": ["random"],
        "final_games": 20,
        "final_opponents": ["random"],
    },
}


def searching(**changes):
    """A learner that has searched in one rollout, and learned nothing yet."""
    settings = SEARCHING | {"distillation": SEARCHING["distillation"] | changes}
    learner = new_learner(Config(**settings))
    learner.set_logger(quiet())
    learner.begin(10_000)
    learner.collect()
    return learner


# --- Gains


def looked_ahead(learner):
    """Of the last rollout: the policy's chances, (T, B, A), the actions tried and their gains."""
    kept = learner.rollout_buffer
    seen = kept.observations.flatten(0, 1), kept.masks.flatten(0, 1)
    with torch.no_grad():
        chances = learner.policy.network(*seen)[0].table(seen[1]).unflatten(0, kept.gains.shape[:2])
    return chances, kept.tried, kept.gains


def test_the_likeliest_actions_are_tried():
    chances, tried, gains = looked_ahead(searching())
    likeliest = chances.sort(-1, descending=True).values[..., :3]
    searched = (gains != 0).all(-1)
    assert searched.any()
    np.testing.assert_allclose(chances.gather(-1, tried)[searched], likeliest[searched], atol=1e-6)


def test_gains_are_measured_from_the_policys_own_mix_of_the_actions_tried():
    chances, tried, gains = looked_ahead(searching())
    assert (gains != 0).any()
    np.testing.assert_allclose((chances.gather(-1, tried) * gains).sum(-1), 0, atol=1e-5)


def test_a_share_of_the_games_is_searched_at_each_decision():
    decided = (searching(share=0.25).rollout_buffer.gains != 0).any(-1).sum(-1)  # of 32 games
    assert (decided <= 8).all()  # where all actions earn the same, no gain shows
    assert decided.float().mean() > 2


def test_the_mean_gain_does_not_depend_on_the_share():
    little, much = (searching(share=share, worlds=8) for share in (0.25, 1))
    sizes = [float(learner.rollout_buffer.gains.abs().sum(-1).mean()) for learner in (little, much)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.3)


def test_in_many_worlds_gains_are_those_of_a_longer_search():
    learner = searching()
    learner.searching = Searching(share=0.125, worlds=256, tried=3)
    env, search = learner.env, learner.search
    tried, gains = learner.look_ahead(env)
    for decision in learner.decisions_to_search(env, np.flatnonzero(gains.any(1))):
        actions = tried[decision.row, : len(decision.actions)]
        earned = search.results(decision, actions, 1_000).mean(0)
        mean = np.average(earned, weights=decision.prior[actions])
        found = gains[decision.row, : len(actions)]
        np.testing.assert_allclose(found * learner.searching.share, earned - mean, atol=0.15)


def test_more_worlds_give_less_noise():
    few, many = (spread(searching(share=1, worlds=worlds)) for worlds in (1, 16))
    assert many < few / 2


def spread(learner):
    """The standard deviation of an action's gain between searches of the same decisions."""
    return np.std([learner.look_ahead(learner.env)[1] for _ in range(8)], axis=0).mean()


# --- Learning


def test_a_policy_that_learns_from_search_beats_the_one_that_it_was():
    learner = new_learner(Config(**SEARCHING))
    learner.set_logger(quiet())
    before = played(learner)
    learner.learn(4_096, reset_num_timesteps=False)
    game, options = SEARCHING["game"], SEARCHING["options"]
    (row,) = results_of(played(learner), [before], game, 2_000, plays=["sample"], **options)
    assert row.low > 0.55


def played(learner):
    return CompiledPolicy(checkpoint_of(learner.policy.network, learner.env.variant))


def test_the_loss_is_the_mean_gain_of_the_policys_own_mix():
    learner = searching()
    batch, network = last_rollout(learner), learner.policy.network
    chances, _ = network(batch.observations, batch.masks)
    batch = batch._replace(gains=torch.rand(batch.gains.shape))
    loss, _ = learner.policy_loss(chances, torch.zeros(0), batch, {})
    with torch.no_grad():
        table = network(batch.observations, batch.masks)[0].table(batch.masks)
    by_hand = -(table.gather(1, batch.tried) * batch.gains).sum(1).mean()
    assert float(loss.detach()) == pytest.approx(float(by_hand), rel=1e-4)


def test_a_larger_coefficient_allows_smaller_steps():
    free, held = (moved(kl_coef) for kl_coef in (0.02, 10))
    assert 0 < held < free / 2


def moved(kl_coef):
    """KL(policy || policy searched) after the updates on one rollout."""
    distillation = SEARCHING["distillation"] | {"kl_coef": kl_coef}
    learner = new_learner(Config(**SEARCHING | {"distillation": distillation}))
    learner.set_logger(quiet())
    learner.begin(10_000)
    learner.collect()
    learner.improve()
    learner.improve()
    return learner.logger.name_to_value["train/kl_to_magnet"]


# --- The run


def test_the_recipe_of_ours_learns(tmp_path):
    shipped = Config.load(ROOT / "configs" / "hanamikoji-distillation.yaml", ["num_games=4"])
    learner = new_learner(shipped, start="hanamikoji")
    learner.set_logger(quiet())
    learner.learn(64, reset_num_timesteps=False)
    assert learner.logger.name_to_value["train/search_gain"] != 0


def test_a_run_stopped_between_rollouts_ends_with_the_same_weights(tmp_path, monkeypatch):
    train(Config(**RUN), tmp_path / "whole")
    calls = iter(range(2))

    def stopped(self, *arguments):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return play(self, *arguments)

    play = Distillation.play
    with monkeypatch.context() as patch:
        patch.setattr(Distillation, "play", stopped)
        with pytest.raises(KeyboardInterrupt):
            train(Config(**RUN), tmp_path / "stopped")
    train(Config(**RUN), tmp_path / "stopped", resume=True)
    whole, resumed = (all_that_is_saved(tmp_path / name) for name in ("whole", "stopped"))
    assert_same(whole, resumed)


def test_a_run_starts_from_the_weights_of_a_checkpoint(tmp_path):
    start = new_learner(Config(**SEARCHING | {"seed": 5}))
    checkpoint = checkpoint_of(start.policy.network, start.env.variant)
    save_checkpoint(tmp_path / "start", checkpoint, "")
    begun = new_learner(Config(**SEARCHING), start=tmp_path / "start")
    for one, other in zip(start.policy.parameters(), begun.policy.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_model_card_says_that_search_taught_the_policy():
    card = " ".join(model_card(Config(**RUN), {}, 512, []).split())
    assert "Distillation" in card
    assert "Proximal" not in card


# --- Refused


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"magnet": {"kl_coef": 0.1}}, "magnet"),
        ({"opponents": {"self": 0.5, "greedy": 0.5}}, "opponents"),
        ({"ppo": {"gamma": 0.9}}, "ppo.gamma"),
        ({"distillation": {"worlds": 4}}, "distillation.share"),
        ({"game": "hanabi:2p", "options": {}}, "hanabi:2p"),
        ({"distillation": {"share": 2}}, "distillation.share"),
        ({"distillation": {"share": 0.001}}, "distillation.share"),  # of so few games: none
        ({"distillation": {"share": 0.5, "worlds": 0}}, "distillation.worlds"),
        ({"distillation": {"share": 0.5, "tried": 1}}, "distillation.tried"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, named):
    with pytest.raises(UserError) as refused:
        Config.from_dict(SEARCHING | settings)
    assert named in str(refused.value)


def test_workers_of_a_cluster_cannot_search(tmp_path):
    with pytest.raises(UserError, match="--ray"):
        train(Config(**RUN), tmp_path / "run", workers=2)
    assert not (tmp_path / "run").exists()
