"""Games by policies of some skill, recorded: engines that are led through them do the same work."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hanamachi.game import OVER, Variant
from hanamachi.opponents import RandomPlay
from hanamachi.policies import load_policy
from hanamachi.record import Record, record_of
from hanamachi.session import Session
from hanamachi.training.vecenv import SelfPlayVecEnv

NOISE = 0.1  # share of random moves in play of some skill


def recorded(games: SelfPlayVecEnv, length: int) -> NDArray[np.int64]:
    """Decisions in every row, (length, B), games in turn at random and by the greedy policy.

    A tenth of the latter's decisions is also left to the dice.
    """
    rules, batch, dice = games.variant, games.num_envs, RandomPlay()
    greedy = load_policy("greedy", rules.id, **rules.options)
    memory, rng = greedy.initial_memory(batch), np.random.default_rng(0)
    at_random = np.arange(batch) % 2 == 0
    actions = np.zeros((length, batch), np.int64)
    games.restart()
    for t in range(length):
        view = games.observations, games.masks, memory, rng
        left_to_dice = at_random | (rng.random(batch) < NOISE)
        actions[t] = np.where(left_to_dice, dice.act(*view)[0], greedy.act(*view)[0])
        games.advance(actions[t])
        at_random ^= games.over
    return actions


def recorded_games(rules: Variant, rows: int, length: int) -> list[Record]:
    """All games that end within so many decisions in so many rows."""
    games = SelfPlayVecEnv(rules, rows)
    generators = games.games["rng"].tolist()
    played = zip(generators, recorded(games, length).T.tolist(), strict=True)
    return [record for generator, row in played for record in finished(rules, generator, row)]


def finished(rules: Variant, generator: int, actions: list[int]) -> Iterator[Record]:
    """The games that a row's generator and actions have led to their end."""
    session = Session(rules)
    session.begin_anew(generator, ())
    for action in actions:
        session.step(action)
        if session.mover == OVER:
            yield record_of(session)
            session.begin()
