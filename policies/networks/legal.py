"""The legal actions alone: what a policy makes of them, and nothing of the others.

Of some hundred actions a decision leaves a few. So their logits and probabilities stand one behind
the other, decision by decision, as true entries do in `mask.nonzero()`; on a CPU, compiled loops
then work out these few logits and their gradients where matrix products would need all of them.

Notation: B decisions, A actions, L legal actions of all decisions, K entries of a vector.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.engine.kernels import WORTH_A_THREAD, default_threads, parallel_for, pool

ILLEGAL = -1e9  # the logit of an action that is not allowed: its probability is exactly 0

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


class Chances(NamedTuple):
    """A policy's log-probabilities of all legal actions, one behind the other."""

    rows: Tensor  # (L,) whose decision, ascending
    actions: Tensor  # (L,) ascending in each row
    log_probabilities: Tensor  # (L,)

    def of(self, taken: Tensor) -> Tensor:
        """The log-probabilities of the actions taken, (B,)."""
        found = self.log_probabilities[self.actions == taken[self.rows]]
        assert len(found) == len(taken), "an action that was taken is not legal"
        return found

    def table(self, mask: Tensor) -> Tensor:
        """The probabilities of all actions, (B, A); 0 where `mask`, by which these are, is not."""
        table = torch.zeros_like(mask, dtype=self.log_probabilities.dtype)
        table[self.rows, self.actions] = self.log_probabilities.exp()
        return table


def legal_chances(
    asked: Tensor, offered: Tensor, mask: Tensor, more: Tensor | None = None
) -> Chances:
    """The softmax of asked . offered, and more, over the legal actions.

    asked (B, K), offered (A, K), mask (B, A) bool, more (B, A).
    """
    way = by_loops if mask.device.type == "cpu" else by_matrices
    return way(asked, offered, mask, more)


def by_matrices(
    asked: Tensor, offered: Tensor, mask: Tensor, more: Tensor | None = None
) -> Chances:
    rows, actions = mask.nonzero(as_tuple=True)
    logits = asked @ offered.T if more is None else torch.addmm(more, asked, offered.T)
    logits = logits.masked_fill(~mask, ILLEGAL)
    return Chances(rows, actions, logits.log_softmax(-1)[rows, actions])


def by_loops(asked: Tensor, offered: Tensor, mask: Tensor, more: Tensor | None = None) -> Chances:
    places, edges = found(mask.numpy())
    rows, actions = torch.from_numpy(places)
    few = torch.zeros(len(rows)) if more is None else more[rows, actions]
    return Chances(rows, actions, LegalLogSoftmax.apply(asked, offered, few, places, edges))


def found(masks: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Rows and actions of all that is legal, (2, L); where each row begins, (B + 1,)."""
    places = np.empty((2, np.count_nonzero(masks)), np.int64)
    edges = np.zeros(len(masks) + 1, np.int64)
    find(masks, places, edges)
    return places, edges


class LegalLogSoftmax(torch.autograd.Function):
    """Log-probabilities (L,) from asked (B, K), offered (A, K), more (L,) and the legal actions."""

    @staticmethod
    def forward(
        ctx: Any, asked: Tensor, offered: Tensor, more: Tensor, places: Integers, edges: Integers
    ) -> Tensor:
        _, actions = places
        log_probabilities = more.detach().clone()
        tables = offered.detach().numpy(), actions, log_probabilities.numpy()
        parallel_for(log_softmax, tables, asked.detach().numpy(), edges[:-1], edges[1:])
        ctx.save_for_backward(asked, offered, log_probabilities)
        ctx.legal = places, edges
        return log_probabilities

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        asked, offered, log_probabilities = (t.detach().numpy() for t in ctx.saved_tensors)
        (rows, actions), edges = ctx.legal
        of_logits = gradients[0].numpy().copy()
        through_softmax(of_logits, log_probabilities, edges)
        of_asked, of_offered = np.zeros_like(asked), np.zeros_like(offered)
        at_once(
            len(asked),
            partial(add_products, of_logits, rows, offered, actions, of_asked),
            partial(add_products, of_logits, actions, asked, rows, of_offered),
        )
        return *map(torch.from_numpy, (of_asked, of_offered, of_logits)), None, None


def at_once(rows: int, *loops: Callable[[], None]) -> None:
    """Run several loops, on threads of their own where there may be so many and they pay."""
    if default_threads() < len(loops) or rows < WORTH_A_THREAD:
        for loop in loops:
            loop()
    else:
        list(pool(len(loops)).map(lambda loop: loop(), loops))


# --- The loops; what they find for a decision never depends on the others

# any order of the terms of a sum, so that vector instructions can take many at once
loop = numba.njit(cache=True, nogil=True, fastmath=True)


@loop
def find(masks: NDArray[np.bool_], places: Integers, edges: Integers) -> None:
    """All legal actions, and how many they are with each row."""
    legal = 0
    for b in range(len(masks)):
        for action in range(masks.shape[1]):
            if masks[b, action]:
                places[0, legal], places[1, legal] = b, action
                legal += 1
        edges[b + 1] = legal


@loop
def log_softmax(tables: Any, asked: Floats, begins: Integers, ends: Integers) -> None:
    """Logits of each row's legal actions, to what is there, and from them log-probabilities."""
    offered, actions, log_probabilities = tables
    for b in range(len(asked)):
        few = log_probabilities[begins[b] : ends[b]]
        for i in range(len(few)):
            action, logit = actions[begins[b] + i], few[i]
            for k in range(asked.shape[1]):
                logit += asked[b, k] * offered[action, k]
            few[i] = logit
        if len(few):
            largest, total = few.max(), np.float32(0)
            for logit in few:
                total += np.exp(logit - largest)
            few -= largest + np.log(total)


@loop
def through_softmax(of_logits: Floats, log_probabilities: Floats, edges: Integers) -> None:
    """The gradient of the logits in place of that of the log-probabilities."""
    for b in range(len(edges) - 1):
        few, total = slice(edges[b], edges[b + 1]), np.float32(0)
        for gradient in of_logits[few]:
            total += gradient
        of_logits[few] -= np.exp(log_probabilities[few]) * total


@loop
def add_products(
    slopes: Floats, places: Integers, vectors: Floats, sources: Integers, sums: Floats
) -> None:
    """To the row of `sums` at each place, the row of `vectors` that belongs to it, as steeply."""
    for i in range(len(slopes)):
        for k in range(sums.shape[1]):
            sums[places[i], k] += slopes[i] * vectors[sources[i], k]
