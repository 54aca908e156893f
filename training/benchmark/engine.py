"""The engine: many games side by side, observation and mask of every decision written out.

Play is random and legal. Where players cooperate, random play loses long before the deck is empty;
there, games are led through recorded play that reaches its end.
"""

from functools import partial

import numpy as np

from hanamachi import kernels
from hanamachi.game import Variant
from hanamachi.training.benchmark.faces import raw_face
from hanamachi.training.benchmark.measure import Contest, Side, Work, view_of
from hanamachi.training.benchmark.peers import engine_peers
from hanamachi.training.benchmark.recorded import recorded
from hanamachi.training.vecenv import SelfPlayVecEnv

BATCH = 1024  # games side by side; their rows fit a processor's cache
DECISIONS = 50  # a row, before the clock is looked at
RECORDED = 400  # a row: several games


def contests(rules: Variant, peers: bool) -> list[Contest]:
    """Our kernels beside our own face for single games, and beside other libraries."""
    how, work = ("mixed", mixed_play) if rules.game.cooperative else ("random", random_play)
    kernel = Side(f"{rules.id}, {how} play", partial(work, rules))
    return [Contest(kernel, [raw_face(rules), *(engine_peers(rules) if peers else ())])]


def random_play(rules: Variant) -> Work:
    games = rules.new(np.arange(BATCH, dtype=np.uint64))
    kernels.reset(rules.rules, games)
    observations = np.zeros((BATCH, rules.observation.size), np.float32)
    masks = np.zeros((BATCH, rules.actions.size), np.int8)

    def play() -> int:
        arguments = (games, DECISIONS, observations, masks)
        kernels.spread(kernels.play_randomly, rules.rules, *arguments)
        return BATCH * DECISIONS

    return Work(play, batched(rules))


def mixed_play(rules: Variant) -> Work:
    games = SelfPlayVecEnv(rules, BATCH)
    actions = recorded(games, RECORDED)

    def play() -> int:
        games.reseed(0)
        games.restart()
        for row in actions:
            games.advance(row)
        return actions.size

    return Work(play, batched(rules))


def batched(rules: Variant) -> str:
    return f"{view_of(rules)}; batch of {BATCH:,}, threads: {kernels.default_threads()}"
