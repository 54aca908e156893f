"""Past selves: each plays the games that it began, to their end, and none is kept in vain."""

import pickle

import numpy as np
import pytest
import torch

from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.training.build import new_learner, past_selves, quiet
from hanamachi.training.callbacks import PlayThePast
from hanamachi.training.config import Config
from hanamachi.training.learner.past import playing

SMALL = {"cards": [2, 3, 4], "actions": ["secret", "gift"], "max_rounds": 3}
ROLLOUT = 16 * 4  # decisions
SETTINGS = {
    "game": "hanamikoji",
    "options": SMALL,
    "device": "cpu",
    "num_games": 16,
    "network": {"hidden": [16]},
    "ppo": {"n_steps": 4, "batch_size": 32, "n_epochs": 1},
    "opponents": {"greedy": 0.25, "past": 0.75},
    "past": {"every": ROLLOUT, "keep": 2},
}
ADVISED = {"network": {"hidden": [16], "features": ["advice"]}}
HANABI = {
    "game": "hanabi:2p",
    "options": {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3},
    "network": {"hidden": [16], "features": ["convention"]},
    "opponents": {"self": 0.5, "past": 0.5},
}


class Run:
    """A learner that takes snapshots, without anything else that a run does."""

    def __init__(self, rollouts, **settings):
        self.config = Config.from_dict(SETTINGS | {"steps": rollouts * ROLLOUT} | settings)
        self.learner = new_learner(self.config)
        self.learner.set_logger(quiet())
        self.past = PlayThePast(self.learner, self.config)
        (self.seat,) = (
            o for o in self.learner.env.fixed_opponents if o.policy is self.past.opponent
        )
        self.past.start()
        self.learner.begin(self.config.steps)

    def numbers(self):
        """The self that each game began with, the same for all of its seats, (B,)."""
        numbers = self.seat.memory[..., 0]
        assert (numbers == numbers[:, :1]).all()
        return numbers[:, 0].copy()

    def rollouts(self):
        while self.learner.num_timesteps < self.config.steps:
            yield self.learner.num_timesteps // ROLLOUT
            self.learner.collect()
            self.learner.improve()
            self.past.act_if_due()


@pytest.fixture(params=[{}, ADVISED, HANABI], ids=["plain", "advised", "hanabi"])
def settings(request):
    return request.param


def test_each_game_keeps_the_self_that_it_began_with_until_it_ends(settings, monkeypatch):
    run, met = Run(8, **settings), set()
    env, seat = run.learner.env, run.seat
    advance, began = env.advance, run.numbers()

    def advanced(actions):
        nonlocal began
        advance(actions)
        now, over = run.numbers(), env.terminated[seat.rows]
        assert (now == np.where(over, run.past.opponent.current, began)).all()
        met.add(len(set(now)))
        began = now

    monkeypatch.setattr(env, "advance", advanced)
    for _ in run.rollouts():
        pass
    assert max(met) > 1  # some had to go on beside others


def test_a_self_plays_with_its_own_weights_whoever_is_seated_meanwhile(settings):
    run = Run(3, **settings)
    for _ in run.rollouts():
        pass
    policy, selves = run.past.opponent, run.learner.run_state.past
    assert len(selves) > 1
    env = run.learner.env
    turns = getattr(env, "plain", env).turns
    memory = policy.initial_memory(len(turns.rows))
    memory[:, 0] = np.resize(list(selves), len(memory))
    found, values, after = policy.distribution(turns.observations, turns.masks, memory)
    for number, weights in selves.items():
        rows = memory[:, 0] == number
        alone = CompiledPolicy(policy.shape._replace(weights=weights))
        asked = turns.observations[rows], turns.masks[rows], memory[rows, 1:]
        for mine, its in zip(
            (found, values, after[:, 1:]), alone.distribution(*asked), strict=True
        ):
            np.testing.assert_array_equal(mine[rows], its)
    assert (after[:, 0] == memory[:, 0]).all()


def test_a_self_that_is_seated_again_as_a_copy_is_not_made_again():
    run = Run(3)
    for _ in run.rollouts():
        pass
    policy, selves = run.past.opponent, run.learner.run_state.past
    made = dict(policy.networks)
    first, *others = selves
    copies = pickle.loads(pickle.dumps(selves))
    copies[first] = {name: array + 1 for name, array in copies[first].items()}
    policy.seat(copies, first)
    assert all(policy.networks[number] is made[number] for number in others)
    assert policy.networks[first] is not made[first]


def test_the_first_games_meet_the_learner_as_it_starts():
    run = Run(1)
    assert set(run.numbers()) == {0}
    first = run.learner.policy.network.state_dict()
    for name, weights in past_selves(run.learner.env).selves[0].items():
        assert torch.equal(first[name], torch.from_numpy(weights))


def test_every_snapshot_that_is_kept_is_seated_and_others_only_end_their_games():
    run, seated, lasted = Run(12), set(), 0
    for rollout in run.rollouts():
        latest = run.past.latest()
        assert latest == list(range(max(0, rollout - 1), rollout + 1))
        assert run.past.opponent.current in latest
        seated.add(latest.index(run.past.opponent.current))
        kept = set(run.learner.run_state.past)
        assert set(playing(run.seat.memory)) <= kept
        lasted += len(kept - set(latest))
    assert seated == {0, 1}
    assert 0 < lasted < 12 * 6  # none is kept for long


def test_saved_in_mid_game_every_game_goes_on_against_the_same_self():
    run = Run(12)
    next(n for n in run.rollouts() if n and len(playing(run.seat.memory)) > 1)
    state = pickle.loads(pickle.dumps((run.learner.env.get_state(), run.learner.run_state.past)))
    other = Run(1)
    games, other.learner.run_state.past = state
    other.learner.env.set_state(games)
    other.past.seat()
    for _ in range(20):
        for env in (run.learner.env, other.learner.env):
            env.advance(env.masks.argmax(1))
        np.testing.assert_array_equal(run.learner.env.observations, other.learner.env.observations)


def test_past_selves_are_found_wherever_they_stand():
    opponents = {"self": 0.25, "greedy": 0.25, "past": 0.25, "expert": 0.25}
    learner = new_learner(Config.from_dict(SETTINGS | {"opponents": opponents}))
    assert past_selves(learner.env) is learner.env.fixed_opponents[1].policy
