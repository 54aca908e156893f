"""The faces as a user writes them: a loop of `last` and `step` for one game, of `step` for many.

A face that does nothing is the floor for one game: what the loop and PettingZoo's wrappers cost by
themselves. For many games it is the kernel, without a face.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo.utils import AECEnv, wrappers

from hanamachi.adapters.aec import AEC, ILLEGAL_REWARD, make
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi.rules import PLAY
from hanamachi.sessions.opponents import RandomPlay
from hanamachi.training.benchmark.kernel import random_play
from hanamachi.training.benchmark.measure import Contest, Play, Side, Work, view_of

RISK = 0.02  # share of decisions in which cautious play may play a card
IDLE_STEPS = 40  # of a game in which nothing happens
MANY = 4096  # games of a vector environment
COUNTED = 20  # its steps in which decisions are counted, after as many that are not

Choose = Callable[[NDArray[np.int64], np.random.Generator], int]  # one of the legal actions


def contests(variant: Variant, peers: bool) -> list[Contest]:
    """Ours beside the floor and beside PettingZoo's own."""
    zoo = {name: [connect_four(name)] if peers else [] for name in ("raw_env", "env")}
    floor = Side("idle raw_env()", partial(idle, variant))
    wrapped_floor = Side("idle, usual wrappers", partial(idle, variant, guarded))
    return [
        Contest(raw_face(variant), [floor, *zoo["raw_env"]]),
        Contest(Side(f"{variant.id}, env()", partial(face, make, variant)), zoo["env"]),
        Contest(Side(f"{variant.id}, usual wrappers", partial(wrapped, variant)), [wrapped_floor]),
        Contest(Side(f"{variant.id}, VectorEnv", partial(many, variant)), [kernel(variant)]),
    ]


def raw_face(variant: Variant) -> Side:
    return Side(f"{variant.id}, raw_env()", partial(face, AEC, variant))


def face(of: Callable[..., Any], variant: Variant) -> Work:
    env = of(variant.id, **variant.options)
    return Work(one_game_of(env, choice(variant)), f"{view_of(variant)}; one game from Python")


def wrapped(variant: Variant) -> Work:
    return face(lambda *id, **options: guarded(AEC(*id, **options)), variant)


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


def choice(variant: Variant) -> Choose:
    if variant.game.name != "hanabi":
        return at_random
    return cautious(*map(int, variant.actions.first[PLAY : PLAY + 2]))


def one_game_of(env: Any, choose: Choose = at_random) -> Play:
    """A whole game of a PettingZoo environment; moves without a choice do not count."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def play() -> int:
        env.reset()
        decisions = 0
        while True:
            observation, _, terminated, cut, _ = env.last()
            if terminated or cut:
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


def idle(variant: Variant, wrap: Callable[[AECEnv], AECEnv] = lambda env: env) -> Work:
    like = AEC(variant.id, **variant.options)
    return Work(one_game_of(wrap(Idle(like))), f"always the same {view_of(variant)}")


def guarded(env: AECEnv) -> AECEnv:
    """PettingZoo's usual wrappers."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


# --- Many games


def many(variant: Variant) -> Work:
    """Random actions for the learners against random play; the decisions of all seats count."""
    env = VectorSeatEnv(variant.id, MANY, **variant.options)
    env.reset(seed=0)
    decisions = decisions_in_a_step(variant)

    def play() -> int:
        env.step(env.sample_actions())
        return decisions

    shows = f"{view_of(variant)} of the learners' decisions alone"
    return Work(play, f"{shows}; batch of {MANY:,}, threads: {kernels.default_threads()}")


def decisions_in_a_step(variant: Variant) -> int:
    """Of all seats together, on average; those without a choice do not count."""
    others = Counted()
    env, learners = VectorSeatEnv(variant.id, MANY, opponent=others, **variant.options), 0
    _, infos = env.reset(seed=0)
    for step in range(2 * COUNTED):
        if step == COUNTED:
            others.decisions = learners = 0
        learners += choices(infos["action_mask"])
        infos = env.step(env.sample_actions())[-1]
    return (learners + others.decisions) // COUNTED


class Counted(RandomPlay):
    """Random play that counts its decisions."""

    decisions = 0

    def act(self, observation: Any, mask: NDArray[np.int8], memory: Any, rng: Any) -> Any:
        self.decisions += choices(mask)
        return super().act(observation, mask, memory, rng)


def choices(masks: NDArray[np.int8]) -> int:
    return int(np.count_nonzero(masks.sum(1) > 1))


def kernel(variant: Variant) -> Side:
    return Side(f"{variant.id}, its kernel", partial(random_play, variant, np.float32, MANY))
