"""Searches: what they may know, how they are spelled, and that they help."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from messages import assert_one_sentence
from samples import UNCOMPILED, WHOLE, sample
from searching import answers, midgame

from hanamachi import make
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine import kernels
from hanamachi.engine.action_masks import nth_legal
from hanamachi.engine.contract import OVER
from hanamachi.engine.random_numbers import below
from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import SEARCH_WORLDS
from hanamachi.policies import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.sampling import uniform
from hanamachi.policies.search import budget
from hanamachi.policies.search.budget import Budget
from hanamachi.policies.search.improve import Improve
from hanamachi.policies.search.playout import gap_to_best, play_on, play_out
from hanamachi.policies.search.search import new_search
from hanamachi.policies.user_functions import BatchPolicy
from hanamachi.sessions.observations import observe
from hanamachi.sessions.worlds import Worlds
from hanamachi.training.evaluation.matches import match
from hanamachi.training.evaluation.statistics import interval

SEARCHES = {  # for each kind, in each kind of game that it is for
    ("hanamikoji", "search:improve:greedy:worlds=2"),
    ("geishas_road:2021", "search:improve:greedy:worlds=2"),
    ("geishas_road:advanced", "search:improve:greedy:worlds=2"),
    ("hanamikoji", "search:endgame:greedy:worlds=8"),
    ("geishas_road:standard", "search:endgame:greedy:worlds=4"),
    ("hanamikoji:eight_suits", "search:mcts:worlds=100"),
    ("geishas_road:standard", "search:mcts:worlds=100"),
    ("hanamikoji", "search:mcts:greedy:worlds=8"),
    ("hanabi:2p", "search:single_agent:expert:worlds=4,hands=20"),
    ("hanabi:5p", "search:single_agent:hat:worlds=4,hands=20"),
}


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


@pytest.mark.parametrize("blueprint", ["greedy", "random"])
def test_decisions_are_searched_together_as_each_alone(blueprint):
    search = load_policy(f"search:improve:{blueprint}:worlds=20", game="hanamikoji")
    games = midgame(search.variant, 5, games=12)
    alone = [answers(search, games[row : row + 1]) for row in range(len(games))]
    np.testing.assert_array_equal(answers(search, games), np.concatenate(alone))


def test_random_numbers_follow_from_the_seed_of_a_search_and_from_what_the_seat_sees():
    variant = make_variant("hanamikoji")
    games = midgame(variant, 3)

    def numbers(seed, row):
        game, seats = games[row : row + 1], games["mover"][row : row + 1].astype(np.int64)
        search = load_policy(f"search:mcts:worlds=1,seed={seed}", variant.id)
        search = search.with_worlds(Worlds(variant, game, seats))
        seen = observe(variant, game, seats)
        decision, _ = search.decision(*seen, search.initial_memory(1))
        return decision.seeds(3).tolist()

    assert numbers(seed=0, row=0) == numbers(seed=0, row=0)
    assert numbers(seed=0, row=0) != numbers(seed=1, row=0)
    assert numbers(seed=0, row=0) != numbers(seed=0, row=1)


def test_a_search_without_its_games_says_where_it_can_play():
    policy = load_policy("search:improve:greedy:worlds=2", game="hanamikoji")
    games = midgame(policy.variant, 0, games=1)
    seen = observe(policy.variant, games, games["mover"].astype(np.int64))
    with pytest.raises(UserError, match="worlds"):
        policy.distribution(*seen, policy.initial_memory(1))


def test_a_search_plays_in_a_pettingzoo_environment():
    env = make("hanamikoji")
    env.reset(seed=0)
    policy = load_policy("search:improve:random:worlds=1", game="hanamikoji")
    for _ in range(2):
        seen = env.observe(env.agent_selection)
        action, _ = policy.with_worlds(env.unwrapped.worlds()).predict(
            seen["observation"], action_masks=seen["action_mask"]
        )
        assert seen["action_mask"][action] == 1
        env.step(int(action))


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("search:improve:greedy", "worlds"),
        ("search:improve:greedy:worlds=0", "worlds.*0"),
        ("search:improve:greedy:worlds=many", "many"),
        ("search:improve:greedy:seconds=0", "seconds.*0"),
        ("search:improve:greedy:worlds=8,seconds=1", "worlds"),
        ("search:improve:greedy:world=8", "worlds"),
        ("search:improve:greedy:worlds=8,top=0", "top"),
        ("search:endgame:greedy:worlds=8,positions=0", "positions"),
        ("search:endgame:greedy:worlds=8,positions=1000000000000", "positions"),
        ("search:endgame:greedy:worlds=8,positions=" + "9" * 30, "positions"),
        ("search:endgame:greedy:worlds=8,random_share=2", "random_share"),
        ("search:endgame:worlds=8", "search:(endgame|improve)"),
        ("search:improv:greedy:worlds=8", "improve"),
        ("search:improve:worlds=8", "search:(endgame|improve)"),
        ("search:improve:gredy:worlds=8", "greedy"),
    ],
)
def test_a_search_that_cannot_be_is_refused_with_one_sentence(spec, named):
    with pytest.raises(UserError, match=named) as refusal:
        load_policy(spec, game="hanamikoji")
    assert_one_sentence(refusal.value)


@pytest.mark.parametrize("settings", [{"seconds": True}, {"worlds": 8, "random_share": True}])
def test_true_is_no_number(settings):
    blueprint = load_policy("greedy", "hanamikoji")
    with pytest.raises(UserError, match="not True"):
        Improve(blueprint.variant, blueprint, **settings)


def test_a_kind_that_is_not_for_the_game_is_refused():
    with pytest.raises(UserError, match="hanabi:2p"):
        load_policy("search:improve:greedy:worlds=8", game="hanabi:2p")


def test_a_belief_of_countless_hands_is_refused():
    with pytest.raises(UserError, match="hands"):
        load_policy("search:single_agent:expert:worlds=8,hands=20000000", game="hanabi:2p")


def test_a_search_refuses_the_worlds_of_another_turn():
    search = load_policy("search:improve:greedy:worlds=2", game="hanamikoji")
    games = midgame(search.variant, 1, games=1)
    asked = search.with_worlds(Worlds(search.variant, games, 1 - games["mover"]))
    seen = observe(search.variant, games, games["mover"].astype(np.int64))
    with pytest.raises(UserError, match="with_worlds"):
        asked.distribution(*seen, search.initial_memory(1))


@pytest.mark.parametrize(
    ("spec", "game"),
    [
        ("search:improve:greedy:worlds=2", "hanamikoji"),
        ("search:single_agent:greedy:worlds=2,hands=20", "hanabi:2p"),
    ],
)
@pytest.mark.parametrize("stale", ["observation", "mask"])
def test_a_search_refuses_what_was_observed_in_other_positions_than_its_worlds(spec, game, stale):
    search = load_policy(spec, game)
    games = midgame(search.variant, 1, games=1)
    seats = games["mover"].astype(np.int64)
    asked = search.with_worlds(Worlds(search.variant, games, seats))
    seen, mask = observe(search.variant, games, seats)
    if stale == "mask":
        mask[:] = 1
    else:
        seen[0] = search.variant.observation.low
    with pytest.raises(UserError, match="with_worlds"):
        asked.distribution(seen, mask, search.initial_memory(1))


def test_a_search_plays_from_observations_of_int8():
    envs = VectorSeatEnv("hanamikoji", 4, dtype=np.int8)
    search = load_policy("search:improve:greedy:worlds=2", game="hanamikoji")
    seen, infos = envs.reset(seed=1)
    for _ in range(3):
        asked, masks = search.with_worlds(envs.worlds()), infos["action_mask"]
        actions, _ = asked.predict(seen, action_masks=masks)
        assert masks[np.arange(4), actions].all()
        with pytest.raises(UserError, match="with_worlds"):
            asked.predict(np.roll(seen, 1, axis=0), action_masks=masks)
        seen, _, _, _, infos = envs.step(actions)


@pytest.mark.parametrize(
    ("game", "spec"),
    [
        ("hanamikoji", "search:improve:random:worlds=1"),
        ("hanabi:2p", "search:single_agent:random:worlds=1,hands=2,turns=1"),
    ],
)
def test_a_search_plays_on_beside_games_that_are_over(game, spec):
    envs = VectorSeatEnv(game, 8, autoreset_mode=AutoresetMode.NEXT_STEP)
    search = load_policy(spec, game=game)
    seen, infos = envs.reset(seed=1)
    over = np.zeros(8, np.bool_)
    while over.all() or not over.any():
        seen, _, over, _, infos = envs.step(envs.sample_actions())
    masks = infos["action_mask"].copy()
    masks[over] = np.eye(masks.shape[1], dtype=np.int8)[0]  # what is chosen there is ignored
    actions, _ = search.with_worlds(envs.worlds()).predict(seen, action_masks=masks)
    assert masks[np.arange(8), actions].all()


def stacked(observations, masks):
    """Chooses in each row; for none, there is nothing to stack."""
    return np.stack([mask.argmax() for mask in masks])


@pytest.mark.parametrize("kind", ["mcts", "endgame"])
def test_a_blueprint_is_asked_about_nothing_when_nobody_else_is_to_move(kind):
    variant = make_variant("hanamikoji-gifts")
    search = new_search(kind, variant, BatchPolicy(stacked, variant), "worlds=4", name=kind)
    for decisions in range(6):
        chances = answers(search, midgame(variant, decisions))
        np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-6)


def test_a_search_plays_on_by_the_rules_that_are_played():
    search = load_policy("search:improve:greedy:worlds=2", game="hanamikoji")
    other = make_variant("hanamikoji", max_rounds=1)
    games = midgame(other, 1, games=1)
    with pytest.raises(UserError, match="options"):
        search.with_worlds(Worlds(other, games, games["mover"]))


def test_worlds_are_for_games_in_progress():
    variant = make_variant("hanamikoji")
    games = variant.new(np.arange(1, dtype=np.uint64))
    games["mover"] = -2
    with pytest.raises(UserError, match="row 0 is over"):
        Worlds(variant, games, [0]).sample(0, [1])


# --- Budgets


def test_a_budget_in_worlds_is_spent_in_portions_to_the_last_world():
    assert list(Budget(worlds=10).portions(4)) == [4, 4, 2]


def test_portions_grow_until_the_budget_is_spent():
    assert list(Budget(worlds=70).growing_portions(8, 64)) == [8, 8, 16, 32, 6]
    assert list(Budget(worlds=70).growing_portions(8, 16)) == [8, 8, 16, 16, 16, 6]
    assert list(Budget(worlds=3).growing_portions(8, 64)) == [3]
    assert list(Budget(seconds=60).growing_portions(8, 64, spent=60)) == [8]


@pytest.mark.parametrize("pause", [0.0, 0.002])
def test_growing_portions_fit_the_seconds(pause, monkeypatch):
    assert list(Budget(seconds=1e-9).growing_portions(8, 64)) == [8]
    now, worlds = 0.0, 0
    monkeypatch.setattr(budget, "perf_counter", lambda: now)
    for count in Budget(seconds=0.05).growing_portions(8, 64):
        assert count <= min(max(8, worlds), 64)
        worlds += count
        now += (pause + 1e-6) * count / 8
    assert now <= 0.05
    assert 8 <= worlds <= SEARCH_WORLDS


def test_a_budget_in_seconds_is_kept_and_something_is_always_done(monkeypatch):
    assert list(Budget(seconds=1e-9).portions(4)) == [4]
    now, portions = 0.0, []
    monkeypatch.setattr(budget, "perf_counter", lambda: now)
    for count in Budget(seconds=0.02).portions(4):
        portions.append(count)
        now += 0.003
    assert now <= 0.02
    assert portions == 6 * [4]


# --- Playing on


@pytest.mark.parametrize("game", ["hanamikoji", "geishas_road:advanced", "hanabi:2p"])
def test_random_play_to_the_end_is_what_the_rules_make_of_the_games_own_luck(game):
    variant = make_variant(game)
    games = midgame(variant, 3, games=3)
    mask, weights = np.zeros((1, variant.actions.size), np.int8), games.copy()
    expected, counted = np.zeros((len(games), variant.seats)), np.zeros(len(games), np.int64)
    for row, one in enumerate(weights[:, None]):
        while one["mover"][0] != OVER:
            kernels.masks(variant.rule_set, one, mask)
            action = nth_legal(mask[0], int(below(one[0], int(mask.sum()))))
            kernels.step(variant.rule_set, one, np.array([action]))
            expected[row] += one["rewards"][0, : variant.seats]
            counted[row] += 1
    earned, decisions = np.zeros(expected.shape, np.float32), np.zeros(len(games), np.int64)
    masks = np.zeros((len(games), variant.actions.size), np.int8)
    kernels.play_out(variant.rule_set, games, masks, earned, decisions)
    assert (games["mover"] == OVER).all()
    np.testing.assert_allclose(earned, expected)
    np.testing.assert_array_equal(decisions, counted)


class Sure(RandomPolicy):
    """Knows nothing, but what a round is worth to whoever begins it."""

    has_values = True

    def values(self, observation, mask, memory):
        return np.full(len(mask), 0.25, np.float32)


def first_actions(variant, games):
    _, masks = observe(variant, games, games["mover"].astype(np.int64))
    return masks.argmax(1)


def test_a_judge_ends_games_where_a_round_begins():
    variant = make_variant("hanamikoji")
    games = midgame(variant, 4, games=100)
    greedy, luck = load_policy("greedy", "hanamikoji"), np.arange(100, dtype=np.uint64)
    actions = first_actions(variant, games)
    earned = play_out(greedy, games, actions, luck, value_policy=Sure(variant))
    terminated = games["mover"] == OVER
    assert 0 < terminated.sum() < len(games)
    assert (games["round_number"] == np.where(terminated, 1, 2)).all()
    np.testing.assert_allclose(np.abs(earned), np.where(terminated, 1, 0.25)[:, None].repeat(2, 1))
    starter = games["mover"][~terminated].astype(np.int64)
    assert (earned[~terminated][np.arange(len(starter)), starter] > 0).all()
    assert (earned.sum(1) == 0).all()


def test_a_gap_has_the_standard_error_of_its_mean():
    results = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, -2.0]])  # of 4 worlds, 2 actions
    gaps, errors = gap_to_best(results)
    assert gaps.tolist() == [0, 1.5]
    assert errors == pytest.approx([0, np.sqrt(0.75) / 2])


def test_one_world_tells_nothing_about_the_error_of_a_gap():
    gaps, errors = gap_to_best(np.array([[1.0, 0.0]]))
    assert gaps.tolist() == [0, 1]
    assert errors.tolist() == [np.inf, np.inf]


def test_games_of_the_same_luck_share_random_numbers():
    variant = make_variant("hanamikoji")
    games = np.repeat(midgame(variant, 2, games=20), 3)
    greedy, luck = load_policy("greedy", "hanamikoji"), np.arange(20, dtype=np.uint64).repeat(3)
    earned = play_out(greedy, games, first_actions(variant, games), luck)
    assert (earned.reshape(-1, 3, 2) == earned.reshape(-1, 3, 2)[:, :1]).all()


@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_games_that_are_played_out_are_over(policy):
    variant = make_variant("hanamikoji")
    games, player = midgame(variant, 2, games=20), load_policy(policy, "hanamikoji")
    play_out(player, games, first_actions(variant, games), np.arange(20, dtype=np.uint64))
    assert (games["mover"] == OVER).all()


class Counting(Policy):
    """Plays at random, and remembers in each seat how often it has chosen there."""

    def __init__(self, variant):
        super().__init__(variant)
        self.counts = []

    def initial_memory(self, batch):
        return np.zeros((batch, 1), np.int64)

    def distribution(self, observation, mask, memory):
        self.counts += memory.ravel().tolist()
        return uniform(mask), None, memory + 1


def test_games_that_are_played_on_begin_with_empty_memories_and_remember_every_decision():
    variant = make_variant("hanamikoji", max_rounds=1)
    policy, games = Counting(variant), midgame(variant, 0, games=20)
    play_on(policy, games, np.random.default_rng(0))
    assert (games["mover"] == OVER).all()
    # each seat uses its four action tiles, and answers a gift and a competition
    assert np.bincount(policy.counts).tolist() == [2 * 20] * 6


@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_games_are_left_after_so_many_turns(policy):
    variant = make_variant("hanabi:2p")
    games = midgame(variant, 1, games=20)
    two, luck = games.copy(), np.arange(20, dtype=np.uint64)
    player, actions = load_policy(policy, "hanabi:2p"), first_actions(variant, games)
    kernels.step(variant.rule_set, games, actions)
    one = two.copy()
    earned = play_out(player, one, actions, luck, turns=1)
    np.testing.assert_array_equal(one, games)
    np.testing.assert_array_equal(earned, games["rewards"][:, : variant.seats])
    play_out(player, two, actions, luck, turns=2)
    assert (two["player"] == (games["player"] + 1) % variant.seats).all()


# --- Strength


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
@pytest.mark.parametrize("game", ["hanamikoji", "geishas_road:standard"])
def test_improving_on_random_play_beats_it(game):
    search = load_policy("search:improve:random:worlds=24", game=game)
    scores = match((search, RandomPolicy(search.variant)), search.variant, 60, 0)
    assert interval(scores)[0] > 0.6


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
def test_improving_on_the_expert_beats_it():
    search = load_policy("search:improve:expert:worlds=32", game="hanamikoji")
    games = 2 * sample(500, share=0.02)
    scores = match((search, search.blueprint), search.variant, games, 0, play="argmax")
    if WHOLE:
        assert interval(scores)[0] > 0.54
    else:  # what a search that sees the wrong way round would never reach
        assert scores.mean() > 0.3
