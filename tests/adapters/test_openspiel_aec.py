"""OpenSpiel's games as PettingZoo environments: the same games, and fit for our learner."""

import copy
import pickle
import re
from collections import Counter
from importlib.metadata import version

import numpy as np
import pyspiel
import pytest
from messages import assert_one_sentence
from pettingzoo.test import api_test, seed_test
from root import ROOT
from samples import WHOLE

from hanamachi.adapters.openspiel_aec import OpenSpielAEC
from hanamachi.errors import IllegalAction, UserError
from hanamachi.training.learner.aec import AECSelfPlayVecEnv

IN_PYTHON = "python_", "chat_game"
NAMES = [
    "kuhn_poker",
    "leduc_poker",
    "kuhn_poker(players=3)",
    "liars_dice(numdice=1)",
    "tiny_hanabi",
    "tic_tac_toe",  # without an information-state tensor, as the next one, which has chance
    "pig(players=3,winscore=20)",
]


def tensor_of(position, seat):
    """The information-state tensor, or else the observation tensor."""
    if position.get_game().get_type().provides_information_state_tensor:
        return position.information_state_tensor(seat)
    return position.observation_tensor(seat)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_pettingzoo_finds_nothing_to_say_against_it(name, capsys):
    api_test(OpenSpielAEC(name), num_cycles=200)
    seed_test(lambda: OpenSpielAEC(name), num_cycles=50)


@pytest.mark.parametrize("name", NAMES)
def test_it_shows_what_openspiel_says_of_the_same_game(name):
    env, rng = OpenSpielAEC(name), np.random.default_rng(0)
    for seed in range(50):
        env.reset(seed=seed)
        total = np.zeros(env.max_num_agents)
        while True:
            position, twin = env.position, env.game.new_initial_state()
            for action in position.history():
                twin.apply_action(action)
            total += [env.rewards[agent] for agent in env.agents]
            for seat, agent in enumerate(env.agents):
                seen = env.observe(agent)
                assert seen["observation"].tolist() == tensor_of(twin, seat)
                legal = twin.legal_actions(seat) if twin.current_player() == seat else []
                assert np.flatnonzero(seen["action_mask"]).tolist() == legal
            if all(env.terminations.values()):
                break
            assert env.agent_selection == f"player_{twin.current_player()}"
            env.step(rng.choice(twin.legal_actions()))
        assert twin.is_terminal()
        assert total.tolist() == twin.returns()


def test_chance_brings_what_openspiel_says_as_often():
    env, dealt = OpenSpielAEC("kuhn_poker"), np.zeros((3, 3))
    for _ in range(3_000):
        env.reset()
        dealt[tuple(env.position.history())] += 1
    assert np.diagonal(dealt).sum() == 0
    np.testing.assert_allclose(dealt[~np.eye(3, dtype=bool)], 500, atol=100)  # five deviations


def test_the_seed_tells_the_deal_and_a_game_without_one_goes_on():
    def deals():
        env = OpenSpielAEC("leduc_poker")
        for seed in [7, None, None, None, None, None]:
            env.reset(seed=seed)
            yield tuple(env.position.history())

    first = list(deals())
    assert first == list(deals())
    assert len(set(first)) > 1


def test_an_illegal_action_leaves_the_game_as_it_was():
    env = OpenSpielAEC("leduc_poker")
    env.reset(seed=0)
    before = env.position.history()
    for action in 0, 3:  # nothing to fold to yet
        with pytest.raises(IllegalAction, match=r"player_0 may not take action .* legal are 1, 2"):
            env.step(action)
    for action in 1.0, True, np.array([1, 2]), "1", None:
        with pytest.raises(UserError, match="action"):
            env.step(action)
    assert env.position.history() == before


def test_after_the_end_only_none_is_left():
    env = OpenSpielAEC("kuhn_poker")
    env.reset(seed=0)
    env.step(0)
    env.step(np.int64(0))
    with pytest.raises(UserError, match="only step with None"):
        env.step(0)
    env.step(None)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_the_learners_batch_of_games_runs_on_it(name):
    batch, rng = AECSelfPlayVecEnv(lambda: OpenSpielAEC(name), 8, seed=0), np.random.default_rng(0)
    batch.reset()
    won = 0
    for _ in range(200):
        noise = rng.random(batch.masks.shape)
        batch.advance((noise * batch.masks).argmax(1))
        assert (batch.rewards[~batch.terminated] == 0).all()
        won += (batch.rewards != 0).sum()
    assert won > 100


def test_a_copy_and_a_pickle_hold_the_game_in_progress():
    env = OpenSpielAEC("leduc_poker")
    env.reset(seed=3)
    env.step(2)
    for twin in copy.deepcopy(env), pickle.loads(pickle.dumps(env)):
        twin.step(1)
        assert twin.position.history() == [*env.position.history(), 1, twin.position.history()[-1]]
    env.step(1)


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        ("poker", "OpenSpiel has no game 'poker'; pyspiel.registered_names"),
        ("leduc_poker(x=1)", "OpenSpiel cannot load 'leduc_poker.x=1.': Unknown parameter 'x'"),
        ("goofspiel", "convert_to_turn_based"),
        ("cribbage", "no tensor"),
        ("crossword", "no tensor"),  # though its type announces one
        ("stones_and_gems", "hides its chance"),
        ("mfg_garnet", "mean-field"),
        ("nfg_game", "cannot load"),
        (5, "by its name"),
    ],
)
def test_a_game_that_does_not_fit_is_refused(game, sentence):
    with pytest.raises(UserError, match=sentence) as refused:
        OpenSpielAEC(game)
    assert_one_sentence(refused.value)


def outcome_of(game):
    """What the adapter makes of a game: which tensor is observed, or that it is refused."""
    try:
        return "recall" if OpenSpielAEC(game).has_perfect_recall else "now"
    except UserError:
        return "refused"


@pytest.fixture(scope="module")
def of_openspiel():
    """The games that OpenSpiel makes by name alone, by whether players take turns.

    Without those in Python, which are there once another test has imported them.
    """
    found = {"SEQUENTIAL": [], "SIMULTANEOUS": [], "MEAN_FIELD": []}
    for kind in pyspiel.registered_games():
        if kind.default_loadable and not kind.short_name.startswith(IN_PYTHON):
            found[kind.dynamics.name].append(kind.short_name)
    return found


def test_every_game_of_openspiel_loads_or_is_refused_as_the_page_says(of_openspiel):
    page = (ROOT / "docs" / "load" / "openspiel.md").read_text(encoding="utf-8")
    loaded, whole, tested = re.search(
        r"loads (\d+) of the (\d+) turn-based games that OpenSpiel ([\d.]+) makes", page
    ).groups()
    outcomes = Counter(map(outcome_of, of_openspiel["SEQUENTIAL"]))
    assert set(map(outcome_of, of_openspiel["MEAN_FIELD"])) == {"refused"}
    if version("open_spiel") != tested:
        pytest.skip(f"the page counts the games of OpenSpiel {tested}")
    recall, now = (int(n) for n in re.findall(r"^\| .*tensor \| (\d+), such", page, re.MULTILINE))
    assert outcomes == {"recall": recall, "now": now, "refused": int(whole) - int(loaded)}
    assert recall + now == int(loaded)


def test_every_game_in_which_players_move_at_once_loads_when_they_take_turns(of_openspiel):
    for name in of_openspiel["SIMULTANEOUS"]:
        assert outcome_of(name) == "refused"
        assert outcome_of(pyspiel.convert_to_turn_based(pyspiel.load_game(name))) != "refused"


@pytest.mark.skipif(not WHOLE, reason="in make verify: it plays every game")
def test_every_game_that_loads_can_be_played(of_openspiel):
    rng = np.random.default_rng(0)
    for name in of_openspiel["SEQUENTIAL"]:
        if outcome_of(name) == "refused":
            continue
        env = OpenSpielAEC(name)
        env.reset(seed=0)
        for _ in range(50):
            for agent in env.agents:
                assert env.observation_space(agent).contains(env.observe(agent)), name
            if all(env.terminations.values()):
                break
            env.step(rng.choice(env.position.legal_actions()))


def test_a_step_without_a_game_is_refused():
    env = OpenSpielAEC("kuhn_poker")
    with pytest.raises(UserError, match="call reset"):
        env.step(0)
    env.reset(seed=0)
    for action in 0, 0, None, None:
        env.step(action)
    with pytest.raises(UserError, match="call reset"):
        env.step(None)


def test_an_agent_observes_after_the_end_but_not_before_a_game():
    env = OpenSpielAEC("kuhn_poker")
    for look in env.last, lambda: env.observe("player_0"):
        with pytest.raises(UserError, match="call reset"):
            look()
    env.reset(seed=0)
    for action in 0, 0, None, None:
        env.step(action)
    with pytest.raises(UserError, match="call reset"):
        env.last()
    assert not env.observe("player_0")["action_mask"].any()
    with pytest.raises(UserError, match="no agent 'player_9'"):
        env.observe("player_9")


def test_options_of_a_reset_are_ignored_with_a_warning():
    with pytest.warns(UserWarning, match="ignores the option 'deal'"):
        OpenSpielAEC("kuhn_poker").reset(options={"deal": [0]})


def test_a_game_that_is_loaded_and_made_turn_based_is_taken():
    game = pyspiel.convert_to_turn_based(pyspiel.load_game("goofspiel(num_cards=3)"))
    env = OpenSpielAEC(game)
    env.reset(seed=0)
    while not all(env.terminations.values()):
        env.step(env.position.legal_actions()[0])
    assert sum(env.rewards.values()) == 0


@pytest.mark.parametrize("agent", ["player_2", "", 0, None, [], {}, ("player_0",)], ids=repr)
def test_only_an_agent_has_spaces(agent):
    env = OpenSpielAEC("leduc_poker")
    for space in (env.observation_space, env.action_space):
        with pytest.raises(UserError, match="no agent"):
            space(agent)
