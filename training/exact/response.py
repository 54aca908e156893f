"""Exploitability: the values of a policy, the best responses to it, and NashConv.

A policy is an array of one probability for each sequence of a tree, (Q,), given that its
information set is reached; 1 for empty sequences. An information set belongs to one seat, so the
array can hold a different policy for each seat.

Notation: as in tree.py, and M entries of a memory.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from hanamachi.engine.compiled import kernel
from hanamachi.errors import UserError, shown
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities, Values
from hanamachi.sessions.arguments import whole_number
from hanamachi.sessions.policy_checks import distribution_of, memory_of, name_of
from hanamachi.training.exact.tree import Float64s, Integers, Tree

BATCH = 8192  # information sets in one call of a policy
ROUNDING = 1e-6  # by which probabilities may miss a sum of 1


class Distribution(Protocol):
    """The part of a policy that `tabulate` needs."""

    name: str

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values | None, Memory]: ...

    def initial_memory(self, batch: int) -> Memory: ...


@dataclass(frozen=True)
class Exploitability:
    """The values of a policy and of the best responses to it, in each seat."""

    values: Float64s  #: (S,)
    responses: Float64s  #: (S,)

    @property
    def nash_conv(self) -> float:
        """The sum of all seats' gains by best responses; 0 in an equilibrium."""
        return float((self.responses - self.values).sum())


def exploitability(tree: Tree, policy: Float64s) -> Exploitability:
    """The values of a policy and of the best responses to it, in every seat.

    UserError unless it is a policy of this tree; so in `nash_conv` and `best_response`.
    """
    policy = checked_policy(tree, policy)
    reach = reached(tree, policy)
    values, responses = np.empty(tree.seats), np.empty(tree.seats)
    for seat in range(tree.seats):
        gains = np.zeros(len(policy))
        gain(tree.leaves, tree.weighted_payoff, reach, seat, gains)
        values[seat] = reach @ gains
        respond(tree.seat, tree.before, tree.first, seat, gains)
        responses[seat] = gains[seat]
    return Exploitability(values, responses)


def nash_conv(tree: Tree, policy: Float64s) -> float:
    """The sum of all seats' gains by best responses to the others."""
    return exploitability(tree, policy).nash_conv


def best_response(tree: Tree, policy: Float64s, seat: int) -> Float64s:
    """The policy with this seat's part replaced by a best response to the others, (Q,)."""
    policy = checked_policy(tree, policy)
    if not 0 <= whole_number(seat, "a seat") < tree.seats:
        raise UserError(f"a seat must be from 0 to {tree.seats - 1}, not {shown(seat)}")
    gains = np.zeros(len(policy))
    gain(tree.leaves, tree.weighted_payoff, reached(tree, policy), seat, gains)
    respond(tree.seat, tree.before, tree.first, seat, gains)
    response = policy.copy()
    choose(tree.seat, tree.first, seat, gains, response)
    return response


def checked_policy(tree: Tree, policy: Float64s) -> Float64s:
    """A table, (Q,), that compiled code may read; UserError unless it is a policy of the tree."""
    table = np.asarray(policy)
    if table.shape != tree.action.shape or table.dtype != np.float64:
        raise UserError(
            f"a policy of this tree is an array of float64 of shape {tree.action.shape}, not "
            f"{table.dtype} of shape {table.shape}"
        )
    sums = np.add.reduceat(table, tree.first[:-1])
    if not (table >= 0).all() or not np.allclose(sums, 1, atol=ROUNDING):
        raise UserError("a policy must give probabilities that sum to 1 in each information set")
    return table


def reached(tree: Tree, policy: Float64s) -> Float64s:
    """Each seat's contribution to the probability of its sequences, (Q,)."""
    reach = policy.copy()
    multiply(tree.before, tree.first, reach)
    return reach


# --- From a policy to a table


def tabulate(tree: Tree, policy: Distribution) -> Float64s:
    """The probabilities of a policy in every information set, (Q,).

    Information sets are visited by depth: by perfect recall, the memory in one follows from the
    previous one of the seat. UserError if it is no policy, does not return distributions, or was
    loaded for other options than those of the tree.
    """
    if not callable(getattr(policy, "distribution", None)):
        raise UserError(
            f"tabulate takes a policy, as load_policy(name, tree.variant) returns it, not "
            f"{shown(policy)}"
        )
    made_for, walked = getattr(policy, "variant", None), getattr(tree, "variant", None)
    if made_for and walked and not made_for.understands(walked):
        raise UserError(
            f"{name_of(policy)} plays {made_for.id} with other options than those of the tree: "
            "load it with the same options"
        )
    table = np.ones(len(tree.action))
    fresh = memory_of(policy, 1)
    memory = np.empty((tree.sets, fresh.shape[1]), fresh.dtype)
    order = np.argsort(tree.depth, kind="stable")
    edges = np.searchsorted(tree.depth[order], np.arange(tree.depth.max() + 2))
    for begin, end in pairwise(edges):
        for low in range(begin, end, BATCH):
            sets = order[low : min(low + BATCH, end)]
            tabulate_batch(tree, policy, sets, memory, table)
    return table


def tabulate_batch(
    tree: Tree, policy: Distribution, sets: Integers, memory: Memory, table: Float64s
) -> None:
    """Write the policy's probabilities and memories in one batch of information sets."""
    previous, masks = tree.set_of[tree.before[sets]], tree.masks(sets)
    previous_memory = memory_of(policy, len(sets))
    previous_memory[previous >= 0] = memory[previous[previous >= 0]]
    probabilities, _, memory[sets] = distribution_of(
        policy, tree.observations(sets), masks, previous_memory
    )
    rows = np.asarray(probabilities, np.float64)
    rows = rows / rows.sum(1, keepdims=True)  # float32 sums to 1 in seven digits only
    table[tree.sequences_in(sets)] = rows[masks > 0]


# --- Compiled


@kernel
def multiply(
    before: Integers,  # (I,)
    first: Integers,  # (I + 1,)
    reach: Float64s,  # (Q,)
) -> None:
    """Turn probabilities in information sets into those of whole sequences, in place."""
    for i in range(len(before)):
        for q in range(first[i], first[i + 1]):
            reach[q] *= reach[before[i]]


@kernel
def gain(
    leaves: Integers,  # (L, S)
    weighted_payoff: Float64s,  # (L, S)
    reach: Float64s,  # (Q,)
    seat: int,
    gains: Float64s,  # (Q,)
) -> None:
    """Add to each sequence of a seat the payoff of its leaves, weighted by the others' reach."""
    for leaf in range(len(leaves)):
        others = weighted_payoff[leaf, seat]
        for other in range(leaves.shape[1]):
            if other != seat:
                others *= reach[leaves[leaf, other]]
        gains[leaves[leaf, seat]] += others


@kernel
def respond(
    seats: Integers,  # (I,)
    before: Integers,  # (I,)
    first: Integers,  # (I + 1,)
    seat: int,
    gains: Float64s,  # (Q,)
) -> None:
    """Add to each sequence of a seat the highest gains that can follow it."""
    for i in range(len(before) - 1, -1, -1):
        if seats[i] == seat:
            gains[before[i]] += gains[first[i] : first[i + 1]].max()


@kernel
def choose(
    seats: Integers,  # (I,)
    first: Integers,  # (I + 1,)
    seat: int,
    gains: Float64s,  # (Q,)
    policy: Float64s,  # (Q,)
) -> None:
    """Choose the action with the highest gains in each information set of a seat."""
    for i in range(len(seats)):
        if seats[i] == seat:
            policy[first[i] : first[i + 1]] = 0
            policy[first[i] + np.argmax(gains[first[i] : first[i + 1]])] = 1
