"""Exact solving agrees with OpenSpiel, with plain recursion and with linear programming."""

import re
from itertools import product

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import exploitability as spiel_exploitability
from plain_tree import decisions, plain_tree, response_value, value
from samples import WHOLE, sample
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from hanamachi import variant as make_variant
from hanamachi.adapters.openspiel import load as load_game
from hanamachi.errors import UserError
from hanamachi.policies import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.training.evaluation.playing import play_games
from hanamachi.training.exact import (
    SMALL,
    best_response,
    best_team,
    exploitability,
    nash_conv,
    solve,
    tabulate,
    tree_of,
    tree_of_openspiel,
    walk,
)
from hanamachi.training.exact.response import reached

POKER = ("kuhn_poker", "leduc_poker")
TINY = {
    "one action": ("hanamikoji", {"cards": (1, 2, 3), "actions": ("gift",), "max_rounds": 1}),
    "secrets": ("hanamikoji", {"cards": (1, 4), "actions": ("secret",), "max_rounds": 1}),
    "two rounds": ("hanamikoji", {"cards": (1, 1, 1), "actions": ("secret",), "max_rounds": 2}),
    "walks": (
        "geishas_road:standard",
        {"colours": 2, "item_values": (1, 2), "actions": ("reveal",), "rounds": 1}
        | {"instant_win": 2, "prestige_tokens": (1, 1)},
    ),
    "partners": (
        "hanabi:2p",
        {"colours": 1, "ranks": 2, "hand_size": 1, "max_clues": 1, "max_errors": 1},
    ),
}


def tiny(name):
    id, options = TINY[name]
    return make_variant(id, **options)


OURS = [tiny("one action"), tiny("secrets"), tiny("walks")]
OURS += [make_variant("hanamikoji-gifts")] if WHOLE else []


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
    with pytest.raises(UserError, match="matrix_pd"):
        tree_of_openspiel(pyspiel.load_game("matrix_pd"))


def test_a_game_without_information_states_is_refused():
    with pytest.raises(UserError, match=r"breakthrough.*information states"):
        tree_of_openspiel(pyspiel.load_game("breakthrough"))


def test_a_game_without_tensors_has_a_tree_and_equilibria_but_no_policy_sees_it():
    tree = tree_of_openspiel(pyspiel.load_game("nim(pile_sizes=1;2)"))
    assert solve(tree, 100).value == pytest.approx(1, abs=1e-3)
    with pytest.raises(UserError, match=r"nim.*tensors"):
        tabulate(tree, Remembers(tiny("one action")))


def test_a_large_game_of_openspiel_is_refused_even_where_it_lasts_longer_than_python_recurses():
    game = pyspiel.load_game("cliff_walking(horizon=4000)")
    with pytest.raises(UserError, match=r"cliff_walking .*more than 8,000 states"):
        tree_of_openspiel(game, 8_000)


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


def played_in_openspiel(variant, tree, policy):
    """OpenSpiel's own loading of the game, and the policy there: in one round, by what is seen."""
    game = load_game(variant.id, **variant.options)
    seen = [
        (int(tree.seat[i]), tree.observations(np.array([i])).tobytes()) for i in range(tree.sets)
    ]
    number = {view: i for i, view in enumerate(seen)}
    table = spiel_policy.TabularPolicy(game)
    for state in table.states:
        seat = state.current_player()
        view = np.array(state.observation_tensor(seat), np.float32).tobytes()
        own = slice(*tree.first[number[seat, view] :][:2])
        chosen = table.policy_for_key(state.information_state_string(seat))
        chosen[:] = 0
        chosen[tree.action[own]] = policy[own]
    return game, table


@pytest.mark.parametrize("variant", OURS, ids=repr)
def test_nash_conv_of_our_games_is_openspiels_to_nine_digits(variant):
    tree = tree_of(variant)
    expert = load_policy("expert", variant)
    for policy in (tree.uniform, random_policy(tree, 2), tabulate(tree, expert)):
        theirs = spiel_exploitability.nash_conv(*played_in_openspiel(variant, tree, policy))
        assert nash_conv(tree, policy) == pytest.approx(theirs, abs=1e-9)


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


def test_chance_and_the_policy_make_a_distribution_over_the_ends():
    tree = tree_of(make_variant("hanamikoji-gifts"))
    for policy in (tree.uniform, random_policy(tree, 2)):
        reach = reached(tree, policy)
        assert tree.chance @ reach[tree.leaves].prod(1) == pytest.approx(1, abs=1e-12)


def test_the_value_of_the_small_hanamikoji_is_that_of_a_linear_programme():
    tree = tree_of(make_variant("hanamikoji-gifts"))
    assert (tree.sets, (tree.choices > 1).sum()) == (6490, 1745)
    uniform = exploitability(tree, tree.uniform)
    assert uniform.responses == pytest.approx([0.5712, 0.4390], abs=5e-5)
    assert uniform.nash_conv == pytest.approx(1.0103, abs=5e-5)
    solution = solve(tree, 1000)
    assert solution.exploitability.nash_conv < 1e-4
    assert abs(solution.value - programme_value(tree)) <= solution.exploitability.nash_conv


def programme_value(tree):
    """The value for seat 0 by the sequence form's linear programme (Koller, Megiddo, von Stengel).

    Maximise the value of seat 1's empty information set under seat 0's plan x, where seat 1
    minimises the value of each of its information sets.
    """
    q, sets = len(tree.action), tree.sets
    shape = (q, q + sets + 1)
    rows, columns, numbers = [], [], []

    def put(row, column, number):
        rows.append(row), columns.append(column), numbers.append(number)

    # value of the set that ends in sequence s <= gains of s + values of the sets that follow it
    for s in range(1, q):
        owner = tree.set_of[s]
        if s == 1 or tree.seat[owner] == 1:
            put(s, q + (sets if s == 1 else owner), 1.0)
    for i in np.flatnonzero(tree.seat == 1):
        put(tree.before[i], q + i, -1.0)
    for (s0, s1), payoff in zip(tree.leaves, tree.weighted_payoff[:, 0], strict=True):
        put(s1, s0, -payoff)
    limits = coo_matrix((numbers, (rows, columns)), shape).tocsr()
    rows, columns, numbers = [0], [0], [1.0]
    mine = np.flatnonzero(tree.seat == 0)
    for row, i in enumerate(mine, 1):  # probabilities add up
        put(row, tree.before[i], -1.0)
        for s in range(tree.first[i], tree.first[i + 1]):
            put(row, s, 1.0)
    plan = coo_matrix((numbers, (rows, columns)), (len(mine) + 1, shape[1])).tocsr()
    aim = np.zeros(shape[1])
    aim[-1] = -1
    total = np.zeros(len(mine) + 1)
    total[0] = 1
    bounds = [(0, None)] * q + [(None, None)] * (sets + 1)
    found = linprog(aim, limits, np.zeros(q), plan, total, bounds)
    return -found.fun


# --- Policies


class Remembers(Policy):
    """What it plays depends on all that it has seen in the game."""

    name = "remembers"

    def initial_memory(self, batch):
        return np.ones((batch, 1))

    def distribution(self, observation, mask, memory):
        summary = observation @ np.sin(np.arange(1, observation.shape[1] + 1))
        memory = memory / 2 + summary[:, None]
        weights = mask * (1.5 + np.sin(memory * np.arange(1, mask.shape[1] + 1)))
        return (weights / weights.sum(1, keepdims=True)).astype(np.float32), None, memory


@pytest.mark.parametrize("name", ["one action", "partners"])
def test_a_policy_is_tabulated_with_the_memory_that_it_has_in_play(name):
    tree, policy = tree_of(tiny(name)), Remembers(tiny(name))
    table = tabulate(tree, policy)
    for i in range(tree.sets):
        path = [i]
        while (before := tree.set_of[tree.before[path[0]]]) >= 0:
            path.insert(0, int(before))
        memory = policy.initial_memory(1)
        for at in path:
            row = np.array([at])
            mask = tree.masks(row)
            probabilities, _, memory = policy.distribution(tree.observations(row), mask, memory)
        own = slice(tree.first[i], tree.first[i + 1])
        assert table[own] == pytest.approx(probabilities[mask > 0], abs=1e-6)
    assert tree.depth.max() > 0


@pytest.mark.parametrize("name", ["random", "greedy", "expert"])
def test_the_value_of_a_policy_in_the_tree_is_its_mean_result_in_play(name):
    small = make_variant("hanamikoji-gifts")
    tree = tree_of(small)
    policies = [load_policy(name, small.id, **small.options) for name in (name, "random")]
    mixed = np.where(seat_of(tree) == 0, tabulate(tree, policies[0]), tree.uniform)
    games = sample(400_000, 0.02)
    seating = np.tile([0, 1], (games, 1))
    deals = np.arange(games, dtype=np.uint64)
    returns, _ = play_games(policies, small, seating, deals, 0, "sample")
    error = 4 * returns[:, 0].std() / np.sqrt(games)
    assert returns[:, 0].mean() == pytest.approx(exploitability(tree, mixed).values[0], abs=error)


def seat_of(tree):
    """(Q,) whose sequence."""
    return np.append(np.arange(tree.seats), np.repeat(tree.seat, tree.choices))


def test_a_best_response_earns_the_value_that_was_computed():
    tree = tree_of(make_variant("hanamikoji-gifts"))
    policy = random_policy(tree, 3)
    promised = exploitability(tree, policy).responses
    for seat in range(2):
        response = best_response(tree, policy, seat)
        assert exploitability(tree, response).values[seat] == pytest.approx(promised[seat])
        assert (response == policy)[seat_of(tree) != seat].all()


class Wrong(RandomPolicy):
    name = "wrong"

    def distribution(self, observation, mask, memory):
        return np.ones(mask.shape, np.float32), None, memory


def test_a_policy_that_returns_no_distribution_is_refused():
    with pytest.raises(UserError, match="wrong"):
        tabulate(tree_of(tiny("one action")), Wrong(tiny("one action")))


def test_a_policy_that_was_loaded_without_the_options_of_the_tree_is_refused():
    with pytest.raises(UserError, match="options"):
        tabulate(tree_of(tiny("one action")), load_policy("expert", "hanamikoji"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda table: table[:-1],
        lambda table: 2 * table,
        lambda table: -table,
        lambda table: table * np.nan,
        lambda table: table.astype(np.float32),
        lambda table: table.tolist()[:3],
    ],
)
def test_a_table_that_is_no_policy_of_the_tree_is_refused(spoil):
    tree = tree_of(tiny("one action"))
    for call in (nash_conv, lambda tree, table: best_response(tree, table, 0)):
        with pytest.raises(UserError, match="policy"):
            call(tree, spoil(tree.uniform))


def test_a_seat_that_the_tree_does_not_have_is_refused():
    tree = tree_of(tiny("one action"))
    for seat in (-1, 2, 10**6):
        with pytest.raises(UserError, match="seat"):
            best_response(tree, tree.uniform, seat)


@pytest.mark.parametrize("iterations", [0, -1, 1.5, "x"])
def test_cfr_runs_a_number_of_iterations(iterations):
    with pytest.raises(UserError, match="iterations"):
        solve(tree_of(tiny("one action")), iterations)


# --- Information sets


@pytest.mark.parametrize("name", [n for n in SMALL if not make_variant(n).game.cooperative])
def test_one_observation_says_all_that_a_seat_has_seen_in_a_round(name):
    tree = tree_of(make_variant(name))
    seen = {
        (seat, row.tobytes())
        for sets in np.array_split(np.arange(tree.sets), 20)
        for seat, row in zip(tree.seat[sets], tree.observations(sets), strict=True)
    }
    assert len(seen) == tree.sets


# --- CFR+


def test_cfr_finds_the_values_that_are_known():
    kuhn = solve(tree_of_openspiel(pyspiel.load_game("kuhn_poker")), 5000)
    assert kuhn.value == pytest.approx(-1 / 18, abs=1e-5)
    assert kuhn.exploitability.nash_conv < 1e-4
    leduc = solve(tree_of_openspiel(pyspiel.load_game("leduc_poker")), 1000)
    assert leduc.value == pytest.approx(-0.0856, abs=1e-4)
    assert leduc.exploitability.nash_conv < 1e-3


def test_cfr_refuses_cooperative_games():
    tree = tree_of(tiny("partners"))
    with pytest.raises(UserError, match="Hanamikoji"):
        solve(tree)


# --- Cooperative games


def test_the_best_team_is_the_best_of_all_pure_policies():
    tree = tree_of(make_variant("hanabi-pairs"))
    best = best_team(tree)
    assert best.value == pytest.approx(max(response_values(tree)), abs=1e-9)
    found = exploitability(tree, best.policy)
    assert found.values == pytest.approx([best.value] * 2)
    assert found.nash_conv == pytest.approx(0, abs=1e-9)
    assert best.value > exploitability(tree, tree.uniform).responses.max()


def response_values(tree):
    """What seat 1's best response makes of every pure policy of seat 0."""
    own = np.flatnonzero(tree.seat == 0)
    for chosen in product(*(range(tree.first[i], tree.first[i + 1]) for i in own)):
        policy = np.where(seat_of(tree) == 0, 0.0, tree.uniform)
        policy[[0, *chosen]] = 1
        yield exploitability(tree, policy).responses[1]


def test_best_team_refuses_competitive_games_and_leaves_large_ones_open():
    with pytest.raises(UserError):
        best_team(tree_of(tiny("one action")))
    assert best_team(tree_of(make_variant("hanabi-triples"))) is None


# --- What is given by name


def test_a_tree_may_be_asked_for_by_the_name_of_a_game():
    assert tree_of("hanabi-pairs").variant == make_variant("hanabi-pairs")
    with pytest.raises(UserError, match="no game 'hanabi-pears'"):
        tree_of("hanabi-pears")
    with pytest.raises(UserError, match="not None"):
        tree_of(None)


@pytest.mark.parametrize("policy", ["expert", None])
def test_what_is_no_policy_is_not_tabulated(policy):
    with pytest.raises(UserError, match="load_policy"):
        tabulate(tree_of(tiny("one action")), policy)


# --- What is too large


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:standard", "hanabi:2p"])
def test_a_whole_game_is_refused_before_it_is_walked(id, monkeypatch):
    """The walk would take gigabytes and seconds before it saw the same."""
    monkeypatch.setattr(walk, "Walk", None)
    with pytest.raises(UserError, match="too large"):
        tree_of(make_variant(id))


@pytest.mark.parametrize("name", TINY)
def test_no_tree_that_fits_is_refused_and_none_that_does_not_is_walked(name):
    states = tree_of(tiny(name)).states
    walk.refuse_at_once(tiny(name), states)
    with pytest.raises(UserError, match=r"more than [\d,]+ states") as refused:
        tree_of(tiny(name), states - 1)
    assert states - 1 < counted(refused)


def counted(refused):
    """The number of states that an error names."""
    return int(re.search(r"([\d,]+) states", str(refused.value))[1].replace(",", ""))


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced", "hanabi:5p"])
def test_a_game_that_is_too_large_is_refused_with_its_size_and_a_small_version(id):
    variant = make_variant(id)
    with pytest.raises(UserError, match=r"[\d,]+") as refused:
        tree_of(variant, 10_000)
    named = [small for small in SMALL if small in str(refused.value)]
    assert named
    assert {make_variant(small).game.name for small in named} == {variant.game.name}
