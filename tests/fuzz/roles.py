"""What a policy is used for: every room that asks a policy, on a budget of a few decisions."""

from collections.abc import Callable
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from searching import answers, midgame

from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine.game import Variant
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.search import hanabi_value
from hanamachi.policies.search.search import KINDS, new_search
from hanamachi.training.build import learner_settings, new_learner, quiet
from hanamachi.training.cli.terminal_game import TerminalGame, play
from hanamachi.training.config import Config
from hanamachi.training.evaluation.playing import play_games
from hanamachi.training.learner.clone import Cloning
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.vecenv import FeaturedVecEnv, HanamachiVecEnv, SelfPlayVecEnv

STEPS = 4
quick_fits = patch.object(hanabi_value, "GAMES", 50)  # a search fits its estimate to 1,000


# --- A policy in a game


@quick_fits
def play_a_game(policy: Policy, rng: Random) -> None:
    """A match, and at times a game in the terminal."""
    variant = policy.variant
    seating = np.array([[0] * variant.seats, [i % 2 for i in range(variant.seats)]])
    pair, deals = (policy, RandomPolicy(variant)), np.arange(2, dtype=np.uint64)
    play_games(pair, variant, seating, deals, rng.randrange(100), rng.choice(["sample", "argmax"]))
    if rng.random() < 0.2:
        play_in_the_terminal(policy, rng)


def play_in_the_terminal(policy: Policy, rng: Random) -> None:
    """A few moves of a human who takes the first choice, and asks for hints."""
    contest = TerminalGame(
        policy.variant, policy, rng.randrange(policy.variant.seats), rng.randrange(9)
    )
    lines = ["hint", "show", ""] * STEPS

    def ask(prompt: str) -> str:
        if not lines:
            raise EOFError
        return lines.pop() or next(iter(contest.choices().values()))

    play(contest, ask, lambda words: None, thoughts=True)


# --- The opponent


def oppose(policy: Policy, rng: Random) -> None:
    """The opponent in Gymnasium's environments, and in training."""
    variant = policy.variant
    many = VectorSeatEnv(variant.id, num_envs=3, opponent=policy, **variant.options)
    many.reset(seed=rng.randrange(100))
    for _ in range(STEPS):
        many.step(many.sample_actions())
    one = SeatEnv(variant.id, opponent=policy, **variant.options)
    one.reset(seed=rng.randrange(100))
    one.step(one.action_masks().argmax())
    train_against(policy, rng)


def train_against(policy: Policy, rng: Random) -> None:
    config = tiny_config(policy.variant)
    games = SelfPlayVecEnv(policy.variant, config.num_games, rng.randrange(100), [(policy, 0.5)])
    learn(new_learner(config, games=games))


def tiny_config(variant: Variant, **settings: Any) -> Config:
    ppo = {"n_steps": STEPS, "batch_size": 8, "n_epochs": 1}
    network = {"hidden": [4]}
    options = dict(variant.options)
    given = {"game": variant.id, "options": options, "num_games": 4, "device": "cpu"}
    return Config(**given | {"ppo": ppo, "network": network} | settings)


def learn(learner: SelfPlayPPO) -> None:
    """Two rollouts, each with its improvement."""
    learner.set_logger(quiet())
    learner.begin(1_000)
    for _ in range(2):
        learner.collect()
        learner.improve()


# --- The teacher


def teach(policy: Policy, rng: Random) -> None:
    """The teacher of a clone; a network's weights are also where a run starts."""
    config = tiny_config(policy.variant)
    games = SelfPlayVecEnv(policy.variant, config.num_games, rng.randrange(100))
    settings = learner_settings(config, games)
    clone = Cloning(SelfPlayPolicy, games, teacher=policy, **settings)
    clone.begin_games()
    learn(clone)
    if isinstance(policy, CompiledPolicy):
        start_a_run(policy, rng)


def start_a_run(policy: CompiledPolicy, rng: Random) -> None:
    _, hidden, feature_sets, weights, symmetries = policy.checkpoint
    shape = {"hidden": list(hidden), "features": list(feature_sets), "symmetries": symmetries}
    config = tiny_config(policy.variant, network=shape, seed=rng.randrange(100))
    plain = SelfPlayVecEnv(policy.variant, config.num_games, config.seed)
    games: HanamachiVecEnv = FeaturedVecEnv(plain, policy.features) if feature_sets else plain
    learner = new_learner(config, games=games)
    learner.policy.network.load_state_dict({n: torch.tensor(w) for n, w in weights.items()})
    learn(learner)


# --- The blueprint of searches


@quick_fits
def guide_searches(policy: Policy, rng: Random) -> None:
    """The blueprint of every kind of search for its game, in one position."""
    variant = policy.variant
    games = midgame(variant, rng.randrange(4), games=1, seed=rng.randrange(100))
    kinds = (
        ["single_agent"] if variant.game.cooperative else [k for k in KINDS if k != "single_agent"]
    )
    for kind in kinds if len(games) else ():
        settings = "worlds=2,hands=100" if variant.game.cooperative else "worlds=2"
        search = new_search(kind, variant, policy, settings, name=kind)
        answers(search, games)


ROLES: tuple[Callable[[Policy, Random], None], ...] = (play_a_game, oppose, teach, guide_searches)


def use(policy: Policy, rng: Random, number: int) -> None:
    """One role after the other of those that the case has: one, or all four in every twentieth."""
    chosen = ROLES if number % 20 == 0 else [ROLES[number % len(ROLES)]]
    for role in chosen:
        role(policy, rng)
