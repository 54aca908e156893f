"""Information-set Monte Carlo tree search: a sound tree, and play that is better than its parts."""

import numpy as np
import pytest
from samples import UNCOMPILED, sample
from searching import answers, midgame

from hanamachi.engine import kernels
from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.search import tree as trees
from hanamachi.policies.search.playout import random_play_out
from hanamachi.training.evaluation.matches import match

COMPETITIVE = [id for id, game in VARIANTS.items() if not game.cooperative]
WORLDS = 300


def grown(variant, games, count=WORLDS, seed=0, scores=None):
    """The tree for the first game after `count` worlds, and their rewards."""
    worlds = variant.new(np.arange(count, dtype=np.uint64) + np.uint64(seed))
    kernels.worlds(variant.rule_set, games[:1], int(games["mover"][0]), worlds)
    tree = trees.new_tree(count)
    scores = np.zeros(variant.actions.size, np.float32) if scores is None else scores
    descents = trees.new_descents(count, 64, variant.seats)
    growth = trees.Growth(explore=0.7, widen=2.0)
    used = trees.descend(variant.rule_set, worlds, tree, 1, growth, scores, descents)
    descents.earned[:] += random_play_out(RandomPolicy(variant), worlds)
    trees.back_up(tree, descents)
    return tree[:used], descents.earned, worlds


def children(tree, at):
    child = tree[at]["child"]
    while child != trees.NOWHERE:
        yield child
        child = tree[child]["sibling"]


@pytest.mark.parametrize("game", COMPETITIVE)
@pytest.mark.parametrize("decisions", [0, 6, 13])
def test_every_world_ends_and_is_counted_on_its_way(game, decisions):
    variant = make_variant(game)
    games = midgame(variant, decisions)
    tree, earned, worlds = grown(variant, games)
    assert (worlds["mover"] < 0).all()
    assert tree[trees.ROOT]["visits"] == WORLDS
    assert (np.abs(tree["total"]) <= tree["visits"]).all()
    for at in range(len(tree)):
        below = list(children(tree, at))
        assert tree["visits"][below].sum() <= tree[at]["visits"]
        assert len(set(tree["action"][below])) == len(below)
    below = list(children(tree, trees.ROOT))
    assert tree["visits"][below].sum() == WORLDS
    rewards = earned[:, games["mover"][0]].sum()
    assert tree["total"][below].sum() == pytest.approx(rewards)
    assert (tree["available"][below] >= tree["visits"][below]).all()


def test_only_legal_actions_are_tried_at_the_root():
    variant = make_variant("hanamikoji")
    for decisions in range(12):
        games = midgame(variant, decisions)
        mask = np.zeros((1, variant.actions.size), np.int8)
        kernels.masks(variant.rule_set, games[:1], mask)
        tree, *_ = grown(variant, games)
        visits = trees.visits_below_root(tree, variant.actions.size)
        assert visits.sum() == WORLDS
        assert not visits[mask[0] == 0].any()


def test_a_node_gets_children_with_the_square_root_of_its_visits():
    variant = make_variant("hanamikoji")
    tree, *_ = grown(variant, midgame(variant, 0), count=100)  # with more than 100 legal actions
    assert len(list(children(tree, trees.ROOT))) == 2 * 10 + 1


def test_actions_are_tried_at_the_root_from_the_highest_score_down():
    variant = make_variant("hanamikoji")
    games = midgame(variant, 0)
    scores = np.random.default_rng(0).random(variant.actions.size, np.float32)
    legal = np.zeros((1, variant.actions.size), np.int8)
    kernels.masks(variant.rule_set, games[:1], legal)
    tree, *_ = grown(variant, games, count=100, scores=scores)
    newest_first = tree["action"][list(children(tree, trees.ROOT))]
    order = np.argsort(-np.where(legal[0], scores, -1))
    assert newest_first[::-1].tolist() == order[: len(newest_first)].tolist()


def test_the_child_with_the_highest_bound_is_visited_next():
    """Its mean result, and the more the less it was visited of the times that it could be."""
    rng, n = np.random.default_rng(0), 6
    for _ in range(100):
        tree, explore = trees.new_tree(n), rng.uniform(0.1, 2)
        nodes = [trees.add_child(tree, trees.ROOT, action, 1 + action) for action in range(n)]
        visits = rng.integers(1, 40, n)
        available, total = visits + rng.integers(0, 400, n), visits * rng.uniform(-1, 1, n)
        tree["visits"][nodes], tree["available"][nodes] = visits, available
        tree["total"][nodes] = total
        bound = total / visits + explore * np.sqrt(np.log(available + 1) / visits)
        chosen = trees.best_child(tree, trees.ROOT, np.ones(n, np.int8), explore)
        assert chosen == (nodes[bound.argmax()], n)
        assert tree["available"][nodes].tolist() == (available + 1).tolist()


def test_the_action_with_the_highest_score_is_tried_first():
    policy = load_policy("search:mcts:greedy:worlds=1", game="hanamikoji")
    games = midgame(policy.variant, 0)
    greedy = answers(policy.blueprint, games)
    assert ((answers(policy, games) > 0) <= (greedy > 0)).all()


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
def test_it_beats_random_play_and_more_worlds_beat_fewer():
    for worlds, opponent, rate in ((200, "random", 0.8), (1000, "search:mcts:worlds=10", 0.65)):
        search, other = (
            load_policy(spec, game="hanamikoji")
            for spec in (f"search:mcts:worlds={worlds}", opponent)
        )
        scores = match((search, other), search.variant, sample(4000, 0.01) // 2 * 2, 0)
        assert scores.mean() > rate


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("search:mcts", "worlds"),
        ("search:mcts:worlds=0", "worlds.*0"),
        ("search:mcts:worlds=8,explore=0", "explore"),
        ("search:mcts:worlds=8,widen=no", "widen"),
        ("search:mcts:worlds=8,explor=1", "explore"),
    ],
)
def test_a_tree_search_that_cannot_be_is_refused_with_one_sentence(spec, named):
    with pytest.raises(UserError, match=named):
        load_policy(spec, game="hanamikoji")


def test_it_refuses_cooperative_games():
    with pytest.raises(UserError, match="hanabi:2p"):
        load_policy("search:mcts:worlds=8", game="hanabi:2p")
