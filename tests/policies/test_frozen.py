"""Yardsticks stay as they were measured, and features as saved policies have learned to read them.

Who means to change one gives it a new name, or measures anew all that was measured with it.
"""

from hashlib import sha256

import numpy as np
import pytest

from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.training.learner.clone import Teacher
from hanamachi.training.learner.vecenv import FeaturedVecEnv, SelfPlayVecEnv

GAMES, DECISIONS = 32, 80
ASTRAY = 4  # every so often the first legal action is played, whatever it is

POLICIES = {
    ("hanamikoji", "greedy"): "118498834758",
    ("hanamikoji", "expert"): "85279a2cf0e5",
    ("hanamikoji:three_rounds", "greedy"): "dc574214c935",
    ("hanamikoji:three_rounds", "expert"): "fcfc129f8d7e",
    ("hanamikoji:eight_suits", "greedy"): "118498834758",
    ("hanamikoji:eight_suits", "expert"): "85279a2cf0e5",
    ("geishas_road:2021", "greedy"): "5803cf02d40e",
    ("geishas_road:2021", "expert"): "6f530d197ddd",
    ("geishas_road:introductory", "greedy"): "5585d484514e",
    ("geishas_road:introductory", "expert"): "b09be2ee1b32",
    ("geishas_road:standard", "greedy"): "a62363819b96",
    ("geishas_road:standard", "expert"): "844fc9cbf607",
    ("geishas_road:advanced", "greedy"): "ca818b51c8ad",
    ("geishas_road:advanced", "expert"): "1b257bd27e7e",
    ("hanabi:2p", "greedy"): "7249169b261d",
    ("hanabi:2p", "expert"): "4c5b209bb23e",
    ("hanabi:3p", "greedy"): "20c91c5ed110",
    ("hanabi:3p", "expert"): "9a78f90d3eb4",
    ("hanabi:3p", "hat"): "4c2de08b633d",
    ("hanabi:4p", "greedy"): "51a1e27ecb3b",
    ("hanabi:4p", "expert"): "e3b2a426a8ce",
    ("hanabi:4p", "hat"): "f3c166679c5f",
    ("hanabi:5p", "greedy"): "c0c4eedd3d27",
    ("hanabi:5p", "expert"): "1af39f48d623",
    ("hanabi:5p", "hat"): "af8ec6e7439f",
    ("hanabi:2p:multicolour", "greedy"): "08dd25bfab04",
    ("hanabi:2p:multicolour", "expert"): "5c914a920c3f",
    ("hanabi:3p:multicolour", "greedy"): "7a5240b457fa",
    ("hanabi:3p:multicolour", "expert"): "1d277f7837ab",
    ("hanabi:3p:multicolour", "hat"): "13fb5e10c922",
    ("hanabi:4p:multicolour", "greedy"): "10020740846f",
    ("hanabi:4p:multicolour", "expert"): "0e1266f67768",
    ("hanabi:4p:multicolour", "hat"): "953e4510d8f6",
    ("hanabi:5p:multicolour", "greedy"): "37a900999aa2",
    ("hanabi:5p:multicolour", "expert"): "b4ca042de584",
    ("hanabi:5p:multicolour", "hat"): "d9b2ad1a5018",
}
FEATURES = {
    ("hanabi:2p", "belief"): "247eeea54077",
    ("hanabi:2p", "convention"): "1c3f3d9aee34",
    ("hanabi:5p:multicolour", "belief"): "9184bdf28bdc",
    ("hanabi:5p:multicolour", "convention"): "78e247911d10",
    ("hanabi:3p", "hat"): "d0eef1461285",
    ("hanabi:5p:multicolour", "hat"): "ccf2f3d844f4",
}


def batch(variant):
    """Games of the first seeds, whatever seeds a batch gives its games."""
    games = SelfPlayVecEnv(variant, GAMES)
    games.games["rng"] = variant.new(np.arange(GAMES, dtype=np.uint64))["rng"]
    return games


def decisions(games, policy):
    """What a policy would do at each decision of games that go astray, (B, A)."""
    teacher = Teacher(policy, games)
    games.restart()
    for t in range(DECISIONS):
        chances = teacher.labels(games)
        yield chances
        games.advance(games.masks.argmax(1) if t % ASTRAY == 0 else chances.argmax(1))


@pytest.mark.parametrize(("game", "name"), POLICIES)
def test_a_rule_policy_plays_as_it_was_measured(game, name):
    digest = sha256()
    for chances in decisions(batch(make_variant(game)), load_policy(name, game)):
        digest.update((chances > 0).tobytes())
    assert digest.hexdigest()[:12] == POLICIES[game, name]


@pytest.mark.parametrize(("game", "name"), FEATURES)
def test_features_say_what_saved_policies_have_learned_from(game, name):
    variant, digest = make_variant(game), sha256()
    games = FeaturedVecEnv(batch(variant), Features(variant, [name]))
    for _ in decisions(games, load_policy("greedy", game)):
        features = games.observations[:, variant.observation.size :]
        digest.update(np.round(features * 1000).astype(np.int32).tobytes())
    assert digest.hexdigest()[:12] == FEATURES[game, name]
