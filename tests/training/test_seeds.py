"""Nothing is learned from a deal that evaluates, nor chosen by it, whatever the seeds are."""

import numpy as np
import pytest

from hanamachi.engine import kernels
from hanamachi.games.registry import variant as make_variant
from hanamachi.training.build import cloning_learner, new_learner
from hanamachi.training.config import Config
from hanamachi.training.evaluation.playing import new_games
from hanamachi.training.seeds import Purpose, stream

GAMES = 512
RUNS = (0, 1, 2, 3, 7, 2**31, 2**32 - 1)
EVALUATIONS = sorted({0, *RUNS, *(seed // 2 for seed in RUNS), *(2 * seed + 2 for seed in RUNS)})


def learned(games, rollouts=40):
    """The deals of a batch, as records with their generators: the first and some that follow."""
    records = {game.tobytes() for game in games.games}
    for _ in range(rollouts):
        games.advance(games.masks.argmax(1))
        records |= {game.tobytes() for game in games.games[games.terminated]}
    return records


def evaluated(variant, seed):
    """The deals of an evaluation."""
    games, _ = new_games(variant, np.arange(GAMES, dtype=np.uint64), seed)
    kernels.reset(variant.rule_set, games)
    return {game.tobytes() for game in games}


@pytest.fixture(scope="module", params=["hanamikoji", "hanabi:2p"])
def game(request):
    return request.param


@pytest.fixture(scope="module")
def deals(game):
    """All deals of several runs by their purpose and seed, and those of evaluations."""
    variant, found = make_variant(game), {}
    for seed in RUNS:
        config = Config(game=game, seed=seed, num_games=GAMES, init_from="greedy")
        found["learned", seed] = learned(new_learner(config).env)
        found["cloned", seed] = learned(cloning_learner(config).env)
        found["choosing", seed] = evaluated(variant, config.choosing_seed)
    for seed in EVALUATIONS:
        found["evaluated", seed] = evaluated(variant, seed)
    return found


def test_no_two_purposes_share_a_deal_whatever_the_seeds(deals):
    together = set().union(*deals.values())
    assert len(together) == sum(map(len, deals.values())) > GAMES * len(deals)


def test_a_seed_gives_the_same_deals_again(game, deals):
    again = new_learner(Config(game=game, seed=RUNS[0], num_games=GAMES)).env
    assert learned(again) == deals["learned", RUNS[0]]
    assert evaluated(make_variant(game), 0) == deals["evaluated", 0]


def test_the_command_evaluate_repeats_the_final_evaluation():
    assert [Config(game="hanamikoji", seed=seed).final_seed for seed in (0, 5)] == [2, 12]


def test_every_purpose_and_seed_has_a_stream_of_its_own():
    streams = {stream(purpose, seed) for purpose in Purpose for seed in RUNS}
    assert len(streams) == len(Purpose) * len(RUNS)
