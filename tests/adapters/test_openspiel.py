"""Our games in OpenSpiel: the same games, fit for its algorithms, with the memory a seat has."""

import pickle
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyspiel
import pytest
from geishas_road_positions import GeishasRoadHistories
from hanamikoji_positions import HanamikojiHistories
from open_spiel.python import policy
from open_spiel.python.algorithms import (
    expected_game_score,
    exploitability,
    external_sampling_mccfr,
    mcts,
)
from positions import Histories, Node
from samples import UNCOMPILED, WHOLE
from shimmy import OpenSpielCompatibilityV0
from small_games import GIFTS

from hanamachi import VARIANTS, IllegalAction, UserError, variant
from hanamachi.adapters.openspiel import MOST_ROUNDS, load
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.rounds import scored_round
from hanamachi.sessions.moments import Moment
from hanamachi.sessions.session import Session, chance_outcomes

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="trees are large")

ONE_SECRET = {"cards": (2, 1), "actions": ("secret",), "max_rounds": 3}
NOTHING_OFFERED = {"cards": (3, 3), "actions": ("secret", "trade_off"), "max_rounds": 1}
ONE_GIFT = {"cards": (2, 4), "actions": ("gift",), "max_rounds": 2, "starter": 1}
SOLVED = {"cards": (2, 4), "actions": ("gift",), "max_rounds": 1, "starter": 0}
TWO_COLOURS = {"colours": 2, "item_values": (1, 2), "starter": 0}
ROAD_2021 = {**TWO_COLOURS, "actions": ("reveal",), "rounds_to_win": 2, "light": (1,), "dark": ()}
STANDARD = {**TWO_COLOURS, "actions": ("intrigue",), "rounds": 2, "instant_win": 2}
TINY_HANABI = {"colours": 1, "ranks": 2, "hand_size": 1, "max_clues": 1, "max_errors": 1}

SMALL = [
    ("hanamikoji", ONE_SECRET),
    ("hanamikoji", NOTHING_OFFERED),
    ("hanamikoji", ONE_GIFT),
    ("hanamikoji:three_rounds", {"cards": (4, 4), "actions": ("competition",), "starter": 0}),
    ("geishas_road:2021", ROAD_2021),
    ("geishas_road:introductory", {**STANDARD, "actions": ("gift",), "item_values": (1, 2, 3)}),
    ("geishas_road:standard", STANDARD),
    ("hanabi:2p", TINY_HANABI),
    ("hanabi:3p:multicolour", {**TINY_HANABI, "ranks": 3, "starter": 2}),
]
WHOLE_GAMES = [(id, {}) for id in VARIANTS]


# --- OpenSpiel finds nothing wrong


def test_shimmy_keeps_the_variant_that_its_config_names():
    said = {"variant": "hanamikoji:three_rounds", "cards": "[4 4 4 4 4]", "starter": 0}
    env = OpenSpielCompatibilityV0(game_name="python_hanamikoji", config=said)
    game = variant("hanamikoji:three_rounds", cards=(4,) * 5, starter=0)
    for seed in (1, 2):
        env.reset(seed=seed)
        assert env.unwrapped._env.variant is game
        assert env.last()[0].shape == (game.observation.size,)


@pytest.mark.parametrize(("id", "options"), SMALL, ids=str)
def test_small_versions_pass_openspiels_own_test(id, options):
    pyspiel.random_sim_test(load(id, **options), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("name", ["python_hanamikoji", "python_geishas_road", "python_hanabi"])
def test_every_registered_game_passes_openspiels_own_test(name):
    assert name in pyspiel.registered_names()
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=1, serialize=WHOLE, verbose=False)


# --- The same game


def random_states(game: pyspiel.Game, seed: int) -> Iterator[pyspiel.State]:
    """All states of a game at random."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    yield state
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert sum(chances) == pytest.approx(1, abs=1e-12)
            state = state.child(rng.choice(outcomes, p=chances))
        else:
            state = state.child(rng.choice(state.legal_actions()))
        yield state


@pytest.mark.parametrize(("id", "options"), [*SMALL, *WHOLE_GAMES], ids=str)
def test_a_state_is_what_the_engine_makes_of_the_same_outcomes_and_actions(id, options):
    game = load(id, **options)
    states = list(random_states(game, seed=1))
    deal = [e.action for e in states[-1].full_history() if e.player == CHANCE]
    session = Session(game.variant)
    session.begin_dealt(1, deal)
    total = np.zeros(game.num_players())
    for state, following in zip(states, [*states[1:], None], strict=True):
        if state.is_chance_node():
            continue
        total += state.rewards()
        for seat in range(game.num_players()):
            seen, mask = session.observe(seat)
            assert state.observation_tensor(seat) == seen.tolist()
            assert state.information_state_tensor(seat)[: len(seen)] == seen.tolist()
            assert np.flatnonzero(mask).tolist() == state.legal_actions(seat)
        if not state.is_terminal():
            assert state.current_player() == session.mover
            session.step(following.history()[-1])
    assert session.mover == OVER
    assert total.tolist() == states[-1].returns()
    if not game.variant.game.cooperative:
        assert states[-1].returns() == session.rewards()


def test_the_bounds_hold_and_are_reached():
    longest = defaultdict(int)
    for id, options in SMALL:
        game = load(id, **options)
        for seed in range(5):
            events = list(random_states(game, seed))[-1].full_history()
            decisions = sum(event.player >= 0 for event in events)
            longest[id] = max(longest[id], decisions / game.max_game_length())
            assert decisions <= game.max_game_length()
            assert len(events) - decisions <= game.max_chance_nodes_in_history()
    assert longest["hanamikoji"] == 1
    assert min(longest.values()) > 0.2


def test_a_game_without_a_limit_is_broken_off_as_a_draw():
    moment = load("hanamikoji").beginning
    left = moment.left
    assert left == MOST_ROUNDS * 12
    endless = Moment(moment.variant, moment.games, 1, moment.returns)
    while endless.mover != OVER:
        endless = endless.after(possible(endless)[0])
    assert endless.games["mover"][0] != OVER
    assert (endless.left, endless.returns) == (0, (0, 0))


def possible(moment: Moment) -> list[int]:
    if moment.mover == OVER:
        return []
    return moment._outcomes() if moment.mover == CHANCE else moment.legal()


# --- What a seat remembers


class Way(NamedTuple):
    """A moment, the same history by other means, and what each seat saw of earlier rounds."""

    moment: Moment
    node: Node
    earlier: tuple = ((), ())


def ways(histories: Histories) -> Iterator[Way]:
    """Every history of a rule set, chance's part one by one."""
    root = histories.root()
    stack = [Way(load_moment(histories), root)]
    while stack:
        way = stack.pop()
        yield way
        stack.extend(followed(histories, way, event) for event in possible(way.moment))


def load_moment(histories: Histories) -> Moment:
    return load(histories.variant.id, **histories.variant.options).beginning


def followed(histories: Histories, way: Way, event: int) -> Way:
    moment, node = way.moment.after(event), way.node
    if way.moment.mover == CHANCE:
        return Way(moment, histories.resolved(node, event, 1.0), way.earlier)
    after = histories.played(node, event)
    ended = scored_round(histories.variant, node.game, event)
    if ended is None:
        return Way(moment, after, way.earlier)
    secrets = tuple(ended["table"].ravel().tolist())
    earlier = tuple(
        (*seen, view, secrets) for seen, view in zip(way.earlier, after.views, strict=True)
    )
    return Way(moment, after, earlier)


@pytest.mark.parametrize(
    ("kind", "id", "options"),
    [
        (HanamikojiHistories, "hanamikoji", ONE_SECRET),
        (HanamikojiHistories, "hanamikoji", {**NOTHING_OFFERED, "starter": 0}),
        (HanamikojiHistories, "hanamikoji", {**ONE_GIFT, "max_rounds": 1}),
        (GeishasRoadHistories, "geishas_road:2021", {**ROAD_2021, "rounds_to_win": 1}),
        (GeishasRoadHistories, "geishas_road:standard", {**STANDARD, "rounds": 1}),
    ],
    ids=str,
)
def test_an_information_state_is_what_a_seat_has_seen_and_nothing_else(kind, id, options):
    histories = kind(load(id, **options).variant)
    views, texts = defaultdict(set), defaultdict(set)
    for moment, node, earlier in ways(histories):
        if moment.mover >= 0:
            seat = moment.mover
            view, text = (seat, earlier[seat], node.views[seat]), moment.memory(seat).text
            views[text].add(view)
            texts[view].add(text)
    assert {len(found) for found in views.values()} == {1}
    assert {len(found) for found in texts.values()} == {1}
    assert len(texts) > 10


def test_the_tensor_tells_how_earlier_rounds_ended():
    game = load("hanamikoji:three_rounds", starter=0)
    size = game.variant.observation.size
    assert game.information_state_tensor_shape() == [3 * size]
    *_, last = random_states(game, seed=1)
    for seat in range(2):
        rows = np.array(last.information_state_tensor(seat)).reshape(3, size)
        rounds = rows[:, game.variant.observation.slice("round")].argmax(1)
        tiles = rows[:, game.variant.observation.slice("to come")][:, 2:4]
        assert rounds.tolist() == [2, 1, 0]
        assert (tiles == 0).all()


def test_hanabis_memory_never_depends_on_the_own_cards():
    def memories(own: list[int]) -> list[tuple]:
        state = load("hanabi:3p", starter=0).new_initial_state()
        for card in [*own, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24]:
            state = state.child(card)
        told = state.child(12)  # that player 1's cards, 10 to 14, are yellow
        return [
            (told.information_state_string(seat), *told.information_state_tensor(seat))
            for seat in range(3)
        ]

    some, others = memories([0, 1, 2, 3, 4]), memories([9, 8, 7, 6, 5])
    assert [a == b for a, b in zip(some, others, strict=True)] == [True, False, False]


# --- OpenSpiel's algorithms


def test_cfr_plus_goes_to_equilibrium():
    tree = pyspiel.convert_to_cached_tree(load("hanamikoji", **SOLVED))
    before = pyspiel.nash_conv(tree, pyspiel.UniformRandomPolicy(tree))
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    assert before > 0.1
    assert pyspiel.nash_conv(tree, solver.average_policy()) < before / 50


def test_python_and_compiled_best_responses_agree():
    game = load("hanamikoji", **SOLVED)
    uniform = policy.UniformRandomPolicy(game)
    found = exploitability.nash_conv(game, uniform, use_cpp_br=False)
    assert found == pytest.approx(
        exploitability.nash_conv(game, uniform, use_cpp_br=True), abs=1e-9
    )


def test_monte_carlo_cfr_learns():
    game = load("hanamikoji", **SOLVED)
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    np.random.seed(1)  # noqa: NPY002  OpenSpiel's solver draws from it
    for _ in range(100):
        solver.iteration()
    learned = exploitability.nash_conv(game, solver.average_policy())
    assert learned < exploitability.nash_conv(game, policy.UniformRandomPolicy(game)) / 2


def test_tree_search_plays_a_whole_game():
    game = load("hanamikoji", **SOLVED)
    rng = np.random.RandomState(0)
    bot = mcts.MCTSBot(game, 2, 30, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    state = game.new_initial_state()
    while not state.is_terminal():
        by_chance = state.is_chance_node()
        state.apply_action(state.legal_actions()[0] if by_chance else bot.step(state))
    assert sum(state.returns()) == 0


def test_hanabi_is_shared_and_random_play_makes_what_it_makes():
    game = load("hanabi:2p", **TINY_HANABI)
    uniform = policy.UniformRandomPolicy(game)
    mine, yours = expected_game_score.policy_value(game.new_initial_state(), [uniform, uniform])
    assert mine == pytest.approx(yours)
    assert mine == pytest.approx(mean_score(game.beginning))
    assert 0 < mine < game.max_utility() == 2


def mean_score(moment: Moment) -> float:
    """Of random play, by the engine alone."""
    if moment.mover == OVER:
        return moment.returns[0]
    if moment.mover == CHANCE:
        branches = chance_outcomes(moment.variant, moment.games)
    else:
        branches = [(action, 1 / len(moment.legal())) for action in moment.legal()]
    return sum(chance * mean_score(moment.after(event)) for event, chance in branches)


@pytest.mark.skipif(not WHOLE, reason="the tree has 185,752 histories")
def test_the_figures_of_a_small_hanamikoji():
    game = load("hanamikoji", **GIFTS, starter=0)
    tree = pyspiel.convert_to_cached_tree(game)
    sets = pyspiel.UniformRandomPolicy(tree)
    assert pyspiel.nash_conv(tree, sets) == pytest.approx(1.0103, abs=5e-5)
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    value = pyspiel.expected_returns(tree.new_initial_state(), average, -1, True)
    assert value == pytest.approx([0.03214, -0.03214], abs=1e-4)
    assert pyspiel.nash_conv(tree, average) < 0.001


# --- Parameters


@pytest.mark.parametrize(("id", "options"), [*SMALL, *WHOLE_GAMES], ids=str)
def test_options_become_parameters_and_parameters_options(id, options):
    game = load(id, **options)
    assert (game.variant.id, game.variant.options) == (id, variant(id, **options).options)
    for twin in pyspiel.load_game(str(game)), pickle.loads(pickle.dumps(game)):
        assert str(twin) == str(game)
        assert (twin.variant.id, twin.variant.options) == (id, game.variant.options)


def test_a_small_version_may_be_named():
    game = load("hanamikoji-gifts", max_rounds=2)
    small = variant("hanamikoji-gifts", max_rounds=2)
    assert game.variant.options == small.options
    assert pyspiel.load_game(str(game)).variant.options == small.options


def test_parameters_alone_choose_the_variant():
    four = pyspiel.load_game("python_hanabi(players=4,colours=3)")
    assert (four.num_players(), four.variant.id) == (4, "hanabi:4p")
    assert four.variant.options["hand_size"] == 4
    small = pyspiel.load_game(
        "python_hanamikoji", {"cards": "[2, 3, 4]", "max_rounds": 2, "actions": "[secret]"}
    )
    assert small.variant.options["cards"] == (2, 3, 4)


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        ("python_hanamikoji(starter=2)", "starter must be 'random' or 0 or 1, not 2"),
        ("python_hanamikoji(cards=[1 2])", "cards"),
        ("python_hanamikoji(cards=some)", "cards must list"),
        ("python_hanamikoji(variant=hanamikoji:two)", "did you mean hanamikoji"),
        ("python_geishas_road(rounds=1)", "no option of"),
        ("python_hanabi(players=6)", "no variant of Hanabi"),
        ("python_hanabi(players=3,variant=hanabi:2p)", "leave out"),
        ("python_geishas_road(rounds=2,instant_win=4)", "no option of geishas_road:2021"),
        ("python_geishas_road(counter_own=yes)", "no option of"),
        ("python_hanamikoji(fifth_suit=moon)", "no option of hanamikoji"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_in_one_sentence(game, sentence):
    with pytest.raises(UserError, match=sentence):
        pyspiel.load_game(game)


@pytest.mark.parametrize("value", [True, False])
def test_true_and_false_reach_the_variants_that_have_the_option(value):
    game = load("geishas_road:advanced", counter_own=value, tiebreaker_alone_wins=value)
    again = pyspiel.load_game(str(game)).variant
    assert again is variant("geishas_road:advanced", counter_own=value, tiebreaker_alone_wins=value)


def test_a_games_string_names_no_option_that_was_not_given():
    for name in ("hanamikoji", "geishas_road", "hanabi"):
        assert str(pyspiel.load_game(f"python_{name}")) == f"python_{name}()"
    given = "python_geishas_road(rounds=2,variant=geishas_road:standard)"
    assert str(pyspiel.load_game(given)) == given


def test_what_openspiel_cannot_say_is_refused():
    with pytest.raises(UserError, match="None"):
        load("hanamikoji:three_rounds", max_rounds=None)


def test_chance_has_no_outcomes_while_a_seat_is_to_move():
    state = load("hanamikoji", **SOLVED).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    assert state.current_player() in (0, 1)
    assert state.chance_outcomes() == []


def test_an_action_that_is_not_legal_is_refused():
    state = load("hanamikoji", **SOLVED).new_initial_state()
    with pytest.raises(IllegalAction, match="cannot come now"):
        state.apply_action(6)


def test_a_copy_goes_its_own_way():
    state = load("hanamikoji", **SOLVED).new_initial_state()
    twin = state.clone()
    twin.apply_action(0)
    assert (state.history(), twin.history()) == ([], [0])
    assert state.moment is twin.moment.before


def test_an_observer_of_more_or_less_than_one_seat_does_not_exist():
    game = load("hanamikoji", **SOLVED)
    public = pyspiel.IIGObservationType(True, False, pyspiel.PrivateInfoType.NONE)
    assert game.make_py_observer(public) is None
    assert game.make_py_observer().tensor.shape == (game.variant.observation.size,)


@pytest.mark.parametrize("player", [-4, -1, 2, 10**6, 1.5, None])
def test_an_observer_refuses_players_who_do_not_exist(player):
    game = load("hanamikoji", **SOLVED)
    observer, state = game.make_py_observer(), game.new_initial_state()
    for look in (observer.set_from, observer.string_from):
        with pytest.raises(UserError, match="from 0 to 1"):
            look(state, player)


def test_an_observer_refuses_the_states_of_another_game():
    other = load("geishas_road:standard").new_initial_state()
    with pytest.raises(UserError, match="another game"):
        load("hanamikoji", **SOLVED).make_py_observer().set_from(other, 0)
