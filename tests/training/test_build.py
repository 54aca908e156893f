"""What a run cannot do is refused before anything is written, and workers change no shares."""

import os

import pytest

from hanamachi.engine import memory
from hanamachi.errors import UserError
from hanamachi.limits import WORKERS
from hanamachi.training.build import check_workers, games_of_workers, make_games
from hanamachi.training.config import Config
from hanamachi.training.run import train


@pytest.mark.parametrize("workers", [1, 2, 3, 8, 16])
def test_workers_divide_the_games_evenly_and_keep_the_share_of_each_opponent(workers):
    opponents = {"greedy": 0.1, "self": 0.7, "past": 0.2}
    config = Config(game="hanamikoji", num_games=251, opponents=opponents)
    divided = games_of_workers(config, workers)
    together = {name: sum(games[name] for games in divided) for name in opponents}
    assert together == {"greedy": 25, "past": 50, "self": 176}
    for name in opponents:
        counts = [games[name] for games in divided]
        assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("workers", "opponents"),
    [(17, {"self": 1}), (3, {"self": 0.9, "greedy": 0.1}), (0, {"self": 0.01, "greedy": 0.99})],
)
def test_too_few_games_are_refused_before_anything_is_written(workers, opponents, tmp_path):
    config = Config(game="hanamikoji", num_games=16, opponents=opponents)
    with pytest.raises(UserError, match="16 games"):
        train(config, tmp_path / "run", workers=workers)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("name", "other"), [("self", "greedy"), ("greedy", "self")])
def test_without_workers_nobody_is_told_to_take_fewer(name, other):
    config = Config(game="hanamikoji", num_games=16, opponents={name: 0.01, other: 0.99})
    with pytest.raises(UserError, match=f"{name} gets none of 16 games") as refused:
        check_workers(config, 0)
    assert "worker" not in str(refused.value)


def test_shares_whose_sum_was_rounded_train():
    shares = {"greedy": 0.3333335, "expert": 0.6666668}
    games = make_games(Config(game="hanamikoji", num_games=6, opponents=shares))
    assert [len(opponent.rows) for opponent in games.fixed_opponents] == [2, 4]


@pytest.mark.parametrize("workers", [-1, WORKERS + 1])
def test_a_number_of_workers_that_cannot_be_is_refused(workers, tmp_path):
    with pytest.raises(UserError, match=f"workers must be from 0 to {WORKERS}"):
        train(Config(game="hanamikoji"), tmp_path / "run", workers=workers)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("start", [None, "greedy"])
def test_too_little_memory_is_refused_before_anything_is_written(start, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 1 << 16)
    with pytest.raises(UserError, match="memory"):
        train(Config(game="hanamikoji", init_from=start), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("augmentation", ["none", "other_play"])
def test_games_discount_what_opponents_earn_as_the_learner_does(augmentation):
    ppo = {"gamma": 0.5}
    config = Config(game="hanabi:2p", num_games=2, augmentation=augmentation, ppo=ppo)
    assert make_games(config).gamma == config.ppo.gamma


VIEWS = "model:test?url=http://127.0.0.1:1/v1"  # a policy that plays from views


@pytest.mark.parametrize("part", [{"opponents": {VIEWS: 1}}, {"init_from": VIEWS}])
def test_who_plays_from_views_is_refused_where_games_are_learned_from(part, tmp_path):
    with pytest.raises(UserError, match="nobody can learn"):
        train(Config(game="hanamikoji", **part), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")
def test_a_bot_that_cannot_start_is_refused_before_anything_is_written(tmp_path):
    who = {"final_opponents": ["process:./no-such-bot"]}
    with pytest.raises(UserError, match="not ready"):
        train(Config(game="hanamikoji", evaluation=who), tmp_path / "run")
    assert not (tmp_path / "run").exists()
