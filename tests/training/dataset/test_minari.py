"""Episodes are what the Gymnasium environment shows to each seat."""

import sys

import gymnasium
import numpy as np
import pytest
from small_datasets import SMALL, made

from hanamachi.adapters.registration import gymnasium_id
from hanamachi.engine.random_numbers import scatter
from hanamachi.errors import UserError
from hanamachi.training.dataset import load, to_minari
from hanamachi.training.dataset.minari import episodes
from hanamachi.training.dataset.recipe import OTHER_DEALS

SEEDS = 2**64
ROUNDED = 0.501  # units, at most


@pytest.mark.parametrize("game", SMALL)
def test_an_episode_is_what_the_environment_shows(game, tmp_path):
    dataset = load(made(tmp_path, game, games=4))
    units, found = dataset.variant.observation.units, list(episodes(dataset))
    assert len(found) == 4 * 2
    for number, episode in enumerate(found):
        deal, seat = divmod(number, 2)
        theirs = iter(dataset.action[(dataset.game == deal) & (dataset.seat != seat)].tolist())
        env = gymnasium.make(
            gymnasium_id(game), seat=seat, opponent=replaying(theirs), **SMALL[game]
        )
        seen, info = env.reset(seed=seed_of(deal))
        over, end = False, len(episode.actions) - 1
        for i, action in enumerate(episode.actions):
            assert not over
            assert np.abs((seen - episode.observations[i]) * units).max() < ROUNDED
            assert (info["action_mask"] == episode.masks[i]).all()
            seen, reward, over, _, info = env.step(action)
            assert (reward, over) == (episode.rewards[i], i == end)
            assert episode.terminations[i] == over
        assert over
        assert (seen == episode.observations[-1]).all()


def replaying(actions):
    return lambda observation, mask: next(actions)


def seed_of(deal):
    """The seed with which an environment deals a game of a dataset."""
    (dealing,) = scatter(np.array([2 * OTHER_DEALS % SEEDS], np.uint64))
    return (int(dealing) + deal) % SEEDS


def test_games_that_do_not_follow_from_their_seed_are_refused(tmp_path):
    folder = made(tmp_path)
    about = folder / "dataset.json"
    about.write_text(about.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(UserError, match="seed"):
        list(episodes(load(folder)))


def test_without_minari_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(UserError, match="pip install"):
        to_minari("hanamikoji", "hanamikoji/expert-v0")
