"""In Other-Play, each seat sees a game under a symmetry of its own."""

import numpy as np
import pytest
from learners import learned

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.features.base import Features
from hanamachi.policies.policy import Policy
from hanamachi.training.build import cloning_learner, make_games
from hanamachi.training.config import Config
from hanamachi.training.learner.other_play import OtherPlayVecEnv
from hanamachi.training.learner.vecenv import SelfPlayVecEnv
from hanamachi.training.modelcard import model_card

HANABI = {
    "game": "hanabi:3p",
    "options": {"colours": 3, "ranks": 3, "hand_size": 3, "max_clues": 4},
    "augmentation": "other_play",
}
GAMES = 16


@pytest.fixture
def pair():
    """Games as each seat sees them, and the same games as they are."""
    small = variant(HANABI["game"], **HANABI["options"])
    seen, true = OtherPlayVecEnv(small, GAMES, 3), SelfPlayVecEnv(small, GAMES, 3)
    seen.reset()
    true.reset()
    return seen, true


def under(table, numbers, rows):
    """Rows under the symmetries of these numbers."""
    return np.take_along_axis(rows, table[numbers], axis=1)


def test_each_seat_sees_its_games_under_its_symmetry_and_acts_in_them(pair):
    seen, true = pair
    entries, actions = seen.symmetries
    rng, ended = np.random.default_rng(0), 0
    for _ in range(200):
        numbers = seen.drawn[np.arange(GAMES), true.movers]
        assert (seen.observations == under(entries, numbers, true.observations)).all()
        assert (seen.masks == under(actions, numbers, true.masks)).all()
        chosen = np.array([rng.choice(np.flatnonzero(mask)) for mask in seen.masks])
        seen.advance(chosen)
        true.advance(actions[numbers, chosen])
        for name in ("rewards", "terminated", "signs"):
            assert (getattr(seen, name) == getattr(true, name)).all()
        over = true.terminated
        assert (seen.last[over] == under(entries, numbers[over], true.last[over])).all()
        ended += over.sum()
    assert ended > GAMES


def test_the_seats_of_a_game_see_different_colours_and_new_games_others(pair):
    seen, _ = pair
    assert (seen.drawn[:, 0] != seen.drawn[:, 1]).any()
    before = seen.drawn.copy()
    while not seen.terminated.any():
        seen.advance(seen.masks.argmax(1))
    begun = seen.terminated
    assert (seen.drawn[~begun] == before[~begun]).all()
    assert (seen.drawn[begun] != before[begun]).any()


def test_a_centralised_critic_sees_all_hands_under_the_movers_symmetry(pair):
    seen, true = pair
    layout, others = seen.variant.observation, seen.variant.seats - 1
    for row, hands in enumerate(true.centralised_observations()):
        whole = np.zeros((others, layout.size), np.float32)
        whole[:, layout.private_entries] = hands.reshape(others, -1)
        number = seen.drawn[row, seen.movers[row]]
        relabelled = whole[:, seen.symmetries.entries[number]][:, layout.private_entries]
        assert (seen.centralised_observations()[row] == relabelled.ravel()).all()


def test_a_saved_batch_goes_on_as_if_nothing_had_been_between(pair):
    seen, _ = pair
    seen.advance(seen.masks.argmax(1))
    other = OtherPlayVecEnv(seen.variant, GAMES, 4)
    other.set_state(seen.get_state())
    for _ in range(100):
        assert (other.observations == seen.observations).all()
        assert (other.masks == seen.masks).all()
        for games in (seen, other):
            games.advance(games.masks.argmax(1))


def test_a_policy_learns_in_such_games_but_clones_as_they_are():
    learner = learned(512, **HANABI, network={"hidden": [32], "features": ["convention"]})
    assert isinstance(learner.env.plain, OtherPlayVecEnv)
    check_features(learner.env)
    teaching = cloning_learner(Config(**HANABI, init_from="expert"))
    assert not isinstance(teaching.env, OtherPlayVecEnv)


def check_features(env):
    """They follow from what each seat has seen of its own colours."""
    features = Features(env.variant, ("convention",))
    env.reset()
    memory = features.initial_memory(env.num_envs * env.variant.seats)
    memory = memory.reshape(env.num_envs, env.variant.seats, -1)
    for _ in range(40):
        place = np.arange(env.num_envs), env.movers
        expected, memory[place] = features.extend(env.seen, env.masks, memory[place])
        np.testing.assert_array_equal(env.observations, expected)
        env.advance(env.masks.argmax(1))
        memory[env.terminated] = features.initial_memory(1)


def test_a_fixed_opponent_sees_the_games_as_they_are(pair):
    true, opponents = pair[1], [(Counting(pair[1].variant), 0.5)]
    seen = OtherPlayVecEnv(true.variant, GAMES, 3, opponents)
    same = SelfPlayVecEnv(true.variant, GAMES, 3, opponents)
    for games in (seen, same):
        games.reset()
    entries, actions = seen.symmetries
    for _ in range(100):
        numbers = seen.current
        assert (seen.games == same.games).all()
        assert (seen.observations == under(entries, numbers, same.observations)).all()
        chosen = seen.masks.argmax(1)
        seen.advance(chosen)
        same.advance(actions[numbers, chosen])
        assert (seen.terminated == same.terminated).all()


class Counting(Policy):
    """Plays the legal action whose number is the sum of what it sees, in turn."""

    name = "counting"

    def distribution(self, observation, mask, memory):
        places = (observation @ np.arange(observation.shape[1])).astype(int) % mask.sum(1)
        chances = np.zeros(mask.shape, np.float32)
        for row, place in enumerate(places):
            chances[row, np.flatnonzero(mask[row])[place]] = 1
        return chances, None, memory


def test_without_other_play_games_are_as_they_are():
    config = Config(game="hanabi:2p", num_games=2)
    assert not isinstance(make_games(config), OtherPlayVecEnv)


def test_it_is_refused_in_a_competitive_game():
    with pytest.raises(UserError, match="cooperative"):
        Config.from_dict({"game": "hanamikoji", "augmentation": "other_play"})


def test_hat_guessers_who_must_count_alike_are_refused():
    with pytest.raises(UserError, match=r"network.features"):
        Config.from_dict(HANABI | {"network": {"features": ["hat"]}})


def test_the_model_card_says_so():
    assert "Other-Play" in model_card(Config(**HANABI), {}, 512, [])
