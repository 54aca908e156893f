"""Datasets as Minari episodes: what each seat of a game meets in its Gymnasium environment.

Notation: G games, S seats, N entries of an observation, A actions, T decisions of a seat.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hanamachi.adapters.registration import gymnasium_id
from hanamachi.errors import UserError
from hanamachi.sessions.observations import observe
from hanamachi.sessions.players import step, turns_of
from hanamachi.training.dataset.read import Dataset, load
from hanamachi.training.dataset.record import begun


class Episode(NamedTuple):
    """One seat's way through a game; the last observation is that of the game's end."""

    observations: NDArray[np.float32]  # (T + 1, N)
    actions: NDArray[np.int64]  # (T,)
    rewards: NDArray[np.float32]  # (T,) with what others' decisions bring; the first also earlier
    terminations: NDArray[np.bool_]  # (T,) True at the last
    truncations: NDArray[np.bool_]  # (T,) False
    masks: NDArray[np.int8]  # (T + 1, A) zeros at the end


def to_minari(dataset: str | Path | Dataset, id: str, **settings: Any) -> Any:
    """Write a dataset as Minari episodes, one for each seat of each game; returns them.

    `dataset` is what `load` takes or returns, `id` the name that Minari gives it, such as
    "hanamikoji/expert-v0", and `settings` are those of `minari.create_dataset_from_buffers`. The
    infos hold the action masks. Needs the package minari; UserError without it.
    """
    try:
        import minari
        from minari.data_collector import EpisodeBuffer
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is missing; run: pip install 'minari[hdf5]'") from None
    whole = dataset if isinstance(dataset, Dataset) else load(dataset)
    buffers = [
        EpisodeBuffer(
            observations=episode.observations,
            actions=episode.actions,
            rewards=episode.rewards,
            terminations=episode.terminations,
            truncations=episode.truncations,
            infos={"action_mask": episode.masks},
        )
        for episode in episodes(whole)
    ]
    variant, policies = whole.variant, " and ".join(whole.recipe.policies)
    env = gymnasium.make(gymnasium_id(variant.id), **variant.options)
    about = {"algorithm_name": policies, "description": f"Games of {policies} in {variant.id}."}
    with warnings.catch_warnings():  # about an author and the like, which `settings` can name
        warnings.simplefilter("ignore", UserWarning)
        return minari.create_dataset_from_buffers(id, buffers, env=env, **{**about, **settings})


def episodes(dataset: Dataset) -> Iterator[Episode]:
    """An episode for each seat that decides in a game, by game and seat."""
    last = last_observations(dataset)
    seats = dataset.game.astype(np.int64) * dataset.variant.seats + dataset.seat
    order = np.argsort(seats, kind="stable")
    begins = np.flatnonzero(np.diff(seats[order], prepend=-1))
    for rows in np.split(order, begins[1:]) if len(order) else ():
        own = dataset.part(rows)
        yield episode(own, last[own.game[0], own.seat[0]])


def episode(own: Dataset, last: NDArray[np.float32]) -> Episode:
    """The episode of a seat, from the rows of its decisions and what it sees at the end."""
    rewards = own.returns - np.append(own.returns[1:], 0)
    rewards[0] += own.earned[0]  # as in the environment, which shows the first decision first
    terminated = np.arange(len(own)) == len(own) - 1
    return Episode(
        np.vstack([own.observations, last]),
        own.action.astype(np.int64),
        rewards.astype(np.float32),
        terminated,
        np.zeros(len(own), np.bool_),
        np.vstack([own.mask, np.zeros_like(own.mask[:1])]),
    )


def last_observations(dataset: Dataset) -> NDArray[np.float32]:
    """What each seat sees at the end of each game, (G, S, N), from a replay of the actions."""
    variant, table = dataset.variant, begun(dataset.recipe)
    for rows in dataset.by_decision():
        now = dataset.part(rows)
        games = now.game.astype(np.int64)
        if not (
            (table["mover"][games] == now.seat).all()
            and (turns_of(variant, table, games).masks == now.mask).all()
        ):
            raise UserError("the games of this dataset do not follow from its seed and its actions")
        step(variant, table, games, now.action.astype(np.int64))
    every = [np.full(len(table), seat) for seat in range(variant.seats)]
    return np.stack([observe(variant, table, seats)[0] for seats in every], axis=1)
