"""How far a policy is from equilibrium: its value, the best responses to it, NashConv.

A policy is one probability for every sequence of a tree, (Q,), given that its information set is
reached; 1 for the empty ones. So each seat may be played by another policy: an information set
belongs to one seat.

Notation: as in tree.py, and M entries of a memory.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from hanamachi.engine.compiled import kernel
from hanamachi.policies.policy import (
    Masks,
    Memory,
    Observations,
    Probabilities,
    Values,
    check_distribution,
)
from hanamachi.training.exact.tree import Floats, Integers, Tree

BATCH = 8192  # information sets that a policy is asked about at once


class Asked(Protocol):
    """What is needed of a policy."""

    name: str

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, Values | None, Memory]: ...

    def initial_memory(self, batch: int) -> Memory: ...


@dataclass(frozen=True)
class Exploitability:
    """What a policy is worth in each seat, and what a best response makes there of the others."""

    values: Floats  #: (S,)
    responses: Floats  #: (S,)

    @property
    def nash_conv(self) -> float:
        """What all seats together could gain, each by itself; 0 in an equilibrium."""
        return float((self.responses - self.values).sum())


def exploitability(tree: Tree, policy: Floats) -> Exploitability:
    """The values of a policy and of the best responses to it, in every seat."""
    reach = reached(tree, policy)
    values, responses = np.empty(tree.seats), np.empty(tree.seats)
    for seat in range(tree.seats):
        gains = np.zeros(len(policy))
        gain(tree.leaves, tree.worth, reach, seat, gains)
        values[seat] = reach @ gains
        respond(tree.seat, tree.before, tree.first, seat, gains)
        responses[seat] = gains[seat]
    return Exploitability(values, responses)


def nash_conv(tree: Tree, policy: Floats) -> float:
    """What all seats together could gain by best responses, each to all the others."""
    return exploitability(tree, policy).nash_conv


def best_response(tree: Tree, policy: Floats, seat: int) -> Floats:
    """The policy with this seat's part replaced by a best response to the others, (Q,)."""
    gains = np.zeros(len(policy))
    gain(tree.leaves, tree.worth, reached(tree, policy), seat, gains)
    respond(tree.seat, tree.before, tree.first, seat, gains)
    response = policy.copy()
    choose(tree.seat, tree.first, seat, gains, response)
    return response


def reached(tree: Tree, policy: Floats) -> Floats:
    """What each seat adds to the probability of its sequences, (Q,)."""
    reach = policy.copy()
    multiply(tree.before, tree.first, reach)
    return reach


# --- Asking a policy


def asked(tree: Tree, policy: Asked) -> Floats:
    """What a policy plays in every information set, (Q,).

    It is asked about those first that a seat meets first, as its memory there, by perfect recall,
    is what it made of the one before. Raises UserError if it gives no distribution.
    """
    answers = np.ones(len(tree.action))
    fresh = policy.initial_memory(1)
    memory = np.empty((tree.sets, fresh.shape[1]), fresh.dtype)
    order = np.argsort(tree.depth, kind="stable")
    edges = np.searchsorted(tree.depth[order], np.arange(tree.depth.max() + 2))
    for begin, end in pairwise(edges):
        for low in range(begin, end, BATCH):
            sets = order[low : min(low + BATCH, end)]
            ask(tree, policy, sets, memory, answers)
    return answers


def ask(tree: Tree, policy: Asked, sets: Integers, memory: Memory, answers: Floats) -> None:
    """One batch of information sets: writes what the policy plays there, and remembers."""
    previous, masks = tree.set_of[tree.before[sets]], tree.masks(sets)
    remembered = policy.initial_memory(len(sets))
    remembered[previous >= 0] = memory[previous[previous >= 0]]
    chances, _, memory[sets] = policy.distribution(tree.observations(sets), masks, remembered)
    check_distribution(chances, masks, policy.name)
    rows = np.asarray(chances, np.float64)
    rows = rows / rows.sum(1, keepdims=True)  # float32 sums to 1 in seven digits only
    answers[tree.sequences_in(sets)] = rows[masks > 0]


# --- Compiled


@kernel
def multiply(before: Integers, first: Integers, reach: Floats) -> None:
    """Make of the probabilities in information sets those of whole sequences."""
    for i in range(len(before)):
        for q in range(first[i], first[i + 1]):
            reach[q] *= reach[before[i]]


@kernel
def gain(leaves: Integers, worth: Floats, reach: Floats, seat: int, gains: Floats) -> None:
    """Add to each sequence of a seat what games that end with it bring, the others playing."""
    for leaf in range(len(leaves)):
        others = worth[leaf, seat]
        for other in range(leaves.shape[1]):
            if other != seat:
                others *= reach[leaves[leaf, other]]
        gains[leaves[leaf, seat]] += others


@kernel
def respond(seats: Integers, before: Integers, first: Integers, seat: int, gains: Floats) -> None:
    """Add to each sequence of a seat the most that can be had after it."""
    for i in range(len(before) - 1, -1, -1):
        if seats[i] == seat:
            gains[before[i]] += gains[first[i] : first[i + 1]].max()


@kernel
def choose(seats: Integers, first: Integers, seat: int, gains: Floats, policy: Floats) -> None:
    """Take in each information set of a seat the action with the most gains, the first of them."""
    for i in range(len(seats)):
        if seats[i] == seat:
            policy[first[i] : first[i + 1]] = 0
            policy[first[i] + np.argmax(gains[first[i] : first[i + 1]])] = 1
