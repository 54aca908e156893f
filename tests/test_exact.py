"""Exact solving agrees with OpenSpiel, with plain recursion and with linear programming."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import exploitability as spiel_exploitability
from plain_tree import decisions, plain_tree, response_value, value

from hanamachi import variant
from hanamachi.errors import UserError
from hanamachi.training.exact import (
    exploitability,
    nash_conv,
    solve,
    tree_of,
    tree_of_openspiel,
)

POKER = ("kuhn_poker", "leduc_poker")
TINY = {
    "one action": ("hanamikoji", {"cards": (1, 2, 3), "actions": ("gift",), "max_rounds": 1}),
    "secrets": ("hanamikoji", {"cards": (1, 1, 1), "actions": ("secret",), "max_rounds": 2}),
}


def tiny(name):
    id, options = TINY[name]
    return variant(id, **options)


def random_policy(tree, seed):
    """Any probabilities in every information set."""
    weights = np.random.default_rng(seed).exponential(size=len(tree.action))
    weights[: tree.seats] = 1
    sums = np.add.reduceat(weights, tree.first[:-1])
    weights[tree.seats :] /= np.repeat(sums, tree.choices)
    return weights


# --- Games of OpenSpiel


def as_openspiel(tree, game, policy):
    table = spiel_policy.TabularPolicy(game)
    for i in range(tree.sets):
        chosen = table.policy_for_key(tree.positions[i].information_state_string())
        chosen[:] = 0
        own = slice(tree.first[i], tree.first[i + 1])
        chosen[tree.action[own]] = policy[own]
    return table


@pytest.mark.parametrize("name", POKER)
def test_nash_conv_is_openspiels_to_nine_digits(name):
    game = pyspiel.load_game(name)
    tree = tree_of_openspiel(game)
    for policy in (tree.uniform, random_policy(tree, 0), solve(tree, 30).policy):
        theirs = spiel_exploitability.nash_conv(game, as_openspiel(tree, game, policy))
        assert nash_conv(tree, policy) == pytest.approx(theirs, abs=1e-9)


def test_games_that_are_not_played_in_turn_are_refused():
    with pytest.raises(UserError, match="matrix_pd move at once"):
        tree_of_openspiel(pyspiel.load_game("matrix_pd"))


# --- Our own games


def plain_policy(tree, policy, nodes):
    """The same policy by view; the information sets are found by what they see and saw before."""
    views = {}
    for i in range(tree.sets):
        q = tree.before[i]
        view = (*views[tree.set_of[q]], int(tree.action[q])) if tree.set_of[q] >= 0 else ()
        views[i] = (*view, tree.observations(np.array([i])).tobytes())
    chosen = {}
    for i, view in views.items():
        own = slice(tree.first[i], tree.first[i + 1])
        actions = tree.action[own].tolist()
        chosen[int(tree.seat[i]), view] = dict(zip(actions, policy[own].tolist(), strict=True))
    assert {(node.mover, node.view) for node in nodes} == chosen.keys()
    return chosen


@pytest.mark.parametrize("name", TINY)
def test_values_and_best_responses_are_those_of_a_plain_recursion(name):
    tree = tree_of(tiny(name))
    root = plain_tree(tiny(name))
    for policy in (tree.uniform, random_policy(tree, 1)):
        plain = plain_policy(tree, policy, decisions(root))
        found = exploitability(tree, policy)
        for seat in range(2):
            assert found.values[seat] == pytest.approx(value(root, plain, seat), abs=1e-9)
            response = response_value(root, plain, seat)
            assert found.responses[seat] == pytest.approx(response, abs=1e-9)
