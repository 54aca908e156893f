"""The Gymnasium environment of one game: one seat learns, an opponent plays the others."""

import io
import pickle
import subprocess
import sys
import warnings
from itertools import repeat

import gymnasium
import numpy as np
import pytest
from environments import (
    NAME,
    SHORT,
    SMALL,
    VARIANTS,
    Remembers,
    competitive,
    every,
    first_legal,
    last_legal,
    play,
)
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, RecordVideo
from messages import assert_one_sentence

import hanamachi
from hanamachi import IllegalAction, UserError
from hanamachi import variant as make_variant
from hanamachi.adapters.aec import AEC
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.adapters.registration import gymnasium_id, one_game
from hanamachi.engine.contract import OVER
from hanamachi.policies import load_policy
from hanamachi.sessions.saved_games import replay
from hanamachi.sessions.session import Session

pytestmark = pytest.mark.uncompiled


@every
def test_a_pickled_single_environment_goes_on_with_its_game(id):
    env = SeatEnv(id, seat=0, opponent=last_legal)
    _, info = env.reset(seed=4)
    other = pickle.loads(pickle.dumps(env))
    for _ in range(5):
        action = first_legal(None, info["action_mask"])
        (seen, _, _, _, info), (also, *_) = env.step(action), other.step(action)
        assert np.array_equal(seen, also)


def test_gymnasium_makes_it_by_its_name():
    env = gymnasium.make(NAME, seat=0, max_rounds=3)
    assert isinstance(env.unwrapped, SeatEnv)
    assert env.unwrapped.variant.options["max_rounds"] == 3
    other = gymnasium.make(NAME, game="hanamikoji:eight_suits")
    assert other.unwrapped.variant.id == "hanamikoji:eight_suits"


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_every_variant_has_an_id_of_its_own(id):
    name = gymnasium_id(id)
    assert gymnasium.make(name).unwrapped.variant.id == id
    assert gymnasium.make_vec(name, 2).unwrapped.variant.id == id
    assert gymnasium.make("hanamachi:" + name, seat=0).unwrapped.seat_wanted == 0


@pytest.mark.parametrize("opponent", ["random", "greedy", "expert", "hanamikoji"])
def test_an_opponent_may_be_named(opponent):
    env = gymnasium.make(NAME, opponent=opponent)
    assert env.unwrapped.opponent.name == opponent
    env.reset(seed=1)
    assert gymnasium.make_vec(NAME, 2, opponent=opponent).unwrapped.opponent.name == opponent


def test_a_gymnasium_id_works_without_an_import_of_ours():
    code = "import gymnasium; print(gymnasium.make('hanamachi:hanamachi/Hanabi3p-v0').reset(seed=1)"
    code += "[0].shape, 'ok')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("ok\n")


@every
def test_spaces_print_on_one_line(id):
    for space in (
        SeatEnv(id).observation_space,
        VectorSeatEnv(id, 3).observation_space,
        VectorSeatEnv(id, 3, dtype=np.int8).single_observation_space,
        *AEC(id).observation_spaces.values(),
        AEC(id).state_space,
    ):
        assert len(repr(space)) < 150
        assert "\n" not in repr(space)
        assert repr(pickle.loads(pickle.dumps(space))) == repr(space)


@pytest.mark.parametrize(
    "reset",
    [
        lambda options: SeatEnv("hanamikoji").reset(options=options),
        lambda options: VectorSeatEnv("hanamikoji", 2).reset(options=options),
        lambda options: AEC("hanamikoji").reset(options=options),
    ],
)
def test_every_adapter_ignores_unknown_options_of_a_reset_with_a_warning(reset):
    with pytest.warns(UserWarning, match="ignores"):
        reset({"\ud800": 1, 3: 4, "options": 1})


@pytest.mark.parametrize(
    ("env", "name", "meant"),
    [
        (SeatEnv("hanamikoji"), "deals", "deal"),
        (AEC("hanamikoji"), "State", "state"),
        (VectorSeatEnv("hanamikoji", 2), "reset_masks", "reset_mask"),
        (VectorSeatEnv("hanamikoji", 2), "resetmask", "reset_mask"),
    ],
)
def test_a_misspelt_option_of_a_reset_is_refused_and_no_game_begins(env, name, meant):
    env.reset(seed=1)
    before = pickle.dumps(env)
    with pytest.raises(UserError, match=f"did you mean {meant}") as error:
        env.reset(seed=2, options={name: np.ones(2, bool)})
    assert_one_sentence(error.value)
    assert pickle.dumps(env) == before


def test_what_a_batch_ignores_it_compares_with_no_option_of_a_single_game():
    with pytest.warns(UserWarning, match="it knows only reset_mask"):
        VectorSeatEnv("hanamikoji", 2).reset(options={"deals": []})


def test_statistics_of_episodes_are_recorded():
    env = RecordEpisodeStatistics(gymnasium.make(NAME, max_rounds=1))
    _, info = env.reset(seed=1)
    total, steps, over = 0, 0, False
    while not over:
        _, reward, over, _, info = env.step(info["action_mask"].argmax())
        total, steps = total + reward, steps + 1
    assert (info["episode"]["r"], info["episode"]["l"]) == (total, steps)


def test_a_video_of_each_game_is_recorded(tmp_path):
    pytest.importorskip("moviepy", reason="no extra installs it")
    env = RecordVideo(
        gymnasium.make(NAME, max_rounds=1, render_mode="rgb_array"), str(tmp_path), lambda _: True
    )
    _, info = env.reset(seed=1)
    over = False
    while not over:
        *_, over, _, info = env.step(info["action_mask"].argmax())
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 0


def test_a_render_mode_gives_the_table_as_text():
    env = SeatEnv("hanamikoji", render_mode="ansi")
    env.reset(seed=1)
    assert isinstance(env.render(), str)


def test_a_seat_s_view_is_rendered_where_one_is_asked_for():
    made = (SeatEnv("hanamikoji", seat=0, render_mode="ansi", render_seat=n) for n in (None, 0))
    env, own = made
    env.reset(seed=0), own.reset(seed=0)
    assert own.render() == env.render(seat=0) != env.render()


@pytest.mark.parametrize("kind", [str, np.ndarray])
def test_frames_are_collected_in_a_list_where_gymnasium_is_asked_to(kind):
    mode = "ansi_list" if kind is str else "rgb_array_list"
    env = gymnasium.make(NAME, render_mode=mode)
    _, info = env.reset(seed=1)
    env.step(info["action_mask"].argmax())
    frames = env.render()
    assert [type(frame) for frame in frames] == [kind, kind]


def test_gymnasium_knows_the_render_modes_before_it_makes_one():
    assert one_game.metadata == SeatEnv.metadata


def test_a_table_is_printed_where_the_output_cannot_encode_all_of_it(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, "ascii", write_through=True))
    SeatEnv("hanamikoji", render_mode="human").reset(seed=1)
    assert rb"Hanamikoji \xb7 round 1" in written.getvalue()


def test_without_a_render_mode_nothing_is_shown_and_a_warning_says_why():
    env = SeatEnv("hanamikoji")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render"):
        assert env.render() is None


def test_an_illegal_action_of_the_learner_or_the_opponent_raises():
    env = SeatEnv("hanamikoji")
    env.reset(seed=1)
    with pytest.raises(IllegalAction, match="may not take"):
        env.step(499)
    with pytest.raises(IllegalAction, match="chose action -5"):
        SeatEnv("hanamikoji", seat=1, starter=0, opponent=lambda *_: -5).reset(seed=1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: SeatEnv("hanamikoji", seat=2), "from 0 to 1, not 2"),
        (lambda: SeatEnv("hanamikoji", opponent=3), r"opponent must have act\("),
        (
            lambda: SeatEnv("hanabi:2p", opponent=load_policy("greedy", "hanabi:5p")),
            "the opponent plays hanabi:5p and cannot play hanabi:2p",
        ),
        (lambda: SeatEnv("hanamikoji").step(0), "call reset"),
        (lambda: SeatEnv("hanamikoji", render_mode="ansi").render(), "call reset"),
        (lambda: SeatEnv("hanamikoji", seat=True), "from 0 to 1, not True"),
        (
            lambda: SeatEnv("hanamikoji", seat=1, starter=0, opponent=lambda *_: 10**30).reset(),
            "<lambda> chose action 1000",
        ),
        (lambda: gymnasium.make(NAME, game=["x"]), "no game"),
        (lambda: SeatEnv("hanamikoji", illegal_reward="lots"), "finite number"),
        (lambda: SeatEnv("hanamikoji", illegal_reward=10**400), "finite number"),
        (
            lambda: SeatEnv("hanamikoji", seat=1, starter=0, opponent=lambda *_: 4.7).reset(),
            "whole",
        ),
        (
            lambda: SeatEnv("hanamikoji", seat=1, starter=0, opponent=lambda *_: None).reset(),
            "whole",
        ),
        (lambda: SeatEnv("hanamikoji", illegal_reward=float("nan")), "finite number"),
        (lambda: SeatEnv("hanamikoji", opponent="gredy"), "did you mean greedy"),
        (lambda: SeatEnv("hanamikoji", opponent="hanabi:2p"), "cannot play hanamikoji"),
        (lambda: gymnasium.make(NAME, game="hanabi:2p"), "Hanabi2p-v0"),
        (lambda: gymnasium.make_vec(NAME, 2, game="hanabi:2p"), "Hanabi2p-v0"),
        (lambda: gymnasium.make("hanamachi/Hanabi3p-v0", game="hanabi:2p"), "Hanabi2p-v0"),
        (lambda: gymnasium.make("hanamachi/Hanabi2p-v0", game="hanamikoji-gifts"), "Hanamikoji-v0"),
    ],
)
def test_a_mistake_gets_one_sentence(call, sentence):
    with pytest.raises(UserError, match=sentence) as error:
        call()
    assert_one_sentence(error.value)


ODD_SEEDS = [-1, 2**64, 10**5_000, 1.5, "3", float("nan"), [1]]


def test_a_seat_may_be_a_number_of_numpy():
    env = SeatEnv("hanamikoji", seat=np.int64(1))
    env.reset(seed=1)
    assert env.seat == 1


@pytest.mark.parametrize("seed", ODD_SEEDS, ids=range(len(ODD_SEEDS)))
def test_a_seed_that_does_not_fit_is_refused_and_the_game_goes_on(seed):
    env = SeatEnv("hanamikoji")
    env.reset(seed=1)
    before = env.np_random.bit_generator.state
    with pytest.raises(UserError, match="seed"):
        env.reset(seed=seed)
    assert env.np_random.bit_generator.state == before
    env.step(env.action_masks().argmax())


def test_options_that_do_not_fit_leave_the_random_numbers_as_they_were():
    env = SeatEnv("hanamikoji")
    env.reset(seed=1)
    before = env.np_random.bit_generator.state
    for options in ({"deal": [-1]}, {"deal": repeat(0)}, {"state": 1}, 5, ["deal"]):
        with pytest.raises(UserError):
            env.reset(seed=2, options=options)
    assert env.np_random.bit_generator.state == before


def states_at_the_end(id):
    """States of a game: the last one in which seat 0 is to move and all later ones."""
    env = AEC(id, **SHORT[id])
    env.reset(seed=3)
    states = []
    while not any(env.terminations.values()):
        if env.agent_selection == "player_0":
            states = []
        states.append(env.get_state())
        env.step(int(env.last()[0]["action_mask"].argmax()))
    return [*states, env.get_state()]


def test_a_state_in_which_the_learner_has_nothing_to_decide_is_refused():
    first, *later = states_at_the_end("hanabi:3p")
    env = SeatEnv("hanabi:3p", seat=0, opponent=first_legal, **SHORT["hanabi:3p"])
    env.reset(options={"state": first})
    assert len(later) > 1
    for state in later:
        with pytest.raises(UserError, match="state"):
            env.reset(options={"state": state})


def test_a_finished_state_leaves_the_game_in_progress():
    *_, finished = states_at_the_end("hanamikoji")
    env = SeatEnv("hanamikoji", **SHORT["hanamikoji"])
    env.reset(seed=1)
    before = env.np_random.bit_generator.state
    with pytest.raises(UserError, match="state"):
        env.reset(seed=2, options={"state": finished})
    assert env.np_random.bit_generator.state == before
    env.step(env.action_masks().argmax())


def test_a_seed_of_numpy_is_the_same_as_one_of_python():
    env = SeatEnv("hanamikoji")
    (ours, _), (numpys, _) = env.reset(seed=3), env.reset(seed=np.int64(3))
    assert (ours == numpys).all()


def test_an_opponents_memory_begins_anew_with_each_game():
    opponent = Remembers()
    env = SeatEnv("hanamikoji", opponent=opponent, seat=1, starter=0, max_rounds=1)
    games = 5
    for _ in range(games):
        observation, info = env.reset()
        terminated = False
        while not terminated:
            action = first_legal(observation, info["action_mask"])
            observation, _, terminated, _, info = env.step(action)
    assert opponent.seen == games * list(range(len(opponent.seen) // games))


@pytest.mark.parametrize(("id", "options"), VARIANTS)
def test_gymnasium_and_stable_baselines_find_nothing_to_say_against_it(id, options):
    from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

    # the checkers draw their actions without looking at masks
    env = gymnasium.make(gymnasium_id(id), illegal_reward=-1, **options).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter(
            "error"
        )  # the checkers do not look at masks: some actions are illegal
        check_env(env)
        check_for_stable_baselines(env)


def failing():
    """An opponent, and a list that makes it fail while there is something in it."""

    def fails(observation, mask):
        if waiting:
            raise KeyboardInterrupt
        return first_legal(observation, mask)

    waiting = []
    return fails, waiting


def test_the_learner_never_moves_for_an_opponent_that_has_failed():
    opponent, waiting = failing()
    env = SeatEnv("hanamikoji", seat=0, starter=0, opponent=opponent)
    env.reset(seed=1)
    waiting.append("to fail")
    with pytest.raises(KeyboardInterrupt):
        env.step(env.action_masks().argmax())
    with pytest.raises(UserError, match="opponent failed"):
        env.step(env.action_masks().argmax())
    waiting.clear()
    env.reset(seed=1)
    env.step(env.action_masks().argmax())


def test_after_an_opponent_has_failed_in_a_reset_no_game_is_in_progress():
    opponent, waiting = failing()
    env = SeatEnv("hanamikoji", seat=1, starter=0, opponent=opponent)
    env.reset(seed=1)
    waiting.append("to fail")
    with pytest.raises(KeyboardInterrupt):
        env.reset(seed=2)
    with pytest.raises(UserError, match="call reset"):
        env.step(env.action_masks().argmax())


def test_what_came_before_the_first_decision_comes_with_a_forfeit():
    def plays_a_card(observation, mask):
        return 5

    env = SeatEnv("hanabi:2p", seat=1, starter=0, opponent=plays_a_card, illegal_reward=-1)
    met = set()
    for seed in range(10):
        env.reset(seed=seed)
        points = env.unwrapped._session.games["rewards"][0, 1]
        assert env.step(499)[1] == points - 1
        met.add(float(points))
    assert met == {0.0, 1.0}


def test_a_game_that_was_forfeited_is_shown_as_over():
    env = SeatEnv("hanamikoji", illegal_reward=-1, render_mode="ansi")
    env.reset(seed=1)
    before = env.render()
    env.step(499)
    assert env.render().splitlines()[:-1] == before.splitlines()
    assert "ended" in env.render().splitlines()[-1]
    env.reset(seed=1)
    assert env.render() == before


def test_of_a_game_that_was_forfeited_nothing_is_imagined():
    env = SeatEnv("hanamikoji", illegal_reward=-1)
    env.reset(seed=1)
    assert len(env.worlds()) == 1
    env.step(499)
    with pytest.raises(UserError, match="call reset"):
        env.worlds()


def test_a_deal_that_leaves_the_learner_nothing_to_decide_is_refused():
    def plays_a_card(observation, mask):
        return 5

    env = SeatEnv("hanabi:2p", seat=1, starter=0, max_errors=1, opponent=plays_a_card)
    with pytest.raises(UserError, match="deal"):
        env.reset(options={"deal": [4, 9, 14, 19, 24, 0, 0, 0, 5, 5]})  # no card of rank 1 to play


def test_what_a_caller_does_to_masks_does_not_matter():
    env = SeatEnv("hanamikoji", seat=0, starter=0, illegal_reward=-1)
    _, info = env.reset(seed=1)
    legal = info["action_mask"].copy()
    info["action_mask"][:] = 0
    env.action_masks()[:] = 0
    np.testing.assert_array_equal(env.action_masks(), legal)


def test_an_illegal_action_leaves_the_mask_that_came_before_it_as_it_was():
    env = SeatEnv("hanamikoji", seat=0, starter=0, illegal_reward=-1)
    _, before = env.reset(seed=1)
    legal = before["action_mask"].copy()
    *_, after = env.step(int(legal.argmin()))
    np.testing.assert_array_equal(before["action_mask"], legal)
    assert not after["action_mask"].any()
    assert not env.action_masks().any()


def test_an_illegal_action_may_cost_the_game_instead():
    env = SeatEnv("hanamikoji", illegal_reward=-2)
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(499)
    assert (reward, terminated) == (-2.0, True)
    assert not info["action_mask"].any()
    with pytest.raises(UserError, match="call reset"):
        env.step(0)


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


@competitive
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


def test_a_game_that_ends_before_the_learners_first_decision_is_followed_by_another(monkeypatch):
    game = AEC("hanamikoji", **SMALL)
    game.reset(seed=1)
    while game.get_state().record["mover"] != OVER:
        last = game.get_state()
        play(game, 1)
    assert last.record["mover"] == 1
    begin, starts = Session.begin, [{"state": last}]

    def begin_near_the_end(session, seed=None, options=None):
        begin(session, seed, starts.pop() if starts else None)

    monkeypatch.setattr(Session, "begin", begin_near_the_end)
    env = SeatEnv("hanamikoji", seat=0, opponent=first_legal, **SMALL)
    _, info = env.reset()
    assert not starts
    assert info["action_mask"].any()
    assert not env.record().actions


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
