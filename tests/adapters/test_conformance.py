"""The faces keep the promises of the libraries that they belong to."""

import copy
import pickle
import re
import warnings

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

import hanamachi
from hanamachi import (
    IllegalAction,
    UserError,
    geishas_road_v0,
    hanabi_v0,
    hanamikoji_v0,
)
from hanamachi import (
    variant as make_variant,
)
from hanamachi.adapters.aec import AEC, ILLEGAL_REWARD, Referee
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_vector import LEARNER, VectorSeatEnv
from hanamachi.engine.game import OVER, below
from hanamachi.policies import load_policy
from hanamachi.sessions.opponents import RandomPlay
from hanamachi.sessions.record import replay

pytestmark = pytest.mark.uncompiled

SMALL = {"cards": (2, 3, 4), "actions": ("secret", "gift"), "max_rounds": 1, "starter": 0}
VARIANTS = [(id, {}) for id in hanamachi.VARIANTS] + [("hanamikoji", SMALL)]
NAME = "hanamachi/Hanamikoji-v0"
SHORT = {
    "hanamikoji": {"max_rounds": 1},
    "geishas_road:advanced": {"rounds": 1},
    "hanabi:3p": {"colours": 2, "ranks": 3, "hand_size": 2},
}
every = pytest.mark.parametrize("id", SHORT)
rivals = pytest.mark.parametrize(
    "id", [id for id in SHORT if not make_variant(id).game.cooperative]
)


def first_legal(observation, mask):
    return int(np.flatnonzero(mask)[0])


def last_legal(observation, mask):
    return int(np.flatnonzero(mask)[-1])


def play(env, steps, rng=None):
    """Random legal play from where the environment is; returns all that was seen."""
    rng, seen = rng or np.random.default_rng(0), []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, reward, terminated, _, _ = env.last()
        seen.append((env.agent_selection, observation["observation"].tobytes(), reward, terminated))
        env.step(None if terminated else rng.choice(np.flatnonzero(observation["action_mask"])))
    return seen


# --- PettingZoo


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("id", "options"), VARIANTS)
def test_pettingzoo_finds_nothing_to_say_against_it(id, options, capsys):
    api_test(hanamachi.make(id, **options), num_cycles=100)
    seed_test(lambda: hanamachi.make(id, **options), num_cycles=50)


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_every_render_mode_shows_a_frame(id, capsys):
    render_test(lambda render_mode: hanamachi.make(id, render_mode=render_mode))
    assert capsys.readouterr().out


def test_without_a_render_mode_nothing_is_shown_and_a_warning_says_why():
    for env in AEC("hanamikoji"), SeatEnv("hanamikoji"), VectorSeatEnv("hanamikoji"):
        env.reset(seed=1)
        with pytest.warns(UserWarning, match="render"):
            assert env.render() is None


def test_gymnasium_render_modes():
    single = SeatEnv("hanamikoji", render_mode="ansi")
    many = VectorSeatEnv("hanamikoji", 3, render_mode="rgb_array")
    single.reset(seed=1)
    many.reset(seed=1)
    assert isinstance(single.render(), str)
    assert [frame.shape[2] for frame in many.render()] == [3, 3, 3]


@pytest.mark.parametrize(
    "spellings",
    [
        (
            lambda: hanamachi.make("hanamikoji:three_rounds", starter=0),
            lambda: hanamikoji_v0.env(max_rounds=3, starter=0),
            lambda: hanamikoji_v0.raw_env(max_rounds=3, starter=0),
            lambda: pettingzoo.make("aec", "hanamachi/hanamikoji-v0", max_rounds=3, starter=0),
        ),
        (
            lambda: hanamachi.make("geishas_road:standard", rounds=1),
            lambda: geishas_road_v0.env(edition=2022, mode="standard", rounds=1),
            lambda: geishas_road_v0.raw_env(edition=2022, mode="standard", rounds=1),
            lambda: pettingzoo.make(
                "aec", "hanamachi/geishas_road-v0", edition=2022, mode="standard", rounds=1
            ),
        ),
        (
            lambda: hanamachi.make("hanabi:4p:multicolour", max_clues=5),
            lambda: hanabi_v0.env(players=4, multicolour="five", max_clues=5),
            lambda: hanabi_v0.raw_env(players=4, multicolour="five", max_clues=5),
            lambda: pettingzoo.make(
                "aec", "hanamachi/hanabi-v0", players=4, multicolour="five", max_clues=5
            ),
        ),
    ],
    ids=["hanamikoji", "geishas_road", "hanabi"],
)
def test_all_spellings_of_an_environment_are_the_same(spellings):
    spellings = [make() for make in spellings]
    plays = []
    for env in spellings:
        env.reset(seed=5)
        plays.append(play(env, 200))
    assert all(seen == plays[0] for seen in plays)
    assert len({tuple(env.unwrapped.variant.options.items()) for env in spellings}) == 1


@pytest.mark.parametrize(
    ("page", "ids"),
    [
        (hanamikoji_v0.__doc__, ["hanamikoji"]),
        (geishas_road_v0.__doc__, list(hanamachi.GAMES["geishas_road"].variants)),
    ],
    ids=["hanamikoji", "geishas_road"],
)
def test_the_page_of_the_environment_has_its_tables(page, ids):
    for variant in map(make_variant, ids):
        assert re.search(rf"Discrete.*\b{variant.actions.size}\b", page)
        assert re.search(rf"Box.*\b{variant.observation.size}\b", page)
        assert all(option in page for option in variant.options)
    assert variant.observation.markdown() in page


@every
def test_an_agent_that_is_not_to_move_has_an_empty_mask_and_still_observes(id):
    env = AEC(id)
    env.reset(seed=3)
    waiting = next(agent for agent in env.agents if agent != env.agent_selection)
    seen = env.observe(waiting)
    assert seen["action_mask"].dtype == np.int8
    assert not seen["action_mask"].any()
    assert env.observation_space(waiting).contains(seen)
    assert env.observe(env.agent_selection)["action_mask"].any()


@every
def test_looking_does_not_change_anything(id):
    env, other = AEC(id), AEC(id)
    env.reset(seed=3)
    other.reset(seed=3)
    for _ in range(2):
        for agent in env.agents:
            env.observe(agent)["observation"][:] = 9
            env.observe(agent)["action_mask"][:] = 1
    env.state()[:] = 9
    assert play(env, 50) == play(other, 50)


@every
def test_the_global_state_is_what_all_agents_know(id):
    env = AEC(id)
    env.reset(seed=3)
    seen = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert np.array_equal(env.state(), np.concatenate(seen))
    assert env.state_space.contains(env.state())


@rivals
def test_the_rewards_of_a_game_sum_to_zero_and_come_at_its_end(id):
    env = AEC(id, **SHORT[id])
    env.reset(seed=2)
    while not any(env.terminations.values()):
        assert set(env.rewards.values()) == {0.0}
        play(env, 1)
    assert all(env.terminations.values())
    assert sum(env.rewards.values()) == 0
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)


def test_partners_all_get_what_the_score_changes_by_on_the_way():
    env, changes = AEC("hanabi:3p", **SHORT["hanabi:3p"]), set()
    for seed in range(30):
        env.reset(seed=seed)
        told = dict.fromkeys(env.agents, 0)
        while env.agents:
            agent, (seen, reward, terminated, *_) = env.agent_selection, env.last()
            told[agent] += reward
            before = int(env.get_state()["score"])
            env.step(None if terminated else np.flatnonzero(seen["action_mask"])[0])
            if not terminated:
                changes.add(int(env.get_state()["score"]) - before)
                assert list(env.rewards.values()) == [int(env.get_state()["score"]) - before] * 3
        assert set(told.values()) == {env.get_state()["score"]}
    assert {-1, 0, 1} <= changes


# --- Mistakes


@pytest.mark.parametrize(
    ("id", "action", "words"),
    [
        ("hanamikoji", 499, "take 2a"),
        ("geishas_road:advanced", 772, "let the other begin"),
    ],
)
def test_an_illegal_action_is_named_and_leaves_the_game_as_it_was(id, action, words):
    env, size = AEC(id), make_variant(id).actions.size
    env.reset(seed=1)
    before = env.get_state().tobytes()
    sentence = rf"player_\d may not {words} \(action {action}\) now; \d+ actions are legal"
    with pytest.raises(IllegalAction, match=sentence):
        env.step(action)
    with pytest.raises(IllegalAction, match=f"no action {size}: they run from 0 to {size - 1}"):
        env.step(size)
    with pytest.raises(IllegalAction, match="no action -1"):
        env.step(-1)
    with pytest.raises(UserError, match=r"whole number, not 1\.5"):
        env.step(1.5)
    with pytest.raises(UserError, match="must choose an action"):
        env.step(None)
    assert env.get_state().tobytes() == before


def test_under_the_wrappers_an_illegal_action_ends_the_game_at_minus_one():
    env = hanamachi.make("hanamikoji")
    env.reset(seed=1)
    agent = env.agent_selection
    env.step(499)
    assert all(env.terminations.values())
    assert env.rewards == {a: -1.0 if a == agent else 0 for a in env.possible_agents}
    assert not env.observe(agent)["action_mask"].any()


def usual_wrappers(env):
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def legal_action(env, rng):
    mask = env.observe(env.agent_selection)["action_mask"]
    return rng.choice(np.flatnonzero(mask)) if mask.any() else None


def illegal_action(env, rng):
    mask = env.observe(env.agent_selection)["action_mask"]
    return int(rng.choice(np.flatnonzero(mask == 0)))


NAMES = (
    *("agents", "num_agents", "agent_selection", "rewards", "terminations", "truncations"),
    *("infos", "possible_agents", "metadata", "render_mode", "_cumulative_rewards", "_private"),
)
ACTIONS = (-1, 10**30, None, 1.5, "0", np.int8(1), np.uint64(1), np.array(2), np.array([2]))
USES = [
    *(3 * [lambda env, rng: env.reset(seed=int(rng.integers(9)))]),
    *(60 * [lambda env, rng: env.step(legal_action(env, rng))]),
    *(2 * [lambda env, rng: env.step(illegal_action(env, rng))]),
    lambda env, rng: env.step(int(rng.integers(env.action_space("player_0").n + 2)) - 1),
    lambda env, rng: env.step(ACTIONS[rng.integers(len(ACTIONS))]),
    *(5 * [lambda env, rng: env.last(observe=bool(rng.integers(2)))]),
    lambda env, rng: env.observe(env.possible_agents[rng.integers(2)]),
    lambda env, rng: env.observe("player_9"),
    lambda env, rng: next(iter(env.agent_iter())),
    lambda env, rng: list(zip(env.agent_iter(3), range(2), strict=False)),
    lambda env, rng: env.state(),
    lambda env, rng: env.render(),
    lambda env, rng: getattr(env, NAMES[rng.integers(len(NAMES))]),
    lambda env, rng: (str(env), str(env.unwrapped), env.max_num_agents),
    lambda env, rng: env.action_space(env.agent_selection).n,
]


def plain(told):
    """With lists for arrays, so that it can be compared."""
    if isinstance(told, dict):
        return {name: plain(value) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return [plain(value) for value in told]
    return told.tolist() if isinstance(told, np.ndarray) else told


def outcome(env, use, seed):
    """What a use of the environment returns, logs or raises."""
    EnvLogger.flush()
    try:
        told = use(env, np.random.default_rng(seed))
    except Exception as error:
        ours = isinstance(error, UserError)  # PettingZoo's own are given word by word
        told = ("ValueError",) if isinstance(error, ValueError) else (type(error), str(error))
        assert not ours or told == ("ValueError",)
    return told, EnvLogger.mqueue[:]


@pytest.mark.parametrize("id", SHORT)
@pytest.mark.parametrize("seed", range(6))
def test_env_refuses_what_pettingzoos_wrappers_refuse_with_the_same_errors(id, seed, capsys):
    ours, theirs = Referee(AEC(id, **SHORT[id])), usual_wrappers(AEC(id, **SHORT[id]))
    rng, met = np.random.default_rng(seed), set()
    ours.unwrapped.render_mode = theirs.unwrapped.render_mode = "ansi"
    for _ in range(600):
        use, luck = USES[rng.integers(len(USES))], int(rng.integers(2**32))
        told, logged = outcome(ours, use, luck)
        expected, expected_log = outcome(theirs, use, luck)
        assert plain(told) == plain(expected)
        assert logged == expected_log
        met.update(logged or [str(told)])
        if ours._has_reset:
            for name in NAMES[:-1]:
                assert getattr(ours, name) == getattr(theirs, name), name
            for agent in ours.possible_agents:
                assert plain(ours.observe(agent)) == plain(theirs.observe(agent))
    for refusal in ("action is not in action space", "Illegal move", "ValueError"):
        assert any(refusal in told for told in met), refusal


def test_before_reset_env_refuses_everything():
    uses = [lambda env, rng, name=name: getattr(env, name) for name in NAMES]
    for use in (*uses, *USES[3:]):
        ours, theirs = Referee(AEC("hanamikoji")), usual_wrappers(AEC("hanamikoji"))
        assert outcome(ours, use, 1) == outcome(theirs, use, 1)


def test_what_was_handed_out_stays_as_it_was():
    env, held = AEC("hanabi:3p", **SHORT["hanabi:3p"]), []
    env.reset(seed=1)
    while not any(env.terminations.values()):
        seen = env.last()[0]
        held.append((env.rewards, seen, copy.deepcopy((env.rewards, seen))))
        play(env, 1)
    assert any(any(rewards.values()) for rewards, *_ in held)
    for rewards, seen, then in held:
        assert plain((rewards, seen)) == plain(then)


def test_after_the_end_only_none_is_left_and_then_reset():
    env = AEC("hanamikoji", **SMALL)
    with pytest.raises(UserError, match="call reset"):
        env.step(0)
    env.reset(seed=1)
    while not env.terminations[env.agent_selection]:
        play(env, 1)
    with pytest.raises(UserError, match="only step with None"):
        env.step(0)
    env.step(None)
    env.step(None)
    with pytest.raises(UserError, match="call reset"):
        env.step(None)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: hanamachi.make("hanamikouji"), "did you mean hanamikoji"),
        (lambda: hanamachi.make("hanamikoji", max_round=3), "did you mean max_rounds"),
        (lambda: hanamachi.make("hanamikoji", render_mode="rgb"), "did you mean rgb_array"),
        (lambda: SeatEnv("hanamikoji", seat=2), "from 0 to 1, not 2"),
        (lambda: SeatEnv("hanamikoji", opponent=3), r"opponent must have act\("),
        (
            lambda: SeatEnv("hanabi:2p", opponent=load_policy("greedy", "hanabi:5p")),
            "the opponent plays hanabi:5p and cannot play hanabi:2p",
        ),
        (
            lambda: VectorSeatEnv("hanabi:5p", opponent=load_policy("greedy", "hanabi:2p")),
            "the opponent plays hanabi:2p and cannot play hanabi:5p",
        ),
        (lambda: VectorSeatEnv("hanamikoji", 0), "at least 1, not 0"),
        (lambda: VectorSeatEnv("hanamikoji", dtype=np.int16), "float32 or int8, not .*int16"),
        (lambda: SeatEnv("hanamikoji").step(0), "call reset"),
        (lambda: VectorSeatEnv("hanamikoji").step(np.zeros(1, int)), "call reset"),
        (lambda: VectorSeatEnv("hanamikoji").reset(options={"deal": []}), "no options"),
        (lambda: AEC("hanamikoji").reset(seed=-1), "from 0 to"),
        (lambda: AEC("hanamikoji").reset(seed="a"), "whole number"),
        (lambda: SeatEnv("hanamikoji").reset(options={"deals": []}), "did you mean deal"),
        (lambda: AEC("hanamikoji").reset(options={"deal": 3}), "must list outcomes"),
        (lambda: AEC("hanamikoji").reset(options={"deal": [0, 7]}), r"deal\[1\] is 7, .* 0, 1, 2"),
        (lambda: AEC("hanamikoji").set_state(np.zeros(3)), "one record of Hanamikoji"),
        (
            lambda: AEC("hanamikoji").set_state(
                np.zeros((), make_variant("hanamikoji").game.record)
            ),
            "no position",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(call, sentence):
    with pytest.raises(UserError, match=sentence) as error:
        call()
    assert "\n" not in str(error.value)


def test_an_unknown_reset_option_is_ignored_with_a_warning():
    with pytest.warns(UserWarning, match="ignores the option 'deck': it knows only deal and state"):
        AEC("hanamikoji").reset(options={"deck": []})


# --- Deals, positions, copies


def test_a_given_deal_is_dealt():
    deal = [1, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 6]
    env = AEC("hanamikoji")
    env.reset(seed=1, options={"deal": deal})
    state = env.get_state()
    assert state["starter"] == 1
    assert state["dealt"].tolist() == [[0, 0, 0, 3, 3, 0, 0], [2, 2, 2, 0, 0, 0, 0]]
    assert state["drawn"][1, 0] == 6


def test_a_deal_reaches_into_the_draws_and_chance_brings_the_rest():
    deal = [0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 6, 6, 5]
    env = AEC("hanamikoji", starter=0)
    env.reset(seed=1, options={"deal": deal})
    env.step(0)
    env.step(6)
    assert env.get_state()["drawn"].tolist() == [[6, 5, -1, -1], [6, -1, -1, -1]]
    assert len(play(env, 30)) == 30


def test_a_deal_that_turns_out_impossible_leaves_the_game_as_it_was():
    env = AEC("hanamikoji", starter=0)
    env.reset(seed=1, options={"deal": [0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 6, 0]})
    before = env.get_state().tobytes()
    with pytest.raises(UserError, match=r"deal\[13\] is 0, but chance can only bring 5, 6"):
        env.step(0)
    with pytest.raises(IllegalAction):
        env.step(5)
    assert env.get_state().tobytes() == before


@every
def test_the_dealt_game_goes_on_as_the_same_game_by_luck(id):
    env, dealt = AEC(id), AEC(id)
    env.reset(seed=11)
    dealt.reset(seed=11, options={"deal": env.record().chance[:5]})
    assert play(env, 60) == play(dealt, 60)


@every
def test_a_position_can_be_kept_and_gone_back_to(id):
    env = AEC(id)
    env.reset(seed=4)
    play(env, 5)
    state, agent = env.get_state(), env.agent_selection
    first = play(env, 30, np.random.default_rng(1))
    env.set_state(state)
    assert env.agent_selection == agent
    assert play(env, 30, np.random.default_rng(1)) == first
    other = AEC(id)
    other.reset(options={"state": state})
    assert play(other, 30, np.random.default_rng(1)) == first


def test_a_seed_gives_a_position_another_future():
    env = AEC("hanamikoji")
    env.reset(seed=4)
    state, futures = env.get_state(), set()
    for seed in range(8):
        env.reset(seed=seed, options={"state": state})
        assert env.get_state()["hand"].tolist() == state["hand"].tolist()
        play(env, 2)
        futures.add(env.get_state()["drawn"].tobytes())
    assert len(futures) > 1


def test_a_position_at_the_end_is_over_for_all():
    env = AEC("hanamikoji", **SMALL)
    env.reset(seed=1)
    while env.get_state()["mover"] != OVER:
        play(env, 1)
    other = AEC("hanamikoji", **SMALL)
    other.set_state(env.get_state())
    assert all(other.terminations.values())
    assert other.rewards == env.rewards


@every
@pytest.mark.parametrize("make", [hanamachi.make, AEC])
@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_by_itself(id, make, way):
    env = make(id)
    env.reset(seed=4)
    play(env, 5)
    other = way(env)
    assert play(env, 40) == play(other, 40)


@every
def test_a_pickled_single_environment_goes_on_with_its_game(id):
    env = SeatEnv(id, seat=0, opponent=last_legal)
    _, info = env.reset(seed=4)
    other = pickle.loads(pickle.dumps(env))
    for _ in range(5):
        action = first_legal(None, info["action_mask"])
        (seen, _, _, _, info), (also, *_) = env.step(action), other.step(action)
        assert np.array_equal(seen, also)


@every
def test_a_clone_is_independent(id):
    env = AEC(id)
    env.reset(seed=4)
    clone, before = env.clone(), env.get_state().tobytes()
    play(clone, 5)
    assert env.get_state().tobytes() == before != clone.get_state().tobytes()


# --- Gymnasium


@pytest.mark.parametrize(("id", "options"), VARIANTS)
def test_gymnasium_and_stable_baselines_find_nothing_to_say_against_it(id, options):
    from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

    # the checkers draw their actions without looking at masks
    env = gymnasium.make(NAME, game=id, illegal_reward=-1, **options).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter(
            "error"
        )  # the checkers do not look at masks: some actions are illegal
        check_env(env)
        check_for_stable_baselines(env)


def test_an_illegal_action_may_cost_the_game_instead():
    env = SeatEnv("hanamikoji", illegal_reward=-2)
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(499)
    assert (reward, terminated) == (-2.0, True)
    assert not info["action_mask"].any()
    with pytest.raises(UserError, match="call reset"):
        env.step(0)


def test_gymnasium_makes_one_and_many():
    env = gymnasium.make(NAME, seat=0, max_rounds=3)
    envs = gymnasium.make_vec(NAME, num_envs=4, seat=0, max_rounds=3)
    assert isinstance(env.unwrapped, SeatEnv)
    assert isinstance(envs.unwrapped, VectorSeatEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.unwrapped.variant.options["max_rounds"] == 3
    assert gymnasium.make(NAME, game="hanamikoji:eight_suits").unwrapped.variant.id.endswith(
        "suits"
    )


@every
def test_the_learner_sits_where_it_is_told(id):
    seats = make_variant(id).seats
    for seat in range(seats):
        env = SeatEnv(id, seat=seat, opponent=first_legal)
        for seed in range(4):
            env.reset(seed=seed)
            assert env.seat == seat
            assert env.action_masks().any()
    env = SeatEnv(id)
    counts = np.bincount([env.reset(seed=seed) and env.seat for seed in range(200)])
    assert (abs(counts - 200 / seats) < 30).all()


def score_of(env):
    return int(replay(env.record()).games["score"][0])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_learner_is_rewarded_for_all_that_its_partners_earn(players):
    """Also before its first decision; and each step brings what comes before its next one."""
    env, earlier = SeatEnv(f"hanabi:{players}p", strikeout_score="fireworks"), 0
    for seed in range(60):
        _, info = env.reset(seed=seed)
        earlier += score_of(env)
        total, terminated = 0, False
        while not terminated:
            _, reward, terminated, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
            total += reward
            assert total == score_of(env)
    assert earlier > 0


@rivals
def test_the_learner_is_rewarded_for_its_own_result(id):
    rewards = {seat: [] for seat in (0, 1)}
    for seat, results in rewards.items():
        choose = (first_legal, last_legal)
        env = SeatEnv(id, seat=seat, opponent=choose[1 - seat])
        for seed in range(20):
            observation, info = env.reset(seed=seed)
            terminated = False
            while not terminated:
                action = choose[seat](observation, info["action_mask"])
                observation, reward, terminated, _, info = env.step(action)
            results.append(reward)
    assert rewards[0] == [-reward for reward in rewards[1]]
    assert set(rewards[0]) == {-1.0, 1.0}


def test_a_game_that_ends_before_the_learners_first_decision_is_followed_by_another():
    game = AEC("hanamikoji", **SMALL)
    game.reset(seed=1)
    while game.get_state()["mover"] != OVER:
        last = game.get_state()
        play(game, 1)
    assert last["mover"] == 1
    env = SeatEnv("hanamikoji", seat=0, opponent=first_legal, **SMALL)
    _, info = env.reset(options={"state": last})
    assert info["action_mask"].any()
    assert not env.record().actions


def test_an_illegal_action_of_the_learner_or_the_opponent_raises():
    env = SeatEnv("hanamikoji")
    env.reset(seed=1)
    with pytest.raises(IllegalAction, match="may not take"):
        env.step(499)
    envs = VectorSeatEnv("hanamikoji", 3)
    _, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(1)
    actions[1] = 499
    with pytest.raises(IllegalAction, match="the learner chose action 499 in game 1 of 3"):
        envs.step(actions)
    with pytest.raises(UserError, match="3 whole numbers"):
        envs.step(actions[:2])
    with pytest.raises(IllegalAction, match="the opponent chose action -5"):
        SeatEnv("hanamikoji", seat=1, starter=0, opponent=lambda *_: -5).reset(seed=1)


class Remembers:
    """An opponent with memory: the number of its own decisions in this game and seat."""

    def __init__(self):
        self.seen = []

    def initial_memory(self, batch):
        return np.zeros((batch, 1), np.int64)

    def act(self, observation, mask, memory, rng):
        self.seen += memory[:, 0].tolist()
        return mask.argmax(1), memory + 1


def test_an_opponents_memory_begins_anew_with_each_game():
    opponent = Remembers()
    env = SeatEnv("hanamikoji", opponent=opponent, seat=1, starter=0, max_rounds=1)
    games = 5
    for _ in range(games):
        observation, info = env.reset()
        terminated = False
        while not terminated:
            observation, _, terminated, _, info = env.step(
                first_legal(observation, info["action_mask"])
            )
    assert opponent.seen == games * list(range(len(opponent.seen) // games))
    many = Remembers()
    envs = VectorSeatEnv("hanamikoji", 2, opponent=many, seat=1, starter=0, max_rounds=1)
    _, infos = envs.reset()
    while len(many.seen) < 4 * len(opponent.seen) // games:
        infos = envs.step(infos["action_mask"].argmax(1))[4]
    assert sorted(set(many.seen)) == sorted(set(opponent.seen))


@every
def test_many_games_at_once_are_the_same_as_many_environments(id):
    options = {"opponent": last_legal, **SHORT[id]}
    one_by_one = SyncVectorEnv(
        [lambda: SeatEnv(id, **options)] * 5, autoreset_mode=AutoresetMode.SAME_STEP
    )
    together = VectorSeatEnv(id, 5, **options)
    expected, seen = one_by_one.reset(seed=9), together.reset(seed=9)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(60):
        same(expected, seen)
        legal = [np.flatnonzero(mask) for mask in seen[-1]["action_mask"]]
        actions = np.array([rng.choice(row) for row in legal])
        expected, seen = one_by_one.step(actions), together.step(actions)
        ended += seen[2].sum()
    assert ended > 20


def same(expected, seen):
    """Compare two nests of arrays."""
    if isinstance(expected, dict):
        assert expected.keys() == seen.keys()
        for name in expected:
            same(expected[name], seen[name])
    elif expected is None:  # for games that go on
        assert seen is None
    elif isinstance(expected, tuple) or np.asarray(expected).dtype.hasobject:
        assert len(expected) == len(seen)
        for one, other in zip(expected, seen, strict=True):
            same(one, other)
    else:
        assert np.array_equal(expected, seen)
        assert getattr(expected, "dtype", None) == getattr(seen, "dtype", None)


class SameLuck:
    """Plays as compiled random play does in the only game of a batch that is reset with a seed."""

    def __init__(self, seed):
        self.dice = np.zeros(1, LEARNER)
        self.dice["rng"] = np_random(seed)[0].integers(1, 2**64, 1, np.uint64)

    def act(self, observation, mask, memory, rng):
        legal = np.flatnonzero(mask[0])
        return legal[[below(self.dice[0], len(legal))]], memory


@every
@pytest.mark.parametrize("seat", ["random", 1])
def test_compiled_random_play_is_play_by_the_rules(id, seat):
    for seed in range(3):
        compiled = VectorSeatEnv(id, seat=seat, **SHORT[id])
        asked = VectorSeatEnv(id, seat=seat, opponent=SameLuck(seed), **SHORT[id])
        seen, expected = compiled.reset(seed=seed), asked.reset(seed=seed)
        for _ in range(60):
            same(expected, seen)
            actions = expected[-1]["action_mask"].argmax(1)
            seen, expected = compiled.step(actions), asked.step(actions)


@every
def test_random_opponents_play_the_same_again_whatever_the_threads(id):
    plays = []
    for threads in (1, 2):
        envs = VectorSeatEnv(id, 1100, threads=threads, **SHORT[id])
        seen = [envs.reset(seed=3), *(envs.step(envs.sample_actions()) for _ in range(12))]
        seen += [envs.reset(seed=3), *(envs.step(envs.sample_actions()) for _ in range(12))]
        same(tuple(seen[:13]), tuple(seen[13:]))
        plays.append(tuple(seen))
    same(*plays)
    other, _ = VectorSeatEnv(id, 1100, **SHORT[id]).reset(seed=4)
    assert not np.array_equal(other, plays[0][0][0])


def test_sampled_actions_are_legal_and_each_as_likely():
    envs = VectorSeatEnv("hanamikoji", 1, seat=0, starter=0)
    _, infos = envs.reset(seed=1)
    counts = np.bincount([envs.sample_actions()[0] for _ in range(20_000)], minlength=508)
    legal = infos["action_mask"][0] == 1
    assert not counts[~legal].any()
    expected = 20_000 / legal.sum()
    assert (abs(counts[legal] - expected) < 5 * expected**0.5).all()


@pytest.mark.parametrize("opponent", [None, last_legal])
@every
def test_observations_may_come_as_whole_numbers(id, opponent):
    options = {"seat": 0, "opponent": opponent, **SHORT[id]}
    whole, envs = VectorSeatEnv(id, 5, dtype=np.int8, **options), VectorSeatEnv(id, 5, **options)
    units, ended = envs.variant.observation.units, 0
    seen, expected = whole.reset(seed=1), envs.reset(seed=1)
    for _ in range(40):
        assert seen[0].dtype == np.int8
        assert whole.observation_space.contains(seen[0])
        assert (abs(seen[0] - np.minimum(expected[0] * units, 127)) < 0.501).all()
        actions = expected[-1]["action_mask"].argmax(1)
        seen, expected = whole.step(actions), envs.step(actions)
        for row in np.flatnonzero(expected[2]):
            last = np.minimum(expected[-1]["final_obs"][row] * units, 127)
            assert (abs(seen[-1]["final_obs"][row] - last) < 0.501).all()
            ended += 1
    assert ended > 5


@pytest.mark.parametrize("opponent", [None, last_legal])
def test_arrays_of_earlier_steps_are_filled_again_only_on_request(opponent):
    def played(copied):
        envs, held = VectorSeatEnv("hanamikoji", 3, opponent=opponent, copy=copied), []
        held.append(envs.reset(seed=1))
        then = copy.deepcopy(held)
        for _ in range(30):
            held.append(envs.step(held[-1][-1]["action_mask"].argmax(1)))
            then.append(copy.deepcopy(held[-1]))
        return held, then

    held, then = played(True)
    same(tuple(then), tuple(held))
    again, as_seen = played(False)
    same(tuple(then), tuple(as_seen))
    assert all(step[0] is again[0][0] for step in again)


def test_the_random_opponent_chooses_every_legal_action_equally_often():
    mask = np.zeros((6000, 5), np.int8)
    mask[:, [0, 2, 3]] = 1
    actions, _ = RandomPlay().act(mask, mask, mask, np.random.default_rng(0))
    counts = np.bincount(actions, minlength=5)
    assert counts[[1, 4]].tolist() == [0, 0]
    assert (abs(counts[[0, 2, 3]] - 2000) < 200).all()


def test_unmodified_maskable_ppo_learns():
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env(NAME, n_envs=8, env_kwargs={**SMALL, "seat": 0, "opponent": first_legal})
    learner = MaskablePPO(
        "MlpPolicy", envs, n_steps=32, n_epochs=4, batch_size=128, learning_rate=2e-3, seed=0
    )
    before = mean_reward(learner)
    learner.learn(3000)
    assert mean_reward(learner) > before + 0.2


def mean_reward(learner, games=200):
    env = SeatEnv("hanamikoji", seat=0, opponent=first_legal, **SMALL)
    rewards = []
    for seed in range(games):
        observation, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            action, _ = learner.predict(observation, action_masks=info["action_mask"])
            observation, reward, terminated, _, info = env.step(action)
        rewards.append(reward)
    return np.mean(rewards)


def test_actions_can_only_be_sampled_in_a_game():
    with pytest.raises(UserError, match="call reset"):
        VectorSeatEnv("hanamikoji", 3).sample_actions()


def test_what_a_caller_does_to_masks_does_not_matter():
    env = VectorSeatEnv("hanamikoji", 3)
    _, info = env.reset(seed=1)
    legal = info["action_mask"].copy()
    info["action_mask"][:] = 1
    with pytest.raises(IllegalAction):
        env.step(legal.argmin(1))
    info["action_mask"][:] = 0
    env.step(legal.argmax(1))


def test_an_opponent_that_fails_leaves_all_games_as_they_were():
    def fails(observation, mask):
        if waiting:
            raise KeyboardInterrupt
        return int(mask.argmax())

    waiting = []
    one, other = (VectorSeatEnv("hanamikoji", 8, opponent=fails) for _ in range(2))
    actions = [env.reset(seed=3)[1]["action_mask"].argmax(1) for env in (one, other)]
    waiting.append("to fail")
    with pytest.raises(KeyboardInterrupt):
        one.step(actions[0])
    waiting.clear()
    for after, expected in zip(one.step(actions[0])[:3], other.step(actions[1])[:3], strict=True):
        np.testing.assert_array_equal(after, expected)
