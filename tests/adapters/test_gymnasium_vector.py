"""The Gymnasium environment of many games is the same as many environments, and faster."""

import copy

import gymnasium
import numpy as np
import pytest
from environments import (
    NAME,
    SHORT,
    Remembers,
    every,
    last_legal,
)
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import HumanRendering, RecordEpisodeStatistics
from messages import assert_one_sentence
from samples import WHOLE

from hanamachi import IllegalAction, UserError
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv, checked_threads
from hanamachi.engine import memory
from hanamachi.engine.entries import int8_rows
from hanamachi.engine.kernels import LEARNER
from hanamachi.engine.random_numbers import below
from hanamachi.engine.threads import processors
from hanamachi.policies import load_policy

pytestmark = pytest.mark.uncompiled


def test_gymnasium_makes_it_by_its_name():
    envs = gymnasium.make_vec(NAME, num_envs=4, seat=0, max_rounds=3)
    assert isinstance(envs.unwrapped, VectorSeatEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.unwrapped.variant.options["max_rounds"] == 3


def test_a_render_mode_gives_a_picture_of_each_table():
    envs = VectorSeatEnv("hanamikoji", 3, render_mode="rgb_array")
    envs.reset(seed=1)
    assert [frame.shape[2] for frame in envs.render()] == [3, 3, 3]


def test_a_viewer_of_gymnasiums_knows_how_fast_to_show_the_tables():
    envs = VectorSeatEnv("hanamikoji", 3, render_mode="rgb_array")
    assert HumanRendering(envs).metadata["render_fps"] == 1


def test_without_a_render_mode_nothing_is_shown_and_a_warning_says_why():
    env = VectorSeatEnv("hanamikoji")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render"):
        assert env.render() is None


def test_an_illegal_action_of_the_learner_or_the_opponent_raises():
    envs = VectorSeatEnv("hanamikoji", 3)
    _, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(1)
    actions[1] = 499
    with pytest.raises(IllegalAction, match="the learner chose action 499 in game 1 of 3"):
        envs.step(actions)
    with pytest.raises(UserError, match="3 whole numbers"):
        envs.step(actions[:2])
    with pytest.raises(IllegalAction, match="chose action -5"):
        VectorSeatEnv("hanamikoji", 3, seat=1, starter=0, opponent=lambda *_: -5).reset(seed=1)


@pytest.mark.parametrize("copy", [True, False])
def test_masks_that_a_caller_changes_allow_no_illegal_action(copy):
    envs = VectorSeatEnv("hanamikoji", 3, copy=copy)
    masks = envs.reset(seed=1)[1]["action_mask"]
    illegal = masks.argmin(1)
    masks[:] = 1
    with pytest.raises(IllegalAction):
        envs.step(illegal)


def begun():
    envs = VectorSeatEnv("hanamikoji", 2)
    envs.reset(seed=1)
    return envs


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: VectorSeatEnv("hanabi:5p", opponent=load_policy("greedy", "hanabi:2p")),
            "the opponent plays hanabi:2p and cannot play hanabi:5p",
        ),
        (lambda: VectorSeatEnv("hanamikoji", 0), "num_envs .* not 0"),
        (lambda: VectorSeatEnv("hanamikoji", True), "num_envs .* not True"),
        (lambda: VectorSeatEnv("hanamikoji", copy="no"), "copy must be True or False"),
        (lambda: VectorSeatEnv("hanamikoji").worlds(), "call reset"),
        (lambda: VectorSeatEnv("hanamikoji", dtype=np.int16), "float32 or int8, not .*int16"),
        (lambda: VectorSeatEnv("hanamikoji", dtype=np.zeros(3)), "float32 or int8"),
        (lambda: VectorSeatEnv("hanamikoji", render_mode=np.zeros(3)), "no render mode"),
        (lambda: VectorSeatEnv("hanamikoji").step(np.zeros(1, int)), "call reset"),
        (lambda: VectorSeatEnv("hanamikoji").reset(options={"deal": []}), "no options"),
        (lambda: VectorSeatEnv("hanamikoji", autoreset_mode="Never"), "SAME_STEP"),
        (lambda: VectorSeatEnv("hanamikoji", opponent="gredy"), "mean greedy"),
        (lambda: gymnasium.make_vec(NAME, 2, illegal_reward=-1), "sync"),
        (lambda: VectorSeatEnv("hanamikoji", 2).reset(seed=[1]), "must have 2, not 1"),
        *(
            (lambda mask=mask: begun().reset(options={"reset_mask": mask}), "reset_mask")
            for mask in ([True, False], np.ones(3, np.bool_), np.zeros(2, np.bool_), np.ones(2))
        ),
        (
            lambda: VectorSeatEnv("hanamikoji", 2).reset(
                options={"reset_mask": np.array([True, False])}
            ),
            "first reset",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(call, sentence):
    with pytest.raises(UserError, match=sentence) as error:
        call()
    assert_one_sentence(error.value)


ODD_SEEDS = [-1, 2**64, 10**5_000, 1.5, "3", float("nan"), [1], [1, [2, 3]], (None, [1])]


@pytest.mark.parametrize("seed", ODD_SEEDS, ids=range(len(ODD_SEEDS)))
def test_a_seed_that_does_not_fit_is_refused_and_the_game_goes_on(seed):
    env = VectorSeatEnv("hanamikoji", 2)
    env.reset(seed=1)
    before = env.np_random.bit_generator.state
    with pytest.raises(UserError, match="seed"):
        env.reset(seed=seed)
    assert env.np_random.bit_generator.state == before
    env.step(env.sample_actions())


ODD_SIZES = [0, -1, 1.5, "3", None, 2**62, 10**30, 10**5_000]


@pytest.mark.parametrize("size", ODD_SIZES, ids=range(len(ODD_SIZES)))
def test_a_number_of_games_that_cannot_be_is_refused(size):
    with pytest.raises(UserError, match="num_envs") as error:
        VectorSeatEnv("hanamikoji", size)
    assert_one_sentence(error.value)


ODD_THREADS = ["3", 1.5, -1, 10**9, 10**5_000, [1], float("nan")]


def test_no_threads_are_as_many_as_there_are_processors():
    assert checked_threads(0) == processors()
    assert checked_threads(None) is None


@pytest.mark.parametrize("threads", ODD_THREADS, ids=range(len(ODD_THREADS)))
def test_a_number_of_threads_that_cannot_be_is_refused(threads):
    with pytest.raises(UserError, match="threads") as error:
        VectorSeatEnv("hanamikoji", 2, threads=threads)
    assert_one_sentence(error.value)


def test_more_games_than_fit_into_memory_are_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 1 << 20)
    VectorSeatEnv("hanamikoji", 100)
    with pytest.raises(UserError, match="1,000 games"):
        VectorSeatEnv("hanamikoji", 1_000)


def test_the_last_seed_is_that_of_the_last_game():
    envs = VectorSeatEnv("hanamikoji", 4)
    envs.reset(seed=2**64 - 4)
    with pytest.raises(UserError, match="seed"):
        envs.reset(seed=2**64 - 3)


def test_an_opponents_memory_begins_anew_with_each_game():
    opponent = Remembers()
    envs = VectorSeatEnv("hanamikoji", 2, opponent=opponent, seat=1, starter=0, max_rounds=1)
    _, infos = envs.reset()
    decisions = 6  # of the opponent in each game: four actions and two answers
    while len(opponent.seen) < 4 * decisions:
        infos = envs.step(infos["action_mask"].argmax(1))[4]
    assert sorted(set(opponent.seen)) == list(range(decisions))


@every
@pytest.mark.parametrize("mode", AutoresetMode)
def test_many_games_at_once_are_the_same_as_many_environments(id, mode):
    options = {"opponent": last_legal, **SHORT[id]}
    one_by_one = SyncVectorEnv([lambda: SeatEnv(id, **options)] * 5, autoreset_mode=mode)
    together = VectorSeatEnv(id, 5, autoreset_mode=mode, **options)
    expected, seen = one_by_one.reset(seed=[9, 3, 5, 9, 2]), together.reset(seed=[9, 3, 5, 9, 2])
    rng, ended = np.random.default_rng(0), 0
    for _ in range(60):
        same(expected, seen)
        masks = seen[-1]["action_mask"]
        over = ~masks.any(1)
        if mode is AutoresetMode.DISABLED and over.any():
            asked = {"reset_mask": over}
            (begun, infos), (ours, _) = (
                one_by_one.reset(options=dict(asked)),
                together.reset(options=asked),
            )
            same(begun, ours)
            masks = np.where(over[:, None], infos["action_mask"], masks)
            over[:] = False
        legal = [np.flatnonzero(mask) if mask.any() else [0] for mask in masks]
        actions = np.array([rng.choice(row) for row in legal])
        expected, seen = one_by_one.step(actions), together.step(actions)
        ended += seen[2].sum()
    assert ended > 15


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("opponent", [None, last_legal, "greedy"])
def test_a_part_of_the_games_can_be_reset_and_the_others_stay(mode, opponent):
    envs = VectorSeatEnv("hanamikoji", 4, seat=0, opponent=opponent, autoreset_mode=mode)
    first, infos = envs.reset(seed=1)
    before, *_, infos = envs.step(infos["action_mask"].argmax(1))
    part = np.array([True, False, False, True])
    after, infos = envs.reset(seed=[1, None, None, 4], options={"reset_mask": part})
    assert np.array_equal(after[~part], before[~part])
    if opponent is None:
        assert not np.array_equal(after[part], before[part])
    else:
        assert np.array_equal(after[part], first[part])
    envs.step(infos["action_mask"].argmax(1))


@pytest.mark.parametrize("copy", [True, False])
def test_what_a_caller_writes_into_its_arrays_changes_no_game(copy):
    envs = VectorSeatEnv("hanamikoji", 4, seat=0, copy=copy)
    untouched = VectorSeatEnv("hanamikoji", 4, seat=0)
    seen, infos = envs.reset(seed=1)
    seen *= 10
    infos["action_mask"][:] = 1
    untouched.reset(seed=1)
    part = {"reset_mask": np.array([True, False, False, True])}
    expected = untouched.reset(seed=5, options=part)
    same(envs.reset(seed=5, options=part), expected)
    wrong = expected[1]["action_mask"].argmax(1)
    wrong[1] = expected[1]["action_mask"][1].argmin()
    with pytest.raises(IllegalAction):
        envs.step(wrong)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_who_locks_or_reshapes_an_array_harms_no_game(mode):
    how = {"seat": 0, "copy": False, "autoreset_mode": mode}
    ours, others = (VectorSeatEnv("hanamikoji", 4, **how) for _ in range(2))
    got, expected = ours.reset(seed=1), others.reset(seed=1)
    for _ in range(20):
        actions = expected[-1]["action_mask"].argmax(1)
        for array in (*got[:-1], got[-1]["action_mask"]):
            array.setflags(write=False)
            array.shape = array.shape[::-1]
        got, expected = ours.step(actions), others.step(actions)
        same(got, expected)


def test_a_list_of_seeds_is_the_same_as_the_number_it_begins_with():
    envs = VectorSeatEnv("hanamikoji", 3)
    same(envs.reset(seed=7), envs.reset(seed=[7, 8, 9]))


def test_games_that_are_over_wait_for_a_reset_where_autoreset_is_disabled():
    envs = VectorSeatEnv("hanamikoji", 2, autoreset_mode="Disabled", max_rounds=1)
    _, infos = envs.reset(seed=1)
    over = np.zeros(2, np.bool_)
    while not over.any():
        *_, over, _, infos = envs.step(infos["action_mask"].argmax(1))
    with pytest.raises(UserError, match="reset_mask"):
        envs.step(envs.action_space.sample())
    _, infos = envs.reset(options={"reset_mask": over})
    assert infos["action_mask"].any(1).all()


def test_sampled_actions_skip_games_that_are_over():
    envs = VectorSeatEnv("hanamikoji", 3, autoreset_mode=AutoresetMode.NEXT_STEP, max_rounds=1)
    envs.reset(seed=1)
    ended = sum(envs.step(envs.sample_actions())[2].sum() for _ in range(60))
    assert ended > 10


def test_gymnasium_chooses_the_mode_and_the_kind_of_vectorisation():
    ours = gymnasium.make_vec(NAME, 2, autoreset_mode="NextStep", opponent="greedy")
    theirs = gymnasium.make_vec(
        NAME, 2, "sync", vector_kwargs={"autoreset_mode": "NextStep"}, opponent="greedy"
    )
    assert isinstance(theirs, SyncVectorEnv)
    for envs in (ours, theirs):
        assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    same(ours.reset(seed=3)[0], theirs.reset(seed=3)[0])
    assert VectorSeatEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_statistics_of_episodes_are_recorded():
    envs = RecordEpisodeStatistics(gymnasium.make_vec(NAME, 4, max_rounds=1))
    _, infos = envs.reset(seed=1)
    episodes = []
    while len(episodes) < 8:
        _, rewards, over, _, infos = envs.step(infos["action_mask"].argmax(1))
        for row in np.flatnonzero(over):
            assert infos["episode"]["r"][row] == rewards[row]
            episodes.append(infos["episode"]["l"][row])
    assert min(episodes) > 1


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
@pytest.mark.parametrize("id", SHORT if WHOLE else ["hanamikoji"])  # all is compiled for it
def test_observations_may_come_as_whole_numbers(id, opponent):
    options = {"seat": 0, "opponent": opponent, **SHORT[id]}
    whole, envs = VectorSeatEnv(id, 5, dtype=np.int8, **options), VectorSeatEnv(id, 5, **options)
    units, ended = envs.variant.observation.units, 0
    seen, expected = whole.reset(seed=1), envs.reset(seed=1)
    for _ in range(40):
        assert seen[0].dtype == np.int8
        assert whole.observation_space.contains(seen[0])
        assert (seen[0] == int8_rows(expected[0], units)).all()
        actions = expected[-1]["action_mask"].argmax(1)
        seen, expected = whole.step(actions), envs.step(actions)
        for row in np.flatnonzero(expected[2]):
            last = int8_rows(expected[-1]["final_obs"][row], units)
            assert (seen[-1]["final_obs"][row] == last).all()
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
    assert all(np.shares_memory(step[0], again[0][0]) for step in again)


def test_games_in_progress_have_worlds_while_others_are_over():
    envs = VectorSeatEnv("hanabi:2p", 8, autoreset_mode="NextStep")
    envs.reset(seed=1)
    over = np.zeros(8, bool)
    while not over.any():
        *_, over, _, _ = envs.step(envs.sample_actions())
    worlds = envs.worlds()
    for row in range(8):
        if over[row]:
            with pytest.raises(UserError, match=f"row {row} is over"):
                worlds.sample(row, [1, 2])
        else:
            assert len(worlds.sample(row, [1, 2])) == 2
    assert not over.all()


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


def opponent_that_may_fail():
    """A list, and an opponent that fails while something is in it."""
    waiting = []

    def fails(observation, mask):
        if waiting:
            raise KeyboardInterrupt
        return int(mask.argmax())

    return waiting, fails


def test_an_opponent_that_fails_leaves_all_games_as_they_were():
    waiting, fails = opponent_that_may_fail()
    one, other = (VectorSeatEnv("hanamikoji", 8, opponent=fails) for _ in range(2))
    actions = [env.reset(seed=3)[1]["action_mask"].argmax(1) for env in (one, other)]
    worlds = one.worlds()
    waiting.append("to fail")
    with pytest.raises(KeyboardInterrupt):
        one.step(actions[0])
    assert worlds.due
    np.testing.assert_array_equal(worlds.sample(0, [1]), one.worlds().sample(0, [1]))
    waiting.clear()
    for after, expected in zip(one.step(actions[0])[:3], other.step(actions[1])[:3], strict=True):
        np.testing.assert_array_equal(after, expected)


def test_after_an_opponent_has_failed_in_a_reset_nothing_can_be_played():
    waiting, fails = opponent_that_may_fail()
    envs = VectorSeatEnv("hanabi:2p", 8, opponent=fails, seat=1)
    _, info = envs.reset(seed=3)
    waiting.append("to fail")
    with pytest.raises(KeyboardInterrupt):
        envs.reset(seed=4)
    with pytest.raises(UserError, match="call reset"):
        envs.step(info["action_mask"].argmax(1))
    waiting.clear()
    _, info = envs.reset(seed=4)
    envs.step(info["action_mask"].argmax(1))


def test_an_opponent_that_fails_in_a_reset_of_some_games_leaves_all_as_they_were():
    waiting, fails = opponent_that_may_fail()
    how = {"opponent": fails, "seat": 1, "starter": 0}
    one, other = (VectorSeatEnv("hanabi:2p", 4, **how) for _ in range(2))
    actions = [env.reset(seed=3)[1]["action_mask"].argmax(1) for env in (one, other)]
    waiting.append("to fail")
    with pytest.raises(KeyboardInterrupt):
        one.reset(seed=99, options={"reset_mask": np.array([True, True, False, False])})
    waiting.clear()
    for _ in range(30):  # the cards that are drawn, too
        (seen, *_, infos), (expected, *_) = one.step(actions[0]), other.step(actions[0])
        np.testing.assert_array_equal(seen, expected)
        actions[0] = infos["action_mask"].argmax(1)


def test_games_that_have_not_begun_are_not_shown():
    with pytest.raises(UserError, match="call reset"):
        VectorSeatEnv("hanamikoji", 2, render_mode="ansi").render()


def test_many_tables_are_not_printed():
    with pytest.raises(UserError, match="render mode"):
        VectorSeatEnv("hanamikoji", 2, render_mode="human")


CLOSES = """
from pathlib import Path
from hanamachi.policies.rules.rule_policy import RandomPolicy

class Closes(RandomPolicy):
    def close(self):
        Path(__file__).with_name("closed").touch(exist_ok=False)
"""


def test_an_opponent_given_by_its_name_is_closed_once(tmp_path, monkeypatch):
    (tmp_path / "closes.py").write_text(CLOSES, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    envs = VectorSeatEnv("hanamikoji", 2, opponent="closes:Closes")
    for _ in range(2):
        envs.close()
        assert (tmp_path / "closed").exists()


def test_the_policy_of_its_user_stays_open():
    policy = load_policy("random", "hanamikoji")
    policy.close = pytest.fail
    VectorSeatEnv("hanamikoji", 2, opponent=policy).close()
