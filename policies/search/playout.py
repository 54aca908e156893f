"""Games played on by a policy in all seats, many at once: to their end, or to that of the round.

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
    alike: int = 1,
    turns: int = maxsize,
) -> Returns:
    """What each seat earns, (B, S), if these actions, (B,), are taken and the policy plays on.

    The games are played on in place. `memory` (B, S, M) is what the policy remembers in each seat
    before its next decision there, by default as at the beginning of a game. Where a new round
    begins, the `judge` of two rivals says what it is worth, and the game is left; without one, or
    one that cannot tell, games go to their end. So many games in a row, `alike`, have the same luck
    in the choices of the policy. After so many `turns` of each game it is left as it is.
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
        actions = sample(chances, rng.random(1 + len(games) // alike)[going // alike])
    if judge is not None:
        add_prospects(judge, games, rounds, earned)
    return earned


def rounds_of(games: NDArray[Any]) -> NDArray[Any]:
    """The number of the round that is played, (B,); 0 in a game without rounds."""
    has_rounds = "round_number" in (games.dtype.names or ())
    return games["round_number"].copy() if has_rounds else np.zeros(len(games), np.int32)


def add_prospects(
    judge: Policy, games: NDArray[Any], rounds: NDArray[Any], earned: Returns
) -> None:
    """Add, where a round has begun, what that is worth; all at once, as this is cheaper."""
    rows = np.flatnonzero((games["mover"] >= 0) & (rounds_of(games) != rounds))
    if rows.size:
        seats = games["mover"][rows].astype(np.int64)
        seen = views(judge.variant, games[rows], seats)
        values = judge.values(*seen, judge.initial_memory(len(rows)))
        earned[rows, seats] += values
        earned[rows, 1 - seats] -= values


def play_randomly(policy: Policy, games: NDArray[Any]) -> Returns:
    """What each seat earns, (B, S), if all that follows is random."""
    earned = np.zeros((len(games), policy.variant.seats), np.float32)
    masks = np.empty((len(games), policy.variant.actions.size), np.int8)
    decisions = np.empty(len(games), np.int64)
    kernels.parallel_for(kernels.play_out, policy.variant.rule_set, games, masks, earned, decisions)
    return earned.astype(np.float64)


def behind(results: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far each action is behind the best, (J,), by results in the same worlds, (K, J).

    Also the standard error of that, (J,).
    """
    apart = results[:, [results.mean(0).argmax()]] - results  # (K, J)
    return apart.mean(0), apart.std(0) / np.sqrt(len(apart))
