"""Playouts: a policy plays all seats of many games, to the end of the game or of the round.

Notation: B games, S seats, M entries of a memory, K worlds, J actions.
"""

from sys import maxsize
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.threads import parallel_for
from hanamachi.policies.arrays import Memory
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.sampling import sample, uniforms
from hanamachi.sessions.arguments import SEEDS
from hanamachi.sessions.observations import observe
from hanamachi.sessions.players import SeatedPlayer, in_progress, step, turns_of
from hanamachi.sessions.policy_checks import memory_of, values_of

Returns = NDArray[np.float64]  # (B, S) what each seat earns
Luck = NDArray[np.uint64]  # (B,) games with the same number have the same random numbers

DROP_GAP = 2.0  # an action is dropped if it is worse by more standard errors than this


def play_on(
    policy: Policy, games: NDArray[Any], rng: np.random.Generator, luck: Luck | None = None
) -> Returns:
    """What each seat earns, (B, S), if `policy` plays all seats of games in progress to their end.

    It begins with the memory of a new game. The games are changed; see `play_out`.
    """
    variant = policy.variant
    player = SeatedPlayer(policy, variant, len(games))
    actions = player.act(turns_of(variant, games, np.arange(len(games))), rng)
    if luck is None:
        luck = rng.integers(SEEDS, size=len(games), dtype=np.uint64)
    return play_out(policy, games, actions, luck, memory=player.memory)


def play_out(
    policy: Policy,
    games: NDArray[Any],
    actions: NDArray[np.int64],
    luck: Luck,
    *,
    memory: Memory | None = None,
    value_policy: Policy | None = None,
    turns: int = maxsize,
) -> Returns:
    """What each seat earns, (B, S), if these actions, (B,), are taken and then `policy` plays.

    The games are changed in place: afterwards they stand where they were left. `memory` (B, S, M)
    is what the policy remembers in each seat before its next decision there, by default as at the
    start of a game. In a competitive game with a `value_policy` that has values, a game stops where
    a new round begins, and its value is added; otherwise games run to their end. The policy chooses
    by the random numbers that belong to the game's `luck`; random play to the end takes the game's
    own instead, as it is compiled. A game stops after `turns` decisions.
    """
    variant, first_rounds = policy.variant, rounds_of(games)
    valuer = value_policy if value_policy is not None and value_policy.has_values else None
    earned = step(variant, games, np.arange(len(games)), actions).astype(np.float64)
    if isinstance(policy, RandomPolicy) and valuer is None and turns == maxsize:
        return earned + random_play_out(policy, games)
    memory = None if memory is None else memory.copy()
    player = SeatedPlayer(policy, variant, len(games), memory)
    for turn in range(turns - 1):
        going = in_progress(games)
        if valuer is not None:
            going = going[rounds_of(games[going]) == first_rounds[going]]
        if going.size == 0:
            break
        probabilities, _ = player.distribution(turns_of(variant, games, going))
        actions = sample(probabilities, uniforms(luck[going], turn))
        earned[going] += step(variant, games, going, actions)
    if valuer is not None:
        add_values(valuer, games, first_rounds, earned)
    return earned


def rounds_of(games: NDArray[Any]) -> NDArray[Any]:
    """The number of the current round, (B,); 0 in a game without rounds."""
    has_rounds = "round_number" in (games.dtype.names or ())
    return games["round_number"].copy() if has_rounds else np.zeros(len(games), np.int32)


def add_values(policy: Policy, games: NDArray[Any], rounds: NDArray[Any], earned: Returns) -> None:
    """Add the values of the rounds that have begun; one call for all, as this is cheaper."""
    rows = np.flatnonzero((games["mover"] >= 0) & (rounds_of(games) != rounds))
    if rows.size:
        seats = games["mover"][rows].astype(np.int64)
        seen = observe(policy.variant, games[rows], seats)
        values = values_of(policy, *seen, memory_of(policy, len(rows)))
        earned[rows, seats] += values
        earned[rows, 1 - seats] -= values


def random_play_out(policy: Policy, games: NDArray[Any]) -> Returns:
    """What each seat earns, (B, S), if all seats play at random; games that are over stay so."""
    going = in_progress(games)
    left, earned = games[going], np.zeros((len(games), policy.variant.seats))
    rewards = np.zeros((len(left), policy.variant.seats), np.float32)
    masks = np.empty((len(left), policy.variant.actions.size), np.int8)
    decisions = np.empty(len(left), np.int64)
    parallel_for(kernels.play_out, policy.variant.rule_set, left, masks, rewards, decisions)
    games[going], earned[going] = left, rewards
    return earned


def not_clearly_worse(results: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which actions, (J,), may still be the best by their results, (K, J)."""
    gap, error = gap_to_best(results)
    kept: NDArray[np.bool_] = gap <= DROP_GAP * error
    return kept


def gap_to_best(
    results: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean gap of each action to the best, (J,), and its standard error, (J,).

    `results` (K, J) are of the same worlds for every action. Of one world, which tells nothing
    about the others, the error is infinite.
    """
    gaps = results[:, [results.mean(0).argmax()]] - results  # (K, J)
    error = gaps.std(0) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.full(gaps.shape[1], np.inf)
    return gaps.mean(0), error
