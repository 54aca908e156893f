"""Batches for learners: the games they show are the real ones, with each mover's own rewards."""

import os
import pickle
from functools import partial
from itertools import count

import numpy as np
import pytest
from environments import last_legal
from gymnasium import spaces
from messages import assert_one_sentence
from pettingzoo import AECEnv
from pettingzoo.classic import connect_four_v3, tictactoe_v3
from samples import UNCOMPILED
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from small_games import GIFTS
from stable_baselines3.common.vec_env import VecMonitor

from hanamachi.adapters.aec import AEC, make
from hanamachi.engine import kernels, memory
from hanamachi.engine.contract import OVER
from hanamachi.engine.threads import STEPS_PER_THREAD, default_threads
from hanamachi.errors import IllegalAction, UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import Policy, load_policy
from hanamachi.policies.features.base import Features
from hanamachi.sessions.session import Session
from hanamachi.training.build import new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.learner.aec import AECSelfPlayVecEnv
from hanamachi.training.learner.other_play import OtherPlayVecEnv
from hanamachi.training.learner.rollout_buffer import mover_signed_advantages
from hanamachi.training.learner.turn_based import seeds_of
from hanamachi.training.learner.vecenv import FeaturedVecEnv, SelfPlayVecEnv

pytestmark = pytest.mark.uncompiled

SMALL_ROAD = {"colours": 2, "item_values": (1, 2, 3, 4, 5), "actions": ("reveal", "gift")}
SMALL_HANABI = {"colours": 2, "ranks": 3, "hand_size": 2}
VARIANTS = {
    "small": ("hanamikoji", GIFTS),
    "three rounds": ("hanamikoji:three_rounds", {}),
    "small, Geisha's Road": ("geishas_road:advanced", SMALL_ROAD),
    "2021": ("geishas_road:2021", {}),
    "three together": ("hanabi:3p", SMALL_HANABI),
    "five together": ("hanabi:5p:multicolour", {}),
}
# what must be met: a decision's reward, whether the game ended, the sign of the next mover
RIVALS = {(0, False, 1), (0, False, -1), (1, True, None), (-1, True, None)}
PARTNERS = {(0, False, 1), (1, False, 1), (0, True, None), (-1, True, None)}
GAMES = 12
STEPS = 50 if UNCOMPILED else 150
WITH_THREADS = 1 if UNCOMPILED else 20  # steps of many games


@pytest.fixture(params=VARIANTS)
def variant(request):
    id, options = VARIANTS[request.param]
    return make_variant(id, **options)


def choose(rng, masks):
    """A random legal action of each row, (B,)."""
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def played(env, rng, steps=STEPS):
    """What `steps` random decisions in each row show, in order."""
    seen = []
    for _ in range(steps):
        env.advance(choose(rng, env.masks))
        arrays = env.observations, env.masks, env.rewards, env.terminated, env.signs
        seen.append([array.copy() for array in arrays])
    return seen


def assert_equal(seen, again):
    for one, other in zip(seen, again, strict=True):
        for array, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, same)


# --- The games


class Row:
    """One game in Python, step by step: what a row of a batch must show."""

    def __init__(self, variant, seed, opponent=None):
        self.session, self.opponent, self.cooperative = (
            Session(variant),
            opponent,
            variant.game.cooperative,
        )
        self.session.begin(seed)
        self.asked = [0] * variant.seats  # decisions of the guest in this game, by seat

    def view(self):
        return self.session.observe(self.session.mover)

    def decide(self, action, learner_seat=None):
        """A decision of the learner and all moves up to its next one.

        Returns what the decision earned, whether it ended the game, the sign of the next mover,
        and what the seat that decided saw at the end.
        """
        mover, earned = self.session.mover, 0.0
        while action is not None:
            self.session.step(action)
            earned += self.session.rewards()[mover]
            if self.session.mover == OVER:
                last = self.session.observe(mover)[0]
                self.session.begin()
                return earned, True, None, last
            action = self.next_move(learner_seat)
        same_side = self.cooperative or self.session.mover == mover
        return earned, False, 1 if same_side else -1, None

    def next_move(self, learner_seat):
        """What follows of itself: a move without a choice, or one of the guest's."""
        _, mask = self.view()
        if mask.sum() == 1:
            return int(mask.argmax())
        return self.guests_move(learner_seat)

    def guests_move(self, learner_seat):
        if learner_seat in (None, self.session.mover):
            return None
        self.asked[self.session.mover] += 1
        return self.opponent(*self.view())

    def let_the_guest_begin(self, learner_seat):
        """A new game: the guest moves until the learner is to decide."""
        self.asked = [0] * len(self.asked)
        action = self.guests_move(learner_seat)
        while action is not None:
            self.session.step(action)
            action = self.next_move(learner_seat)


def test_every_row_is_the_game_of_its_seed_with_the_movers_rewards(variant):
    env, rng = SelfPlayVecEnv(variant, GAMES, seed=5), np.random.default_rng(0)
    rows = [Row(variant, seed) for seed in seeds_of(5, GAMES)]
    env.reset()
    found = set()
    for _ in range(STEPS):
        actions = choose(rng, env.masks)
        env.advance(actions)
        for b, row in enumerate(rows):
            reward, terminated, sign, last = row.decide(int(actions[b]))
            assert (env.rewards[b], env.terminated[b]) == (reward, terminated)
            if terminated:
                np.testing.assert_array_equal(env.last[b], last)
            else:
                assert env.signs[b] == sign
            observation, mask = row.view()
            np.testing.assert_array_equal(env.observations[b], observation)
            np.testing.assert_array_equal(env.masks[b], mask)
            found.add((reward, terminated, sign))
    assert (PARTNERS if variant.game.cooperative else RIVALS) <= found


def test_neighbouring_seeds_share_no_game():
    seeds = [seeds_of(seed, 100_000) for seed in range(20)]
    assert len(np.unique(seeds)) == 20 * 100_000


def test_its_records_are_those_of_the_kernels(variant):
    env, rng = SelfPlayVecEnv(variant, GAMES, seed=5), np.random.default_rng(0)
    games = variant.new(seeds_of(5, GAMES))
    kernels.reset(variant.rule_set, games)
    env.reset()
    for _ in range(STEPS):
        assert (games == env.games).all()
        actions = choose(rng, env.masks)
        for b in range(GAMES):
            decide_by_kernels(variant, games[b : b + 1], actions[b : b + 1])
        env.advance(actions)


def decide_by_kernels(variant, game, action):
    """Play an action and the moves without a choice that follow; a game that ends begins again."""
    mask = np.zeros((1, variant.actions.size), np.int8)
    while True:
        kernels.step(variant.rule_set, game, action)
        if game["mover"] == OVER:
            kernels.reset(variant.rule_set, game)
            return
        kernels.masks(variant.rule_set, game, mask)
        if mask.sum() > 1:
            return
        action = mask.argmax(1)


def test_one_thread_and_two_play_the_same(variant, monkeypatch):
    transcripts = []
    for threads in (1, 2):
        monkeypatch.setattr("hanamachi.engine.threads.default_threads", lambda n=threads: n)
        env = SelfPlayVecEnv(variant, 2 * STEPS_PER_THREAD)
        env.reset()
        transcripts.append(played(env, np.random.default_rng(0), WITH_THREADS))
    assert_equal(*transcripts)


# --- Guests


class Counting(Policy):
    """Plays the last legal action, and counts its decisions in a game."""

    name = "counting"

    def initial_memory(self, batch):
        return np.zeros((batch, 1), np.int64)

    def distribution(self, observation, mask, memory):
        probabilities = np.zeros(mask.shape, np.float32)
        probabilities[np.arange(len(mask)), [last_legal(None, row) for row in mask]] = 1
        return probabilities, None, memory + 1


def test_beside_a_guest_a_row_shows_the_learners_decisions_and_rewards(variant):
    env = SelfPlayVecEnv(variant, GAMES, seed=5, opponents=[(Counting(variant), 0.5)])
    rng, fixed_opponents = np.random.default_rng(0), range(GAMES // 2)
    rows = [Row(variant, seed, last_legal) for seed in seeds_of(5, GAMES)]
    env.reset()
    assert env.fixed_opponents[0].rows.tolist() == list(fixed_opponents)
    for b in fixed_opponents:
        rows[b].let_the_guest_begin(env.learner_seat[b])
    found = set()
    for _ in range(STEPS):
        actions, seats = choose(rng, env.masks), env.learner_seat.copy()
        *_, infos = env.step(actions)
        for b, row in enumerate(rows):
            reward, terminated, sign, last = row.decide(
                int(actions[b]), seats[b] if b in fixed_opponents else None
            )
            assert (env.rewards[b], env.terminated[b]) == (reward, terminated)
            if terminated:
                np.testing.assert_array_equal(infos[b]["terminal_observation"], last)
            if terminated and b in fixed_opponents:
                row.let_the_guest_begin(env.learner_seat[b])
            if not terminated:
                assert (env.signs[b], env.learner_seat[b]) == (sign, seats[b])
            observation, mask = row.view()
            np.testing.assert_array_equal(env.observations[b], observation)
            np.testing.assert_array_equal(env.masks[b], mask)
            found.add((reward, terminated, sign, b in fixed_opponents))
        assert (env.games["mover"] == env.learner_seat)[fixed_opponents].all()
        assert env.fixed_opponents[0].memory[..., 0].tolist() == [
            rows[b].asked for b in fixed_opponents
        ]
    met = PARTNERS if variant.game.cooperative else RIVALS - {(0, False, -1)}
    assert {(*decision, True) for decision in met} <= found
    assert (0, False, -1, True) not in found


@pytest.mark.parametrize("kind", [SelfPlayVecEnv, OtherPlayVecEnv])
def test_games_and_opponents_may_be_named(kind):
    variant = make_variant("hanamikoji")
    loaded = kind(variant, 8, seed=3, opponents=[(load_policy("greedy", variant), 0.5)])
    named = kind("hanamikoji", 8, seed=3, opponents=[("greedy", 0.5)])
    for env in (loaded, named):
        env.reset()
    for _ in range(50):
        for env in (loaded, named):
            env.advance(env.masks.argmax(1))
        np.testing.assert_array_equal(loaded.observations, named.observations)


@pytest.mark.parametrize("id", ["hanamikoji", "hanabi:5p"])
def test_beside_guests_the_learner_sits_in_any_seat(id):
    variant = make_variant(id)
    env = SelfPlayVecEnv(variant, 200, opponents=[(load_policy("random", id), 1)])
    env.reset()
    share = 200 / variant.seats
    assert (np.abs(np.bincount(env.learner_seat) - share) < 40).all()
    before = env.learner_seat.copy()
    while not env.terminated.any():
        env.advance(env.masks.argmax(1))
    moved = env.learner_seat != before
    assert moved.any()
    assert not (moved & ~env.terminated).any()


def test_beside_partners_their_decisions_are_counted():
    variant = make_variant("hanabi:3p")
    env = SelfPlayVecEnv(variant, 4, seed=5, opponents=[(Counting(variant), 0.5)])
    env.reset()
    for _ in range(5):
        env.advance(env.masks.argmax(1))
        assert env.elapsed.tolist() == [3, 3, 1, 1]


def returns_of_first_games(env, gamma):
    """The movers and the discounted returns of each row's first game, if all play the last action.

    Both (T, B), where no value is known, and what follows the first game is left out of it.
    """
    env.reset()
    movers, seen = [], []
    while not seen or not np.any([ended for _, ended, _, _ in seen], axis=0).all():
        movers.append(env.movers)
        env.advance(np.array([last_legal(None, mask) for mask in env.masks]))
        seen.append([x.copy() for x in (env.rewards, env.terminated, env.signs, env.elapsed)])
    rewards, terminated, signs, elapsed = (np.array(each) for each in zip(*seen, strict=True))
    values = np.zeros((len(rewards) + 1, env.num_envs), np.float32)
    found = mover_signed_advantages(rewards, values, terminated, signs, gamma, 1.0, elapsed)
    after = np.cumsum(terminated, axis=0) - terminated > 0
    return np.where(after, -1, movers), found


@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_a_decision_returns_the_same_beside_guests_and_in_self_play(variant, gamma):
    movers, returns = returns_of_first_games(SelfPlayVecEnv(variant, GAMES, 5), gamma)
    env = SelfPlayVecEnv(variant, GAMES, 5, [(Counting(variant), 1)], gamma)
    learners, found = returns_of_first_games(env, gamma)
    for row in range(GAMES):
        own = learners[:, row] >= 0
        same = movers[:, row] == learners[0, row]
        np.testing.assert_allclose(found[own, row], returns[same, row], atol=1e-6)


@pytest.mark.parametrize("rows", range(6, 17))
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.5), (0.3, 0.3), (0.1, 0.2)])
def test_every_row_has_one_guest_at_most_and_shares_are_kept(rows, shares):
    variant = make_variant("hanamikoji", **GIFTS)
    env = SelfPlayVecEnv(variant, rows, opponents=[(Counting(variant), share) for share in shares])
    taken = np.concatenate([opponent.rows for opponent in env.fixed_opponents])
    assert len(set(taken)) == len(taken)
    assert set(taken) <= set(range(rows))
    assert abs(len(taken) - sum(shares) * rows) < 0.501
    for opponent, share in zip(env.fixed_opponents, shares, strict=True):
        assert abs(len(opponent.rows) - share * rows) <= 1


@pytest.mark.parametrize("shares", [(0.1,), (0.5, 0.1)])
def test_a_guest_with_a_share_that_gets_none_of_the_games_is_refused(shares):
    variant = make_variant("hanamikoji", **GIFTS)
    guests = [(Counting(variant), share) for share in shares]
    with pytest.raises(UserError, match="counting"):
        SelfPlayVecEnv(variant, 4, opponents=guests)
    absent = SelfPlayVecEnv(variant, 4, opponents=[*guests[:-1], (Counting(variant), 0)])
    assert not len(absent.fixed_opponents[-1].rows)


@pytest.mark.parametrize("id", ["hanamikoji", "hanabi:3p"])
def test_a_seed_gives_the_same_games_also_beside_earlier_selves(id):
    settings = {"game": id, "num_games": 40, "opponents": {"self": 0.5, "past": 0.5}}
    states = [new_learner(Config.from_dict(settings)).env.get_state() for _ in range(2)]
    assert states[0]["games"] == states[1]["games"]


# --- Saving


def test_a_saved_batch_goes_on_as_if_nothing_had_been_between(variant):
    random = load_policy("random", variant)
    fixed_opponents = [(random, 0.25), (Counting(variant), 0.5)]
    batch = partial(SelfPlayVecEnv, variant, GAMES, opponents=fixed_opponents)
    env = batch(seed=1)
    env.reset()
    played(env, np.random.default_rng(0), steps=37)
    state = pickle.dumps(env.get_state())
    seen = played(env, np.random.default_rng(1))
    other = batch(seed=2)
    other.reset()
    other.set_state(pickle.loads(state))
    assert_equal(seen, played(other, np.random.default_rng(1)))


# --- As stable-baselines3 expects it


@pytest.fixture(params=["compiled", "any AEC"])
def env(request):
    if request.param == "any AEC":
        return AECSelfPlayVecEnv(tictactoe_v3.raw_env, GAMES, seed=3)
    return SelfPlayVecEnv(make_variant("hanamikoji", **GIFTS), GAMES, seed=3)


def test_shapes_and_types_are_those_of_a_vecenv(env):
    size, actions = env.observation_space.shape[0], int(env.action_space.n)
    rng, observations = np.random.default_rng(0), env.reset()
    assert env.reset_infos == [{}] * GAMES
    for _ in range(STEPS):
        assert (observations.shape, observations.dtype) == ((GAMES, size), np.float32)
        assert all(env.observation_space.contains(row) for row in observations)
        masks = get_action_masks(env)
        assert (masks.shape, masks.dtype) == ((GAMES, actions), np.int8)
        assert masks.any(1).all()
        before = observations.copy()
        following, rewards, dones, infos = env.step(choose(rng, masks))
        np.testing.assert_array_equal(observations, before)
        assert (rewards.shape, rewards.dtype) == ((GAMES,), np.float32)
        assert (dones.shape, dones.dtype) == ((GAMES,), np.bool_)
        assert len({id(info) for info in infos}) == GAMES
        assert [set(info) for info in infos] == [
            {"terminal_observation"} if done else set() for done in dones
        ]
        for b in np.flatnonzero(dones):
            assert env.observation_space.contains(infos[b]["terminal_observation"])
        observations = following


def test_attributes_and_methods_are_reached_by_any_indices(env):
    env.reset()
    assert is_masking_supported(env)
    assert not env.has_attr("nothing")
    assert env.get_attr("render_mode") == [None] * GAMES
    assert env.get_attr("render_mode", [0, 2]) == [None] * 2
    for indices, rows in ((None, range(GAMES)), (2, [2]), ([0, 3], [0, 3])):
        masks = env.env_method("action_masks", indices=indices)
        np.testing.assert_array_equal(masks, env.masks[list(rows)])
        assert env.env_is_wrapped(VecMonitor, indices) == [False] * len(rows)
    for indices, label in ((None, "x"), (range(GAMES), "y")):
        env.set_attr("label", label, indices)
        assert env.get_attr("label") == [label] * GAMES
    with pytest.raises(UserError, match="label"):
        env.set_attr("label", "z", [0, 2])
    assert env.get_attr("label") == ["y"] * GAMES
    with pytest.raises(UserError, match="no method dance"):
        env.env_method("dance")


@pytest.mark.parametrize(
    "make_batch",
    [
        partial(SelfPlayVecEnv, make_variant("hanamikoji", **GIFTS)),
        partial(AECSelfPlayVecEnv, partial(AEC, "hanamikoji", **GIFTS)),
    ],
    ids=["compiled", "any AEC"],
)
def test_a_seed_given_before_reset_begins_the_same_games(make_batch):
    env = make_batch(GAMES, seed=3)
    transcripts = []
    for seed in (7, 7, 8):
        env.seed(seed)
        transcripts.append([[env.reset()], *played(env, np.random.default_rng(0), steps=20)])
    assert_equal(*transcripts[:2])
    assert (transcripts[0][0][0] != transcripts[2][0][0]).any()
    assert (env.reset() != transcripts[2][0][0]).any()


def test_the_ends_of_games_are_counted_by_a_monitor(env):
    monitored, rng = VecMonitor(env), np.random.default_rng(0)
    monitored.reset()
    lengths = []
    for _ in range(STEPS):
        _, _, dones, infos = monitored.step(choose(rng, env.masks))
        lengths += [infos[b]["episode"]["l"] for b in np.flatnonzero(dones)]
    assert len(lengths) > GAMES
    assert STEPS * GAMES - GAMES * max(lengths) < sum(lengths) <= STEPS * GAMES


def minibatches_of(num_games, batch_size):
    """A learner after one rollout, of one decision for each game, and the sizes of its steps."""
    ppo = {"n_steps": 1, "batch_size": batch_size, "n_epochs": 1}
    learner = new_learner(Config(game="hanamikoji", num_games=num_games, ppo=ppo))
    learner.set_logger(quiet())
    sizes, descend = [], learner.descend
    learner.descend = lambda rows, scheduled: sizes.append(len(rows)) or descend(rows, scheduled)
    learner.learn(num_games)
    return learner, sizes


def test_a_minibatch_of_one_decision_leaves_the_weights_sound():
    learner, sizes = minibatches_of(num_games=3, batch_size=1)
    assert sizes == [1, 1, 1]
    assert all(weights.isfinite().all() for weights in learner.policy.parameters())


@pytest.mark.parametrize(("num_games", "sizes"), [(32, [16, 16]), (34, [12, 11, 11]), (5, [5])])
def test_a_rollout_is_divided_into_equal_minibatches_so_that_no_step_follows_few_decisions(
    num_games, sizes
):
    assert minibatches_of(num_games, batch_size=16)[1] == sizes


@pytest.mark.parametrize("wanted", ["two", "-1", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused(wanted, monkeypatch):
    monkeypatch.setenv("HANAMACHI_THREADS", wanted)
    default_threads.cache_clear()
    with pytest.raises(UserError, match=rf"^HANAMACHI_THREADS must be a number .*, not '{wanted}'"):
        default_threads()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux limits processors")
def test_there_are_as_many_threads_as_processors_that_may_be_used(monkeypatch):
    monkeypatch.delenv("HANAMACHI_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 3, 5})
    default_threads.cache_clear()
    try:
        assert default_threads() == 3
    finally:
        default_threads.cache_clear()


def test_unmodified_maskable_ppo_runs_on_it(env):
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=48, n_epochs=1, device="cpu")
    assert model.learn(200).num_timesteps == 288


# --- Anybody's games


class TwoEach(AECEnv):
    """Each player moves twice running; who first plays 1 as the second of the two wins."""

    metadata = {"name": "two_each_v0"}  # noqa: RUF012
    possible_agents = ["a", "b"]  # noqa: RUF012

    def __init__(self):
        super().__init__()
        seen = spaces.Box(0, 9, (2, 1), np.int8)
        mask = spaces.Box(0, 1, (2,), np.int8)
        self.observation_spaces = dict.fromkeys(
            self.possible_agents, spaces.Dict({"observation": seen, "action_mask": mask})
        )
        self.action_spaces = dict.fromkeys(self.possible_agents, spaces.Discrete(2))

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.rewards = self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.moves, self.agent_selection = 0, "a"

    def observe(self, agent):
        seen = np.array([[self.moves], [agent == "b"]], np.int8)
        return {"observation": seen, "action_mask": np.ones(2, np.int8)}

    def step(self, action):
        mover, self.moves = self.agent_selection, self.moves + 1
        won = self.moves % 2 == 0 and action == 1
        self.rewards = {agent: (1 if agent == mover else -1) * won for agent in self.agents}
        self.terminations = dict.fromkeys(self.agents, won)
        self.truncations = dict.fromkeys(self.agents, self.moves == 8 and not won)
        self.agent_selection = "ab"[self.moves // 2 % 2]


ANYBODYS = {
    "connect four": connect_four_v3.raw_env,
    "tic-tac-toe": tictactoe_v3.raw_env,
    "tic-tac-toe, wrapped": tictactoe_v3.env,
    "ours": partial(AEC, "hanamikoji", **GIFTS),
    "ours, wrapped": partial(make, "hanamikoji", **GIFTS),
    "Geisha's Road": partial(AEC, "geishas_road:advanced", **SMALL_ROAD),
    "two each": TwoEach,
}


@pytest.mark.parametrize("name", ANYBODYS)
def test_every_row_is_a_game_of_the_environment(name):
    maker = ANYBODYS[name]
    batch, rng = AECSelfPlayVecEnv(maker, 3, seed=11), np.random.default_rng(0)
    single, first = [maker() for _ in range(3)], AECSelfPlayVecEnv(maker, 1, seed=11).next_seed
    batch.reset()
    seeds = count(first)
    for env in single:
        env.reset(seed=next(seeds))
    found = set()
    for _ in range(STEPS):
        actions = choose(rng, batch.masks)
        batch.advance(actions)
        for b, env in enumerate(single):
            mover = env.agent_selection
            env.step(int(actions[b]))
            terminated = env.terminations[mover] or env.truncations[mover]
            assert (batch.rewards[b], batch.terminated[b]) == (env.rewards[mover], terminated)
            if terminated:
                np.testing.assert_array_equal(batch.last[b], env.observe(mover)["observation"].flat)
                env.reset(seed=next(seeds))
            else:
                assert batch.signs[b] == (1 if env.agent_selection == mover else -1)
            seen = env.observe(env.agent_selection)
            np.testing.assert_array_equal(batch.observations[b], seen["observation"].flat)
            np.testing.assert_array_equal(batch.masks[b], seen["action_mask"])
            found.add((batch.rewards[b], terminated))
    assert {(0, False), (1, True)} <= found


def test_a_mover_who_acts_twice_running_keeps_its_sign():
    env = AECSelfPlayVecEnv(TwoEach, 1)
    env.reset()
    signs = []
    for _ in range(7):
        env.advance(np.array([0]))
        signs.append(int(env.signs[0]))
    assert signs == [1, -1, 1, -1, 1, -1, 1]
    env.advance(np.array([1]))
    assert (env.rewards[0], env.terminated[0]) == (1, True)


def test_all_signs_are_one_where_players_win_together():
    env = AECSelfPlayVecEnv(tictactoe_v3.raw_env, 2, cooperative=True)
    env.reset()
    assert all((signs == 1).all() for *_, signs in played(env, np.random.default_rng(0), steps=20))


def test_more_than_two_agents_must_win_together():
    three = partial(AEC, "hanabi:3p")
    with pytest.raises(UserError, match="cooperative=True"):
        AECSelfPlayVecEnv(three, 1)
    assert AECSelfPlayVecEnv(three, 1, cooperative=True).cooperative


def test_the_seeds_of_environments_stay_below_what_any_library_takes():
    games = AECSelfPlayVecEnv(tictactoe_v3.raw_env, 1)
    games.next_seed = 2**31 - 1
    games.reset()
    assert games.next_seed == 0


def test_an_environment_without_masks_is_refused():
    class Unmasked(TwoEach):
        def observation_space(self, agent):
            return super().observation_space(agent)["observation"]

    with pytest.raises(UserError, match="action_mask"):
        AECSelfPlayVecEnv(Unmasked, 1)


@pytest.mark.parametrize("other_play", [False, True])
def test_an_action_that_is_not_legal_changes_no_game(other_play):
    kind = OtherPlayVecEnv if other_play else SelfPlayVecEnv
    games = kind(make_variant("hanabi:2p"), 4)
    games.reset()
    legal, before = games.masks.argmax(1), games.get_state()["games"]
    illegal = np.where(np.arange(4) == 2, games.masks.argmin(1), legal)
    assert not games.masks[2, illegal[2]]
    for actions in (illegal, legal[:2], legal.astype(np.float32), np.full(4, 10**9), -legal - 1):
        with pytest.raises(UserError) as refused:
            games.advance(actions)
        assert_one_sentence(refused.value)
    assert games.get_state()["games"] == before
    games.advance(legal)


def test_an_action_that_is_not_legal_changes_no_memory_of_features():
    variant = make_variant("hanabi:2p")
    games = FeaturedVecEnv(SelfPlayVecEnv(variant, 4), Features(variant, ("convention",)))
    games.reset()
    for _ in range(12):
        games.advance(games.masks.argmax(1))
    before, seen = games.memory.copy(), games.observations.copy()
    with pytest.raises(IllegalAction):
        games.advance(games.masks.argmin(1))
    np.testing.assert_array_equal(games.memory, before)
    games.set_state(games.get_state())
    np.testing.assert_array_equal(games.observations, seen)


@pytest.mark.parametrize("kind", [SelfPlayVecEnv, OtherPlayVecEnv])
def test_masks_that_a_caller_changes_allow_no_illegal_action(kind):
    games = kind(make_variant("hanabi:2p"), 4)
    games.reset()
    for _ in range(3):
        illegal = games.masks.argmin(1)
        for masks in (games.masks, games.action_masks(), *games.env_method("action_masks")):
            masks[:] = 1
        with pytest.raises(IllegalAction):
            games.advance(illegal)
        state = games.get_state()
        games.set_state(state)  # shows what is true again
        games.advance(games.masks.argmax(1))


def test_an_illegal_action_steps_no_environment():
    games = AECSelfPlayVecEnv(tictactoe_v3.raw_env, 2)
    games.reset()
    games.advance(np.array([0, 1]))
    before = games.observations.copy()
    for actions in ([3, 1], [3], [3.0, 4.0], [3, 9]):
        with pytest.raises(UserError) as refused:
            games.advance(np.array(actions))
        assert_one_sentence(refused.value)
    np.testing.assert_array_equal(games.observations, before)
    games.advance(np.array([3, 4]))


@pytest.mark.parametrize("other_library", [False, True])
def test_games_that_have_not_begun_say_so(other_library):
    compiled = partial(SelfPlayVecEnv, make_variant("hanamikoji"))
    games = (partial(AECSelfPlayVecEnv, tictactoe_v3.raw_env) if other_library else compiled)(4)
    with pytest.raises(UserError, match=r"reset\(\)"):
        games.advance(np.zeros(4, np.int64))


@pytest.mark.parametrize("wrong", [{"num_envs": 0}, {"num_envs": 1.5}, {"seed": -1}])
def test_environments_that_cannot_be_are_refused(wrong):
    with pytest.raises(UserError) as refused:
        AECSelfPlayVecEnv(tictactoe_v3.raw_env, **{"num_envs": 2, **wrong})
    assert_one_sentence(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_envs": 0},
        {"num_envs": 2.5},
        {"seed": -1},
        {"variant": "hanamikojy"},
        {"variant": 7},
        {"gamma": float("nan")},
        {"gamma": 1.5},
        {"gamma": "1"},
        {"opponents": None},
        {"opponents": load_policy("greedy", "hanamikoji")},
        {"opponents": [("greed", 0.5)]},
        {"opponents": [("hanabi:2p", 0.5)]},
        {"opponents": [(7, 0.5)]},
        {"opponents": [load_policy("greedy", "hanabi:2p")]},
        {"opponents": [(load_policy("greedy", "hanabi:2p"), 0.5)]},
        {"opponents": [(load_policy("greedy", "hanamikoji"), 1.5)]},
        {"opponents": [(load_policy("greedy", "hanamikoji"), 0.6)] * 2},
    ],
)
def test_games_that_cannot_be_are_refused(wrong):
    with pytest.raises(UserError) as refused:
        SelfPlayVecEnv(**{"variant": make_variant("hanamikoji"), "num_envs": 4, **wrong})
    assert_one_sentence(refused.value)


def test_more_games_than_fit_into_memory_are_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 1 << 20)
    SelfPlayVecEnv(make_variant("hanamikoji"), 100)
    with pytest.raises(UserError, match="1,000 games"):
        SelfPlayVecEnv(make_variant("hanamikoji"), 1_000)


@pytest.mark.parametrize("name", ["observations", "masks", "rewards", "terminated", "last"])
def test_who_locks_or_reshapes_an_array_harms_no_game(name):
    ours, others = (SelfPlayVecEnv(make_variant("hanamikoji"), 4) for _ in range(2))
    ours.reset()
    others.reset()
    for _ in range(20):
        given = getattr(ours, name)
        given.setflags(write=False)
        given.shape = given.shape[::-1]
        ours.advance(ours.masks.argmax(1))
        others.advance(others.masks.argmax(1))
        np.testing.assert_array_equal(getattr(ours, name), getattr(others, name))
    with pytest.raises(AttributeError, match="the games fill it"):
        setattr(ours, name, getattr(others, name))
