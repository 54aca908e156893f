"""The learner learns: somebody else's game, and ours, with credit and without."""

import runpy

import numpy as np
from pettingzoo.classic import connect_four_v3
from root import ROOT
from samples import WHOLE, sample

from hanamachi.training.learner.aec import AECSelfPlayVecEnv
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.schedules import schedule


def rate_against_random(model, games):
    """Share of games of connect four that the model wins against random play, draws half."""
    env = connect_four_v3.raw_env()
    rng = np.random.default_rng(1)
    score = 0.0
    for game in range(games):
        env.reset()
        learner = env.possible_agents[game % 2]
        for agent in env.agent_iter():
            observation, reward, terminated, _, _ = env.last()
            if terminated:
                if agent == learner:
                    score += (reward + 1) / 2
                env.step(None)
                continue
            mask = observation["action_mask"]
            if agent == learner:
                seen = observation["observation"].astype(np.float32).ravel()
                action = int(model.predict(seen[None], action_masks=mask[None])[0][0])
            else:
                action = int(rng.choice(np.flatnonzero(mask)))
            env.step(action)
    return score / games


def test_connect_four_is_learned_through_the_same_learner():
    games = AECSelfPlayVecEnv(connect_four_v3.raw_env, 64, seed=0)
    model = SelfPlayPPO(
        SelfPlayPolicy, games, n_steps=32, batch_size=256, n_epochs=4, gamma=1.0, seed=0,
        learning_rate=1e-3, entropy_schedule=schedule((0.1, 0.005)), device="cpu",
        policy_kwargs={"hidden": (128, 128)},
    )  # fmt: skip
    model.learn(sample(800_000, 0.05))
    played = sample(1000, 0.2)
    rate = rate_against_random(model, played)
    margin = 1.96 * (rate * (1 - rate) / played) ** 0.5
    assert rate - margin >= (0.9 if WHOLE else 0.65)


def test_signed_credit_learns_what_unsigned_credit_does_not():
    measure = runpy.run_path(str(ROOT / "scripts" / "credit.py"))["measure"]
    steps, games = sample(1_500_000, 0.03), sample(10_000, 0.1)
    ours = measure("mover-signed", "hanamikoji", steps, 0, games)
    theirs = measure("unsigned", "hanamikoji", steps, 0, games)
    assert theirs["high"] < ours["low"]
    if WHOLE:
        assert theirs["high"] <= 0.6
        assert ours["low"] >= 0.8
