"""The faces for single games: a plain loop of `last` and `step`, as a user of PettingZoo writes it.

A face that does nothing is the floor: what the loop and PettingZoo's wrappers cost by themselves.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo.utils import AECEnv, wrappers

from hanamachi.aec import AEC, ILLEGAL_REWARD, make
from hanamachi.game import Variant
from hanamachi.hanabi.rules import PLAY
from hanamachi.training.benchmark.measure import Contest, Play, Side, Work, view_of

RISK = 0.02  # share of decisions in which cautious play may play a card
IDLE_STEPS = 40  # of a game in which nothing happens

Choose = Callable[[NDArray[np.int64], np.random.Generator], int]  # one of the legal actions


def contests(rules: Variant, peers: bool) -> list[Contest]:
    """Ours, bare and wrapped, beside the floor and beside PettingZoo's own."""
    bare = [Side("idle raw_env()", partial(idle, rules))]
    wrapped = [Side("idle env()", partial(idle, rules, guarded))]
    if peers:
        bare.append(connect_four("raw_env"))
        wrapped.append(connect_four("env"))
    return [Contest(raw_face(rules), bare), Contest(wrapped_face(rules), wrapped)]


def raw_face(rules: Variant) -> Side:
    return Side(f"{rules.id}, raw_env()", partial(face, AEC, rules))


def wrapped_face(rules: Variant) -> Side:
    return Side(f"{rules.id}, env()", partial(face, make, rules))


def face(of: Callable[..., Any], rules: Variant) -> Work:
    env = of(rules.id, **rules.options)
    return Work(one_game_of(env, choice(rules)), f"{view_of(rules)}; one game from Python")


def connect_four(name: str) -> Side:
    def work() -> Work:
        from pettingzoo.classic.connect_four import connect_four as game

        gives = "int8 observation of 84 entries, int8 mask of 7; one game from Python"
        return Work(one_game_of(getattr(game, name)()), gives)

    return Side(f"PettingZoo connect_four, {name}()", work, "PettingZoo's classic games")


# --- Play


def at_random(legal: NDArray[np.int64], rng: np.random.Generator) -> int:
    return int(legal[int(rng.random() * len(legal))])


def cautious(first: int, end: int) -> Choose:
    """Random play for Hanabi, whose actions from `first` to before `end` play a card.

    It seldom plays one, so that its games last until the deck is empty.
    """

    def choose(legal: NDArray[np.int64], rng: np.random.Generator) -> int:
        safe = legal[(legal < first) | (legal >= end)]
        return at_random(safe if len(safe) and rng.random() >= RISK else legal, rng)

    return choose


def choice(rules: Variant) -> Choose:
    if rules.game.name != "hanabi":
        return at_random
    return cautious(*map(int, rules.actions.first[PLAY : PLAY + 2]))


def one_game_of(env: Any, choose: Choose = at_random) -> Play:
    """A whole game of a PettingZoo environment; moves without a choice do not count."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def play() -> int:
        env.reset()
        decisions = 0
        while True:
            observation, _, over, cut, _ = env.last()
            if over or cut:
                return decisions
            legal = np.flatnonzero(observation["action_mask"])
            decisions += len(legal) > 1
            env.step(choose(legal, rng))

    return play


# --- The floor


class Idle(AECEnv):
    """Nothing happens in it; spaces and views have the sizes of another environment's."""

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


def idle(rules: Variant, wrap: Callable[[AECEnv], AECEnv] = lambda env: env) -> Work:
    like = AEC(rules.id, **rules.options)
    return Work(one_game_of(wrap(Idle(like))), f"always the same {view_of(rules)}")


def guarded(env: AECEnv) -> AECEnv:
    """PettingZoo's usual wrappers."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))
