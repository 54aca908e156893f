"""The PettingZoo environment: its library's own tests, mistakes, deals, positions, copies."""

import copy
import pickle
import re

import numpy as np
import pettingzoo
import pytest
from environments import (
    SHORT,
    SMALL,
    VARIANTS,
    competitive,
    every,
    play,
)
from messages import assert_one_sentence
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel, wrappers
from pettingzoo.utils.env_logger import EnvLogger

import hanamachi
from hanamachi import IllegalAction, UserError, geishas_road_v0, hanabi_v0, hanamikoji_v0
from hanamachi import variant as make_variant
from hanamachi.adapters.aec import AEC, ILLEGAL_REWARD, CheckedAEC
from hanamachi.engine.contract import OVER

pytestmark = pytest.mark.uncompiled

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


def test_a_seat_s_view_is_rendered_where_one_is_asked_for():
    env, own = (hanamachi.make("hanamikoji", render_mode="ansi", render_seat=n) for n in (None, 1))
    env.reset(seed=0), own.reset(seed=0)
    assert own.render() == env.render(seat=1) != env.render()
    assert own.render(seat=0) == env.render(seat=0)


@pytest.mark.parametrize("seat", [2, -1, True, "0"])
def test_a_seat_to_render_must_exist(seat):
    with pytest.raises(UserError, match="seat to render"):
        hanamachi.make("hanamikoji", render_seat=seat)


def test_without_a_render_mode_nothing_is_shown_and_a_warning_says_why():
    env = AEC("hanamikoji")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render"):
        assert env.render() is None


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


@competitive
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
            before = int(env.get_state().record["score"])
            env.step(None if terminated else np.flatnonzero(seen["action_mask"])[0])
            if not terminated:
                changes.add(int(env.get_state().record["score"]) - before)
                assert (
                    list(env.rewards.values())
                    == [int(env.get_state().record["score"]) - before] * 3
                )
        assert set(told.values()) == {env.get_state().record["score"]}
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
    before = env.get_state()
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
    assert env.get_state() == before


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


def last(env, rng):
    return env.last(observe=bool(rng.integers(2)))


USES = [
    *(3 * [lambda env, rng: env.reset(seed=int(rng.integers(9)))]),
    *(60 * [lambda env, rng: env.step(legal_action(env, rng))]),
    *(2 * [lambda env, rng: env.step(illegal_action(env, rng))]),
    lambda env, rng: env.step(int(rng.integers(env.action_space("player_0").n + 2)) - 1),
    lambda env, rng: env.step(ACTIONS[rng.integers(len(ACTIONS))]),
    *(5 * [last]),
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
        unclear = (KeyError, AttributeError) if use is last else ()  # where no game is in progress
        refused = isinstance(error, (ValueError, *unclear))
        told = ("ValueError",) if refused else (type(error), str(error))
        assert not ours or told == ("ValueError",)
    return told, EnvLogger.mqueue[:]


@pytest.mark.parametrize("id", SHORT)
@pytest.mark.parametrize("seed", range(6))
def test_env_refuses_what_pettingzoos_wrappers_refuse_with_the_same_errors(id, seed, capsys):
    ours, theirs = CheckedAEC(AEC(id, **SHORT[id])), usual_wrappers(AEC(id, **SHORT[id]))
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
        ours, theirs = CheckedAEC(AEC("hanamikoji")), usual_wrappers(AEC("hanamikoji"))
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


@pytest.mark.parametrize("observe", [True, False])
def test_nobody_is_last_where_no_game_is_in_progress(observe):
    for env in AEC("hanamikoji", **SMALL), hanamachi.make("hanamikoji", **SMALL):
        with pytest.raises(UserError, match="call reset"):
            env.last(observe)
        env.reset(seed=1)
        while env.agents:
            play(env, 1)
        with pytest.raises(UserError, match="call reset"):
            env.last(observe)


def test_before_a_game_nothing_is_shown():
    env = AEC("hanamikoji", render_mode="ansi")
    for use in env.render, env.state, env.get_state, env.record, env.worlds:
        with pytest.raises(UserError, match="call reset"):
            use()
    env.reset(seed=1)
    for use in env.render, env.state, env.get_state, env.record, env.worlds:
        use()


def test_a_game_that_was_forfeited_is_shown_as_over_and_not_imagined(capsys):
    env = hanamachi.make("hanamikoji", render_mode="ansi")
    printing = hanamachi.make("hanamikoji", render_mode="human")
    for each in env, printing:
        each.reset(seed=1)
    before = env.render()
    capsys.readouterr()
    for each in env, printing:
        each.step(499)
    assert env.render().splitlines()[:-1] == before.splitlines()
    assert "ended" in env.render().splitlines()[-1]
    assert capsys.readouterr().out == f"{env.render()}\n"
    with pytest.raises(UserError, match="call reset"):
        env.worlds()
    while env.agents:
        env.step(None)
    assert "ended" in env.render().splitlines()[-1]
    env.reset(seed=1)
    assert env.render() == before
    assert len(env.worlds()) == 1


def test_a_game_that_its_rules_have_ended_was_not_forfeited():
    env = AEC("hanamikoji", render_mode="ansi", **SMALL)
    env.reset(seed=1)
    while env.agents:
        play(env, 1)
    assert "illegal" not in env.render()


def test_true_is_no_number():
    env = AEC("hanamikoji")
    with pytest.raises(UserError, match="whole number"):
        env.reset(seed=True)
    env.reset(seed=1)
    for action in True, np.True_:
        with pytest.raises(UserError, match="whole number"):
            env.step(action)


def test_numbers_may_be_of_numpy():
    three = hanabi_v0.raw_env(players=np.int64(3), render_mode="ansi", render_seat=np.int64(2))
    three.reset(seed=1)
    assert three.render() == three.render(np.int32(2)) != three.render(np.uint8(1))
    with pytest.raises(UserError, match="from 0 to 2"):
        three.render(np.int64(3))


def test_an_agent_observes_after_the_end_but_not_before_a_game():
    env = AEC("hanamikoji", **SMALL)
    with pytest.raises(UserError, match="call reset"):
        env.observe("player_0")
    env.reset(seed=1)
    while env.agents:
        play(env, 1)
    assert not env.observe("player_0")["action_mask"].any()
    with pytest.raises(UserError, match="no agent 'player_9'"):
        env.observe("player_9")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: hanamachi.make("hanamikouji"), "did you mean hanamikoji"),
        (lambda: hanamachi.make("hanamikoji", max_round=3), "did you mean max_rounds"),
        (lambda: hanamachi.make("hanamikoji", render_mode="rgb"), "did you mean rgb_array"),
        (lambda: hanamachi.make("hanamikoji", render_mode=[1]), "no render mode"),
        (lambda: AEC("hanamikoji").reset(seed=-1), "from 0 to"),
        (lambda: AEC("hanamikoji").reset(seed="a"), "whole number"),
        (lambda: AEC("hanamikoji").reset(options={"deal": 3}), "must list outcomes"),
        (lambda: AEC("hanamikoji").reset(options={"deal": [0, 7]}), r"deal\[1\] is 7, .* 0, 1, 2"),
        (lambda: AEC("hanamikoji").get_state(), "reset"),
        (lambda: AEC("hanamikoji").set_state(np.zeros(3)), "get_state"),
    ],
)
def test_a_mistake_gets_one_sentence(call, sentence):
    with pytest.raises(UserError, match=sentence) as error:
        call()
    assert_one_sentence(error.value)


def test_an_unknown_reset_option_is_ignored_with_a_warning():
    with pytest.warns(UserWarning, match="ignores the option 'deck': it knows only deal and state"):
        AEC("hanamikoji").reset(options={"deck": []})


# --- Deals, positions, copies


def test_a_given_deal_is_dealt():
    deal = [1, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 6]
    env = AEC("hanamikoji")
    env.reset(seed=1, options={"deal": deal})
    state = env.get_state()
    assert state.record["starter"] == 1
    assert state.record["dealt"].tolist() == [[0, 0, 0, 3, 3, 0, 0], [2, 2, 2, 0, 0, 0, 0]]
    assert state.record["drawn"][1, 0] == 6


def test_a_deal_reaches_into_the_draws_and_chance_brings_the_rest():
    deal = [0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 6, 6, 5]
    env = AEC("hanamikoji", starter=0)
    env.reset(seed=1, options={"deal": deal})
    env.step(0)
    env.step(6)
    assert env.get_state().record["drawn"].tolist() == [[6, 5, -1, -1], [6, -1, -1, -1]]
    assert len(play(env, 30)) == 30


def test_a_deal_that_turns_out_impossible_leaves_the_game_as_it_was():
    env = AEC("hanamikoji", starter=0)
    env.reset(seed=1, options={"deal": [0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 6, 0]})
    before = env.get_state()
    with pytest.raises(UserError, match=r"deal\[13\] is 0, but chance can only bring 5, 6"):
        env.step(0)
    with pytest.raises(IllegalAction):
        env.step(5)
    assert env.get_state() == before


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
        assert env.get_state().record["hand"].tolist() == state.record["hand"].tolist()
        play(env, 2)
        futures.add(env.get_state().record["drawn"].tobytes())
    assert len(futures) > 1


def test_a_position_pays_no_reward_from_before_it():
    env = AEC("hanabi:2p")
    env.reset(seed=4)
    while not any(env.rewards.values()):
        play(env, 1)
    other = AEC("hanabi:2p")
    other.set_state(env.get_state())
    assert not any(other.rewards.values())
    assert other.last()[1] == 0


def test_a_position_at_the_end_is_over_for_all():
    env = AEC("hanamikoji", **SMALL)
    env.reset(seed=1)
    while env.get_state().record["mover"] != OVER:
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


def test_a_referee_stays_with_clones_and_positions():
    env = hanamachi.make("hanamikoji", starter=0)
    env.reset(seed=1)
    other = hanamachi.make("hanamikoji", starter=0)
    other.set_state(env.unwrapped.get_state())
    for copied in (env.clone(), other):
        np.testing.assert_array_equal(copied.last()[0]["observation"], env.last()[0]["observation"])
        copied.step(int(copied.last()[0]["action_mask"].argmin()))  # illegal, so it ends the game
        assert copied.rewards["player_0"] == ILLEGAL_REWARD
    assert not any(env.terminations.values())
    with pytest.raises(UserError):
        other.set_state(3)


@every
def test_a_clone_is_independent(id):
    env = AEC(id)
    env.reset(seed=4)
    clone, before = env.clone(), env.get_state()
    play(clone, 5)
    assert env.get_state() == before != clone.get_state()


@every
def test_all_agents_may_act_at_once_where_a_library_wants_it(id):
    parallel, turns = (hanamachi.make(id, **SHORT[id]) for _ in range(2))
    parallel = turn_based_aec_to_parallel(parallel)
    turns.reset(seed=1)
    seen, _ = parallel.reset(seed=1)
    while parallel.agents:
        assert turns.agent_selection in parallel.agents
        masks = {agent: seen[agent]["action_mask"] for agent in parallel.agents}
        (mover,) = [agent for agent, mask in masks.items() if mask.any()]
        assert mover == turns.agent_selection
        turns.step(masks[mover].argmax())
        seen, rewards, _, _, _ = parallel.step({a: mask.argmax() for a, mask in masks.items()})
        assert rewards == turns.rewards
    assert all(turns.terminations.values())


@pytest.mark.parametrize("agent", ["player_2", "", 0, None, [], {}, ("player_0",)], ids=repr)
def test_only_an_agent_has_spaces(agent):
    env = AEC("hanamikoji")
    for space in (env.observation_space, env.action_space):
        with pytest.raises(UserError, match="no agent"):
            space(agent)
