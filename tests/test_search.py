"""Searches: what they may know, how they are spelled, and that they help."""

import numpy as np
import pytest
from samples import UNCOMPILED

from hanamachi import kernels, make
from hanamachi.errors import UserError
from hanamachi.games import variant
from hanamachi.policies import load_policy
from hanamachi.policies.policy import views
from hanamachi.worlds import Worlds

SEARCHES = {  # for each kind, in each kind of game that it is for
    ("hanamikoji", "search:improve:greedy:worlds=2"),
    ("geishas_road:2021", "search:improve:greedy:worlds=2"),
    ("geishas_road:advanced", "search:improve:greedy:worlds=2"),
    ("hanamikoji:eight_suits", "search:mcts:worlds=100"),
    ("geishas_road:standard", "search:mcts:worlds=100"),
    ("hanamikoji", "search:mcts:greedy:worlds=8"),
    ("hanabi:2p", "search:single_agent:expert:worlds=4,hands=20"),
    ("hanabi:5p", "search:single_agent:hat:worlds=4,hands=20"),
}


def midgame(rules, decisions, games=4, seed=0):
    """Games after so many decisions of random play, those that are over left out."""
    states = rules.new(np.arange(games, dtype=np.uint64) + np.uint64(seed))
    kernels.reset(rules.rules, states)
    rng = np.random.default_rng(seed)
    for _ in range(decisions):
        states = states[states["mover"] >= 0]
        _, masks = views(rules, states, states["mover"].astype(np.int64))
        actions = np.empty(len(states), np.int64)
        kernels.pick(rules.rules, masks, rng.random(len(states)), actions)
        kernels.step(rules.rules, states, actions)
    return states[states["mover"] >= 0]


def answers(policy, games):
    """The distribution of a policy in these games, (B, A)."""
    seats = games["mover"].astype(np.int64)
    seen = views(policy.variant, games, seats)
    at_table = policy.given(Worlds(policy.variant, games, seats))
    return at_table.distribution(*seen, policy.initial_memory(len(games)))[0]


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
@pytest.mark.parametrize(("game", "spec"), sorted(SEARCHES))
@pytest.mark.parametrize("decisions", [0, 5, 11])
def test_a_search_answers_alike_in_games_that_the_seat_cannot_tell_apart(game, spec, decisions):
    policy = load_policy(spec, game=game)
    games = midgame(policy.variant, decisions)
    seats = games["mover"]
    true = Worlds(policy.variant, games, seats)
    seed = np.array([7], np.uint64)
    others = np.concatenate([true.sample(row, seed) for row in range(len(true))])
    assert (others != games).any()
    np.testing.assert_array_equal(answers(policy, games), answers(policy, others))


def test_a_search_without_its_games_says_where_it_can_play():
    policy = load_policy("search:improve:greedy:worlds=2", game="hanamikoji")
    games = midgame(policy.variant, 0, games=1)
    seen = views(policy.variant, games, games["mover"].astype(np.int64))
    with pytest.raises(UserError, match="worlds"):
        policy.distribution(*seen, policy.initial_memory(1))


def test_a_search_plays_in_a_pettingzoo_environment():
    env = make("hanamikoji")
    env.reset(seed=0)
    policy = load_policy("search:improve:greedy:worlds=1", game="hanamikoji")
    for _ in range(2):
        seen = env.observe(env.agent_selection)
        action, _ = policy.given(env.unwrapped.worlds()).predict(
            seen["observation"], action_masks=seen["action_mask"]
        )
        assert seen["action_mask"][action] == 1
        env.step(int(action))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("search:improve:greedy", "budget"),
        ("search:improve:greedy:worlds=0", "at least 1"),
        ("search:improve:greedy:worlds=many", "whole number"),
        ("search:improve:greedy:seconds=0", "above 0"),
        ("search:improve:greedy:worlds=8,seconds=1", "budget"),
        ("search:improve:greedy:world=8", "did you mean worlds"),
        ("search:improve:greedy:worlds=8,top=0", "top must be at least 1"),
        ("search:improv:greedy:worlds=8", "did you mean improve"),
        ("search:improve:worlds=8", "needs a policy"),
        ("search:improve:gredy:worlds=8", "did you mean greedy"),
    ],
)
def test_a_search_that_cannot_be_is_refused_with_one_sentence(spec, words):
    with pytest.raises(UserError, match=words) as refusal:
        load_policy(spec, game="hanamikoji")
    assert "\n" not in str(refusal.value)


def test_a_kind_that_is_not_for_the_game_is_refused():
    with pytest.raises(UserError, match="two rivals"):
        load_policy("search:improve:greedy:worlds=8", game="hanabi:2p")


def test_worlds_are_for_games_in_progress():
    rules = variant("hanamikoji")
    games = rules.new(np.arange(1, dtype=np.uint64))
    games["mover"] = -2
    with pytest.raises(UserError, match="reset"):
        Worlds(rules, games, [0])
