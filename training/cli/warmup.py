"""Compile ahead of time what a game's environments, policies, searches and training need."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from hanamachi.adapters.aec import make
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine.game import Game
from hanamachi.errors import unknown
from hanamachi.games.registry import GAMES, variant
from hanamachi.policies.load import load_policy
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.training.evaluation.matches import evaluate

COOPERATIVE = ("search:single_agent:expert:worlds=2,hands=2",)
COMPETITIVE = tuple(f"search:{kind}:greedy:worlds=2" for kind in ("mcts", "improve", "endgame"))


class Step(NamedTuple):
    """Something that a game needs; `use` compiles it."""

    game: str
    name: str
    use: Callable[[], None]


def parts(names: Sequence[str] | None = None) -> Iterator[Step]:
    """What there is to compile of these games, by default of all."""
    wanted = list(GAMES) if names is None else names
    for name in wanted:  # all before the first one is compiled for minutes
        if name not in GAMES:
            raise unknown("game", name, GAMES)
    for name in wanted:
        yield from parts_of(GAMES[name])


def parts_of(game: Game) -> Iterator[Step]:
    id = next(iter(game.variants))
    searches = COOPERATIVE if game.cooperative else COMPETITIVE
    yield Step(game.name, "environments", lambda: use_environments(id))
    for fitting, rules in rule_policies(game).items():
        yield Step(game.name, " and ".join(rules), partial(use_policies, fitting, rules))
    yield Step(game.name, "agents and searches", lambda: use_policies(id, [id, *searches]))
    if find_spec("stable_baselines3") and find_spec("sb3_contrib"):
        yield Step(game.name, "training", lambda: learn(id))


def rule_policies(game: Game) -> dict[str, list[str]]:
    """All rule policies of a game, each by the first variant that it can play."""
    of_variant: dict[str, list[str]] = {}
    known: set[str] = set()
    for id in game.variants:
        if new := [name for name in rule_policies_for(variant(id)) if name not in known]:
            of_variant[id] = new
            known.update(new)
    return of_variant


def use_environments(id: str, dtypes: Sequence[type[Any]] = (np.float32, np.int8)) -> None:
    """Play a game of PettingZoo, and a step of many games of Gymnasium, in all their ways."""
    env = make(id, render_mode="ansi")
    env.reset(seed=0, options={"deal": ()})
    for agent in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        mask = observation["action_mask"]
        env.step(None if terminated else env.action_space(agent).sample(mask))
    env.unwrapped.record()
    env.unwrapped.set_state(env.unwrapped.get_state())
    for opponent in (None, load_policy("greedy", id)):
        for dtype in dtypes:
            games = VectorSeatEnv(id, 2, opponent=opponent, dtype=dtype)
            games.reset(seed=0)
            games.step(games.sample_actions())


def use_policies(id: str, policies: Sequence[str]) -> None:
    """Let them play each other."""
    evaluate(policies, id, games=2)


def learn(id: str) -> None:
    """A moment of training."""
    from hanamachi.training.config import Config
    from hanamachi.training.run import train

    few = {"games": 2, "final_games": 2, "opponents": ["random"], "final_opponents": ["random"]}
    tiny = {"steps": 8, "num_games": 4, "network": {"hidden": [4]}, "ppo": {"batch_size": 4}}
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        train(Config.from_dict({"game": id, **tiny, "evaluation": few}), folder)
