"""Compile what most tests need of a game: `make test` does this once, while it lints."""

import sys

import numpy as np
from relived import next_event_of, rewind_one

import hanamachi
from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.games.small import small_versions
from hanamachi.sessions.worlds import Worlds
from hanamachi.training import evaluate
from hanamachi.training.cli.warmup import learn, use_environments
from hanamachi.training.exact import nash_conv, solve, tree_of

SEARCHES = "search:mcts:worlds=2", "search:endgame:greedy:worlds=2"
POLICIES = {  # by the variant that they play
    "hanamikoji": ("greedy", "expert", *SEARCHES),
    "geishas_road:2021": ("greedy", "expert", *SEARCHES),
    "hanabi:2p": ("greedy", "expert", "hanabi:2p", "search:single_agent:expert:worlds=2,hands=2"),
    "hanabi:3p": ("hat", "hanabi:3p"),
}


def main(what: str) -> None:
    if what == "training":
        learn("hanamikoji")
    else:
        warm_up(what)


def warm_up(game: str) -> None:
    """Its environments, policies and searches, and self-play; the base install is enough."""
    variant = hanamachi.variant(next(iter(hanamachi.GAMES[game].variants)))
    use_environments(variant.id, (np.float32, np.int8) if game == "hanamikoji" else (np.float32,))
    play_in_batches(variant)
    deal_worlds(variant)
    solve_small(game)
    for id, policies in POLICIES.items():
        if hanamachi.VARIANTS[id].name == game:
            evaluate(["random", *policies], id, games=2)


def play_in_batches(variant: Variant) -> None:
    """A step of self-play, and random play as it is measured; observations in both types."""
    games = variant.new(np.arange(2, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    masks = np.zeros((2, variant.actions.size), np.int8)
    kernels.masks(variant.rule_set, games, masks)
    seen, last = np.zeros((2, 2, variant.observation.size), np.float32)
    rewards, terminated = np.zeros((2, variant.seats), np.float32), np.zeros(2, np.bool_)
    actions = masks.argmax(1)
    kernels.advance(variant.rule_set, games, actions, seen, masks, rewards, terminated, last)
    for out in seen, seen.astype(np.int8):
        kernels.observations(variant.rule_set, games, games["mover"].astype(np.int64), out)
        if variant.game.name == "hanamikoji":
            kernels.random_decisions(variant.rule_set, games, 1, out, masks)


def deal_worlds(variant: Variant) -> None:
    """Worlds in the middle of a game, and the round that led there."""
    games = variant.new(np.arange(1, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    worlds = Worlds(variant, games, games["mover"]).sample(0, np.arange(2, dtype=np.uint64))
    count = kernels.count_others_decisions(variant.rule_set, games, 0)
    positions = np.empty((2, count), worlds.dtype)
    kernels.retrace(variant.rule_set, worlds, 0, positions, np.empty((2, count), np.int64))
    kernels.outcomes_of(variant.rule_set, games[0], np.empty(64, np.int64), np.empty(64))
    rewind_one(variant.rule_set, games[0])
    next_event_of(variant.rule_set, worlds[0], games[0])
    masks = np.zeros((1, variant.actions.size), np.int8)
    earned = np.empty((1, variant.seats), np.float32)
    kernels.play_out(variant.rule_set, games, masks, earned, np.empty(1, np.int64))


def solve_small(name: str) -> None:
    """Walk a small version; solve it, if the game is competitive."""
    tree = tree_of(hanamachi.variant(small_versions(name)[0]))
    if not hanamachi.GAMES[name].cooperative:
        nash_conv(tree, solve(tree, 1).policy)


if __name__ == "__main__":
    main(sys.argv[1])
