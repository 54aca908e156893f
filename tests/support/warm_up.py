"""Compile what most tests need of a game: `make test` does this once, while it lints."""

import sys

import gymnasium
import numpy as np

import hanamachi
from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.policies import load_policy
from hanamachi.sessions.worlds import Worlds
from hanamachi.training import evaluate
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

SEARCHES = "search:mcts:worlds=2", "search:endgame:greedy:worlds=2"
POLICIES = {  # by the variant that they play
    "hanamikoji": ("greedy", "expert", *SEARCHES),
    "geishas_road:2021": ("greedy", "expert", *SEARCHES),
    "hanabi:2p": ("greedy", "expert", "search:single_agent:expert:worlds=2,hands=2"),
    "hanabi:4p": ("hat",),
}


def main(game: str) -> None:
    variant = hanamachi.variant(next(iter(hanamachi.GAMES[game].variants)))
    play_one(variant.id)
    play_many(variant)
    deal_worlds(variant)
    for id, policies in POLICIES.items():
        if hanamachi.VARIANTS[id].name == game:
            evaluate(["random", *policies], id, games=2)


def play_one(id: str) -> None:
    """A game in PettingZoo, saved, with a deal and from a state."""
    env = hanamachi.make(id, render_mode="ansi")
    env.reset(seed=0, options={"deal": ()})
    env.reset(seed=0)
    for agent in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        mask = observation["action_mask"]
        env.step(None if terminated else env.action_space(agent).sample(mask))
    env.unwrapped.record()
    env.unwrapped.set_state(env.unwrapped.get_state())


def play_many(variant: Variant) -> None:
    """A step in every environment of many games."""
    title = "".join(word.capitalize() for word in variant.game.name.split("_"))
    for opponent in (None, load_policy("greedy", variant.id)):
        games = gymnasium.make_vec(f"hanamachi/{title}-v0", num_envs=2, opponent=opponent)
        games.reset(seed=0)
        games.step(games.unwrapped.sample_actions())
    batch = SelfPlayVecEnv(variant, 2)
    batch.reset()
    batch.advance(batch.masks.argmax(1))


def deal_worlds(variant: Variant) -> None:
    """Worlds in the middle of a game, and the round that led there."""
    games = variant.new(np.arange(1, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    worlds = Worlds(variant, games, games["mover"]).sample(0, np.arange(2, dtype=np.uint64))
    count = kernels.decisions_of_others(variant.rule_set, games, 0)
    positions = np.empty((2, count), worlds.dtype)
    kernels.retrace(variant.rule_set, worlds, 0, positions, np.empty((2, count), np.int64))
    kernels.outcomes_of(variant.rule_set, games[0], np.empty(64, np.int64), np.empty(64))


if __name__ == "__main__":
    main(sys.argv[1])
