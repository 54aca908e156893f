"""Adapter speed: PettingZoo's loop of `last` and `step` for one game, `VectorEnv` for many.

The baseline for one game is an idle environment, which shows what the loop and PettingZoo's
wrappers cost. The baseline for many games is the kernel without an adapter.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo.utils import AECEnv, wrappers

from hanamachi.adapters.aec import AEC, ILLEGAL_REWARD
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine.game import Variant
from hanamachi.engine.threads import default_threads
from hanamachi.games.hanabi.rules import PLAY
from hanamachi.sessions.opponent_protocol import RandomPlay
from hanamachi.training.benchmark.kernel import random_play
from hanamachi.training.benchmark.measure import Case, Play, Side, Work, view_of

RISK = 0.02  # share of decisions in which cautious play may play a card
IDLE_STEPS = 40  # in a game of the idle environment
MANY = 4096  # games of a vector environment
COUNTED = 20  # steps in which decisions are counted, after the same number of other steps

Choose = Callable[[NDArray[np.int64], np.random.Generator], int]  # one of the legal actions


def cases(variant: Variant) -> list[Case]:
    idle_env = Side("idle raw_env()", partial(idle, variant))
    idle_wrapped = Side("idle, usual wrappers", partial(idle, variant, usual_wrappers))
    return [
        Case(raw_env(variant), [idle_env]),
        Case(Side(f"{variant.id}, usual wrappers", partial(wrapped, variant)), [idle_wrapped]),
        Case(
            Side(f"{variant.id}, VectorEnv", partial(many_games, variant)), [kernel_side(variant)]
        ),
    ]


def raw_env(variant: Variant) -> Side:
    return Side(f"{variant.id}, raw_env()", partial(one_game, AEC, variant))


def one_game(make_env: Callable[..., Any], variant: Variant) -> Work:
    env = make_env(variant.id, **variant.options)
    return Work(one_game_of(env, choice(variant)), f"{view_of(variant)}; one game from Python")


def wrapped(variant: Variant) -> Work:
    return one_game(lambda *id, **options: usual_wrappers(AEC(*id, **options)), variant)


# --- Play


def at_random(legal: NDArray[np.int64], rng: np.random.Generator) -> int:
    return int(legal[int(rng.random() * len(legal))])


def cautious(first: int, end: int) -> Choose:
    """Random play for Hanabi, whose actions from `first` up to `end` (exclusive) play a card.

    It rarely plays a card, so that its games last until the deck is empty.
    """

    def choose(legal: NDArray[np.int64], rng: np.random.Generator) -> int:
        safe = legal[(legal < first) | (legal >= end)]
        return at_random(safe if len(safe) and rng.random() >= RISK else legal, rng)

    return choose


def choice(variant: Variant) -> Choose:
    if variant.game.name != "hanabi":
        return at_random
    return cautious(*map(int, variant.actions.first[PLAY : PLAY + 2]))


def one_game_of(env: Any, choose: Choose = at_random) -> Play:
    """Each call plays a whole game of a PettingZoo environment; forced moves do not count."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def play() -> int:
        env.reset()
        decisions = 0
        while True:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                return decisions
            legal = np.flatnonzero(observation["action_mask"])
            decisions += len(legal) > 1
            env.step(choose(legal, rng))

    return play


# --- The idle environment


class Idle(AECEnv):
    """An environment that computes nothing, with the spaces and array sizes of another one."""

    def __init__(self, like: AEC) -> None:
        super().__init__()
        self.metadata = {"name": "idle_v0", "is_parallelizable": False}
        self.render_mode = None
        self.possible_agents = like.possible_agents
        self.observation_spaces, self.action_spaces = like.observation_spaces, like.action_spaces
        mask = np.ones(like.variant.actions.size, np.int8)
        self.view: dict[str, Any] = {
            "observation": like.variant.observation.low,
            "action_mask": mask,
        }

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.left = IDLE_STEPS
        self.agent_selection = self.agents[0]

    def step(self, action: int) -> None:
        self.left -= 1
        if self.left == 0:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[self.left % len(self.agents)]

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        return self.view

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]


def idle(variant: Variant, wrap: Callable[[AECEnv], AECEnv] = lambda env: env) -> Work:
    like = AEC(variant.id, **variant.options)
    return Work(one_game_of(wrap(Idle(like))), f"constant {view_of(variant)}")


def usual_wrappers(env: AECEnv) -> AECEnv:
    """PettingZoo's usual wrappers."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


# --- Many games


def many_games(variant: Variant) -> Work:
    """Random actions for the learners against random opponents; all seats' decisions count."""
    env = VectorSeatEnv(variant.id, MANY, **variant.options)
    env.reset(seed=0)
    decisions = decisions_in_a_step(variant)

    def play() -> int:
        env.step(env.sample_actions())
        return decisions

    shows = f"{view_of(variant)} for the learners only"
    return Work(play, f"{shows}; batch of {MANY:,}, threads: {default_threads()}")


def decisions_in_a_step(variant: Variant) -> int:
    """The average over all seats together; forced moves do not count."""
    others = CountingRandomPlay()
    env, learners = VectorSeatEnv(variant.id, MANY, opponent=others, **variant.options), 0
    _, infos = env.reset(seed=0)
    for step in range(2 * COUNTED):
        if step == COUNTED:
            others.decisions = learners = 0
        learners += choices(infos["action_mask"])
        infos = env.step(env.sample_actions())[-1]
    return (learners + others.decisions) // COUNTED


class CountingRandomPlay(RandomPlay):
    """Random play that counts its decisions."""

    decisions = 0

    def act(self, observation: Any, mask: NDArray[np.int8], memory: Any, rng: Any) -> Any:
        self.decisions += choices(mask)
        return super().act(observation, mask, memory, rng)


def choices(masks: NDArray[np.int8]) -> int:
    return int(np.count_nonzero(masks.sum(1) > 1))


def kernel_side(variant: Variant) -> Side:
    return Side(f"{variant.id}, the kernel alone", partial(random_play, variant, np.float32, MANY))
