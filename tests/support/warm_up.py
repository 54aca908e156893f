"""Compile what most tests need of a game: `make test` does this once, while it lints."""

import sys
from contextlib import redirect_stdout
from io import StringIO
from tempfile import TemporaryDirectory

import gymnasium
import numpy as np

import hanamachi
from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.policies import load_policy
from hanamachi.sessions.worlds import Worlds
from hanamachi.training import Config, evaluate, train
from hanamachi.training.benchmark.kernel import kernel_alone
from hanamachi.training.exact import nash_conv, solve, tree_of
from hanamachi.training.exact.small import small_versions
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

SEARCHES = "search:mcts:worlds=2", "search:endgame:greedy:worlds=2"
POLICIES = {  # by the variant that they play
    "hanamikoji": ("greedy", "expert", *SEARCHES),
    "geishas_road:2021": ("greedy", "expert", *SEARCHES),
    "hanabi:2p": ("greedy", "expert", "hanabi:2p", "search:single_agent:expert:worlds=2,hands=2"),
    "hanabi:4p": ("hat",),
}


def main(game: str) -> None:
    variant = hanamachi.variant(next(iter(hanamachi.GAMES[game].variants)))
    play_one(variant.id)
    play_many(variant)
    deal_worlds(variant)
    tree_of(small_versions(game)[0].variant())
    for id, policies in POLICIES.items():
        if hanamachi.VARIANTS[id].name == game:
            evaluate(["random", *policies], id, games=2)
    if game != "geishas_road":
        measure(variant)
    if game == "hanamikoji":
        learn(variant)


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
        for dtype in (np.float32, np.int8) if variant.game.name == "hanamikoji" else (np.float32,):
            kind = {"opponent": opponent, "dtype": dtype}
            games = gymnasium.make_vec(f"hanamachi/{title}-v0", num_envs=2, **kind)
            games.reset(seed=0)
            games.step(games.unwrapped.sample_actions())
    batch = SelfPlayVecEnv(variant, 2)
    batch.reset()
    batch.advance(batch.masks.argmax(1))
    whole = np.empty(batch.observations.shape, np.int8)
    kernels.observations(variant.rule_set, batch.games, batch.movers, whole)


def deal_worlds(variant: Variant) -> None:
    """Worlds in the middle of a game, and the round that led there."""
    games = variant.new(np.arange(1, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    worlds = Worlds(variant, games, games["mover"]).sample(0, np.arange(2, dtype=np.uint64))
    count = kernels.decisions_of_others(variant.rule_set, games, 0)
    positions = np.empty((2, count), worlds.dtype)
    kernels.retrace(variant.rule_set, worlds, 0, positions, np.empty((2, count), np.int64))
    kernels.outcomes_of(variant.rule_set, games[0], np.empty(64, np.int64), np.empty(64))
    kernels.rewind_one(variant.rule_set, games[0])
    kernels.next_event_of(variant.rule_set, worlds[0], games[0])
    masks = np.zeros((1, variant.actions.size), np.int8)
    earned = np.empty((1, variant.seats), np.float32)
    kernels.play_out(variant.rule_set, games, masks, earned, np.empty(1, np.int64))


def measure(variant: Variant) -> None:
    """The loops whose speed is measured."""
    for dtype in (np.float32, np.int8):
        kernel_alone(variant, dtype, batch=2).prepare().play()


def learn(variant: Variant) -> None:
    """A moment of training, and the solution of a small version."""
    tiny = {"game": variant.id, "steps": 8, "num_games": 4, "network": {"hidden": [4]}}
    judged = {"games": 2, "final_games": 2, "opponents": ["random"], "final_opponents": ["random"]}
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        train(Config.from_dict({**tiny, "ppo": {"batch_size": 4}, "evaluation": judged}), folder)
    tree = tree_of(small_versions(variant.game.name)[0].variant())
    nash_conv(tree, solve(tree, 1).policy)


if __name__ == "__main__":
    main(sys.argv[1])
