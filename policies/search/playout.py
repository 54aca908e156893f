"""Play many games on with one policy in all seats, to the end of the game or of the round.

Notation: B games, S seats, M entries of a memory, K worlds, J actions.
"""

from sys import maxsize
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.policies.policy import Memory, Policy, RandomPolicy, sample, views
from hanamachi.sessions.opponents import initial_memory

Returns = NDArray[np.float64]  # (B, S) what each seat earns


def play_out(
    policy: Policy,
    games: NDArray[Any],
    actions: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    memory: Memory | None = None,
    judge: Policy | None = None,
    group_size: int = 1,
    turns: int = maxsize,
) -> Returns:
    """What each seat earns, (B, S), if these actions, (B,), are taken and then `policy` plays.

    The games are changed in place. `memory` (B, S, M) is the policy's memory in each seat before
    its next decision there, by default the initial one. In a competitive game, play stops where a
    new round begins, and the `judge` adds the value of that round; without a judge that has values,
    games go to their end. Each `group_size` consecutive games share the random numbers of the
    policy. A game also stops after `turns` turns.
    """
    variant, rounds = policy.variant, rounds_of(games)
    judge = judge if judge is not None and judge.has_values else None
    earned = np.zeros((len(games), variant.seats))
    memory = initial_memory(policy, *earned.shape) if memory is None else memory.copy()
    going = np.arange(len(games))
    for turn in range(turns):
        on = games[going]
        kernels.parallel_for(kernels.step, variant.rule_set, on, actions)
        games[going] = on
        earned[going] += on["rewards"][:, : variant.seats]
        going = going[on["mover"] >= 0]
        if isinstance(policy, RandomPolicy) and judge is None:
            earned[going] += play_randomly(policy, games[going])
            return earned
        if judge is not None:
            going = going[rounds_of(games[going]) == rounds[going]]
        if going.size == 0 or turn + 1 == turns:
            break
        seats = games["mover"][going].astype(np.int64)
        seen = views(variant, games[going], seats)
        chances, _, memory[going, seats] = policy.distribution(*seen, memory[going, seats])
        actions = sample(chances, rng.random(1 + len(games) // group_size)[going // group_size])
    if judge is not None:
        add_round_values(judge, games, rounds, earned)
    return earned


def rounds_of(games: NDArray[Any]) -> NDArray[Any]:
    """The number of the current round, (B,); 0 in a game without rounds."""
    has_rounds = "round_number" in (games.dtype.names or ())
    return games["round_number"].copy() if has_rounds else np.zeros(len(games), np.int32)


def add_round_values(
    judge: Policy, games: NDArray[Any], rounds: NDArray[Any], earned: Returns
) -> None:
    """Add the judge's value of each round that has begun, in one batch, which is cheaper."""
    rows = np.flatnonzero((games["mover"] >= 0) & (rounds_of(games) != rounds))
    if rows.size:
        seats = games["mover"][rows].astype(np.int64)
        seen = views(judge.variant, games[rows], seats)
        values = judge.values(*seen, judge.initial_memory(len(rows)))
        earned[rows, seats] += values
        earned[rows, 1 - seats] -= values


def play_randomly(policy: Policy, games: NDArray[Any]) -> Returns:
    """What each seat earns, (B, S), if all seats play at random."""
    earned = np.zeros((len(games), policy.variant.seats), np.float32)
    masks = np.empty((len(games), policy.variant.actions.size), np.int8)
    decisions = np.empty(len(games), np.int64)
    kernels.parallel_for(kernels.play_out, policy.variant.rule_set, games, masks, earned, decisions)
    return earned.astype(np.float64)


def gap_to_best(results: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean gap of each action to the best, (J,), and its standard error, (J,).

    `results` (K, J) are of the same worlds for every action.
    """
    gaps = results[:, [results.mean(0).argmax()]] - results  # (K, J)
    return gaps.mean(0), gaps.std(0) / np.sqrt(len(gaps))
