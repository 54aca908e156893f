"""What a network learns from a dataset: its features, and returns as training discounts them.

Notation: n decisions, G games, S seats, N entries of an observation, F of the features, T decisions
of a game with a choice.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.errors import UserError
from hanamachi.policies.features.base import Features
from hanamachi.training.dataset.read import Dataset
from hanamachi.training.learner.clone import Lessons
from hanamachi.training.learner.rollout_buffer import mover_signed_advantages


def lessons(dataset: Dataset, features: Features, gamma: float) -> Lessons:
    """The decisions of a whole dataset, without forced moves, for a network with these features.

    UserError if there are none.
    """
    chosen, added = dataset.decisions, features_of(dataset, features)[dataset.legal > 1]
    if not len(chosen):
        raise UserError("the dataset has forced moves only, so nothing can be learned from it")
    units = dataset.variant.observation.units
    returns = discounted(chosen, gamma)
    return Lessons(chosen.observation, units, added, chosen.mask, chosen.probabilities, returns)


def features_of(dataset: Dataset, features: Features) -> NDArray[np.float32]:
    """The features of every row, (n, F); each seat carries its memory through its game."""
    size, games = dataset.variant.observation.size, dataset.recipe.games
    memory = features.initial_memory(games * dataset.variant.seats)
    memory = memory.reshape(games, dataset.variant.seats, memory.shape[1])
    added = np.zeros((len(dataset), features.layout.size - size), np.float32)
    for rows in dataset.by_decision() if added.size else ():
        now = dataset.part(rows)
        place = now.game, now.seat
        seen, memory[place] = features.extend(now.observations, now.mask, memory[place])
        added[rows] = seen[:, size:]
    return added


def discounted(chosen: Dataset, gamma: float) -> NDArray[np.float32]:
    """The return of each decision, (n,), discounted by gamma for each decision that follows.

    As in self-play, the decisions of all seats are one sequence, and what a foe earns counts as
    lost.
    """
    rewards, signs, ended = credit_of(chosen)
    starts = np.flatnonzero(np.diff(chosen.game, prepend=-1))
    column = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(chosen)))
    place = np.arange(len(chosen)) - starts[column], column  # a column for each game, (T, G)
    # with values of 0 and a lambda of 1, an advantage is the discounted return
    no_values = on_grid(np.zeros(len(chosen), np.float32), place, 1)
    played = on_grid(rewards, place), no_values, on_grid(ended, place), on_grid(signs, place)
    found = mover_signed_advantages(*played, gamma, gae_lambda=1.0)
    returns: NDArray[np.float32] = found[place].astype(np.float32)
    return returns


def credit_of(
    chosen: Dataset,
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.bool_]]:
    """What each decision earns, the sign of the next mover's return, and whether the game ends.

    (n,) each. Datasets keep returns, and a reward is the difference of two.
    """
    goes_on = np.append(chosen.game[1:] == chosen.game[:-1], False)
    same_side = np.append(chosen.seat[1:] == chosen.seat[:-1], False)
    signs = np.where(same_side | chosen.variant.game.cooperative, 1, -1)
    rewards = chosen.returns - goes_on * signs * np.append(chosen.returns[1:], 0)
    return rewards.astype(np.float32), signs, ~goes_on


def on_grid(row: NDArray[Any], place: Sequence[NDArray[np.int64]], more: int = 0) -> NDArray[Any]:
    """Numbers of all decisions, (n,), as a game's in a column, (T + more, G); 0 after its end."""
    length, games = (int(each.max(initial=0)) + 1 for each in place)
    grid = np.zeros((length + more, games), row.dtype)
    grid[tuple(place)] = row
    return grid
