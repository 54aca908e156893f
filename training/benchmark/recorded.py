"""Games by policies of some skill, recorded: engines that are led through them do the same work."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import kernel
from hanamachi.engine.game import OVER, Variant, apply, legal, observe, start
from hanamachi.engine.kernels import settle
from hanamachi.engine.words import nth_legal
from hanamachi.policies import load_policy
from hanamachi.sessions.opponents import RandomPlay
from hanamachi.sessions.record import Record, record_of
from hanamachi.sessions.session import Session
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

NOISE = 0.1  # share of random moves in play of some skill


def recorded(games: SelfPlayVecEnv, length: int) -> NDArray[np.int64]:
    """Decisions in every row, (length, B), games in turn at random and by the greedy policy.

    A tenth of the latter's decisions is also left to the dice.
    """
    variant, batch, dice = games.variant, games.num_envs, RandomPlay()
    greedy = load_policy("greedy", variant.id, **variant.options)
    memory, rng = greedy.initial_memory(batch), np.random.default_rng(0)
    at_random = np.arange(batch) % 2 == 0
    actions = np.zeros((length, batch), np.int64)
    games.restart()
    for t in range(length):
        view = games.observations, games.masks, memory, rng
        left_to_dice = at_random | (rng.random(batch) < NOISE)
        actions[t] = np.where(left_to_dice, dice.act(*view)[0], greedy.act(*view)[0])
        games.advance(actions[t])
        at_random ^= games.terminated
    return actions


@kernel
def follow(
    rule_set: Any,
    games: NDArray[Any],
    actions: NDArray[np.int64],
    observations: NDArray[Any],
    masks: NDArray[np.int8],
) -> None:
    """The given decisions, (B, T), one after the other, observation and mask of each one written.

    Moves without a choice are made between them; a game that ends begins anew.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        game, t = games[b], 0
        while t < actions.shape[1]:
            if game.mover == OVER:
                start(rule_set, game)
                settle(rule_set, game, weights)
            if legal(rule_set, game, masks[b]) > 1:
                observe(rule_set, game, game.mover, observations[b])
                apply(rule_set, game, actions[b, t])
                t += 1
            else:
                apply(rule_set, game, nth_legal(masks[b], 0))
            settle(rule_set, game, weights)


def recorded_games(variant: Variant, rows: int, length: int) -> list[Record]:
    """All games that end within so many decisions in so many rows."""
    games = SelfPlayVecEnv(variant, rows)
    generators = games.games["rng"].tolist()
    played = zip(generators, recorded(games, length).T.tolist(), strict=True)
    return [record for generator, row in played for record in finished(variant, generator, row)]


def finished(variant: Variant, generator: int, actions: list[int]) -> Iterator[Record]:
    """The games that a row's generator and actions have led to their end."""
    session = Session(variant)
    session.begin_dealt(generator, ())
    for action in actions:
        session.step(action)
        if session.mover == OVER:
            yield record_of(session)
            session.begin()
