"""A learner of a small game, as several files of tests want one."""

from small_games import GIFTS

from hanamachi.training.build import new_learner, quiet
from hanamachi.training.config import Config

SETTINGS = {
    "game": "hanamikoji",
    "options": GIFTS,
    "num_games": 32,
    "network": {"hidden": [32]},
    "ppo": {"batch_size": 128, "n_epochs": 2},
    "device": "cpu",
}


def learned(decisions=2_048, **settings):
    """It has learned from so many decisions; `settings` come before those above."""
    learner = new_learner(Config(**SETTINGS | settings))
    learner.set_logger(quiet())
    learner.learn(decisions, reset_num_timesteps=False)
    return learner


def last_rollout(learner):
    """All decisions of the last rollout as one minibatch."""
    buffer = learner.rollout_buffer
    return buffer.select(buffer.shuffled(learner.generator))
