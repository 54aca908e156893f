"""The distribution over the legal actions alone: its log-probabilities and their gradients.

Only a few of some hundred actions are legal at a decision. Their logits and probabilities are kept
in one flat array, decision by decision, in the order of `mask.nonzero()`. On a CPU, compiled loops
compute these few logits and their gradients; matrix products would compute all of them.

Notation: B decisions, A actions, L legal actions of all decisions, K entries of a query or key.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.engine.arrays import Float32s, Integers
from hanamachi.engine.compiled import kernel
from hanamachi.policies.networks.head import ILLEGAL
from hanamachi.policies.sampling import nothing_to_draw, sample


class LegalDistribution(NamedTuple):
    """A policy's log-probabilities of all legal actions, in one flat array."""

    rows: Tensor  # (L,) the decision of each, ascending
    actions: Tensor  # (L,)
    log_probabilities: Tensor  # (L,)

    def of(self, taken: Tensor) -> Tensor:
        """The log-probabilities of the actions taken, (B,)."""
        log_probabilities = self.log_probabilities[self.actions == taken[self.rows]]
        assert len(log_probabilities) == len(taken), "an action that was taken is not legal"
        return log_probabilities

    def draw(self, mask: Tensor, uniforms: Tensor) -> Tensor:
        """An action for each decision, (B,), by inverting its CDF at a number in [0, 1).

        UserError if a decision has no probability above 0.
        """
        table = self.table(mask).detach()
        if mask.device.type == "cpu":
            return torch.from_numpy(sample(table.numpy(), uniforms.numpy()))
        return drawn_by_search(table, uniforms.to(table))

    def table(self, mask: Tensor) -> Tensor:
        """The probabilities of all actions, (B, A); 0 where `mask` (of this distribution) is 0."""
        table = torch.zeros_like(mask, dtype=self.log_probabilities.dtype)
        table[self.rows, self.actions] = self.log_probabilities.exp()
        return table


def drawn_by_search(table: Tensor, uniforms: Tensor) -> Tensor:
    """An action for each row of probabilities, (B,), by searching its CDF for `uniforms` (B,)."""
    edges = table.cumsum(-1)
    total = edges[:, -1]
    if not bool((total > 0).all()):  # nor if it is NaN
        raise nothing_to_draw()
    below = torch.nextafter(total, torch.zeros_like(total))  # so that rounding cannot leave the row
    places = torch.minimum(uniforms * total, below).unsqueeze(-1)
    return torch.searchsorted(edges, places, right=True).squeeze(-1)


def legal_softmax(
    queries: Tensor, keys: Tensor, mask: Tensor, bias: Tensor | None = None
) -> LegalDistribution:
    """The softmax of queries . keys + bias over the legal actions.

    queries (B, K), keys (A, K), mask (B, A) bool, bias (B, A).
    """
    compute = by_loops if mask.device.type == "cpu" else by_matrices
    return compute(queries, keys, mask, bias)


def by_matrices(
    queries: Tensor, keys: Tensor, mask: Tensor, bias: Tensor | None = None
) -> LegalDistribution:
    """The legal softmax by one matrix product over all actions."""
    rows, actions = mask.nonzero(as_tuple=True)
    logits = queries @ keys.T if bias is None else torch.addmm(bias, queries, keys.T)
    logits = logits.masked_fill(~mask, ILLEGAL)
    return LegalDistribution(rows, actions, logits.log_softmax(-1)[rows, actions])


def by_loops(
    queries: Tensor, keys: Tensor, mask: Tensor, bias: Tensor | None = None
) -> LegalDistribution:
    """The legal softmax by compiled loops over the legal actions."""
    places, edges = legal_places(mask.numpy())
    rows, actions = torch.from_numpy(places)
    legal_bias = torch.zeros(len(rows)) if bias is None else bias[rows, actions]
    log_probabilities = LegalLogSoftmax.apply(queries, keys, legal_bias, places, edges)
    return LegalDistribution(rows, actions, log_probabilities)


def legal_places(masks: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Rows and actions of all legal entries, (2, L); where each row begins, (B + 1,)."""
    places = np.empty((2, np.count_nonzero(masks)), np.int64)
    edges = np.zeros(len(masks) + 1, np.int64)
    write_legal_places(masks, places, edges)
    return places, edges


class LegalLogSoftmax(torch.autograd.Function):
    """Log-probabilities (L,) from queries (B, K), keys (A, K), bias (L,) and the legal actions."""

    @staticmethod
    def forward(
        ctx: Any, queries: Tensor, keys: Tensor, bias: Tensor, places: Integers, edges: Integers
    ) -> Tensor:
        _, actions = places
        log_probabilities = bias.detach().clone()
        arrays = queries.detach().numpy(), keys.detach().numpy()
        log_softmax(*arrays, actions, edges, log_probabilities.numpy())
        ctx.save_for_backward(queries, keys, log_probabilities)
        ctx.legal = places, edges
        return log_probabilities

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, log_probabilities = (t.detach().numpy() for t in ctx.saved_tensors)
        (rows, actions), edges = ctx.legal
        of_logits = gradients[0].numpy().copy()
        through_softmax(of_logits, log_probabilities, edges)
        of_queries, of_keys = np.zeros_like(queries), np.zeros_like(keys)
        add_products(of_logits, rows, keys, actions, of_queries)
        add_products(of_logits, actions, queries, rows, of_keys)
        return *map(torch.from_numpy, (of_queries, of_keys, of_logits)), None, None


# --- Compiled loops; the result for one decision never depends on the others

# fastmath lets the terms of a sum be added in any order, so that vector instructions can be used
compiled = partial(kernel, fastmath=True)


@compiled
def write_legal_places(
    masks: NDArray[np.bool_],  # (B, A)
    places: Integers,  # (2, L) row and action of each legal entry
    edges: Integers,  # (B + 1,)
) -> None:
    """Write the row and action of each legal entry, and where each row ends."""
    legal = 0
    for b in range(len(masks)):
        for action in range(masks.shape[1]):
            if masks[b, action]:
                places[0, legal], places[1, legal] = b, action
                legal += 1
        edges[b + 1] = legal


@compiled
def log_softmax(
    queries: Float32s,  # (B, K)
    keys: Float32s,  # (A, K)
    actions: Integers,  # (L,)
    edges: Integers,  # (B + 1,)
    log_probabilities: Float32s,  # (L,), at first the biases
) -> None:
    """Add each row's logits to its biases in place, then turn them into log-probabilities."""
    for b in range(len(queries)):
        row = log_probabilities[edges[b] : edges[b + 1]]
        for i in range(len(row)):
            action, logit = actions[edges[b] + i], row[i]
            for k in range(queries.shape[1]):
                logit += queries[b, k] * keys[action, k]
            row[i] = logit
        if len(row):
            largest, total = row.max(), np.float32(0)
            for logit in row:
                total += np.exp(logit - largest)
            row -= largest + np.log(total)


@compiled
def through_softmax(
    of_logits: Float32s,  # (L,), at first the gradients of the log-probabilities
    log_probabilities: Float32s,  # (L,)
    edges: Integers,  # (B + 1,)
) -> None:
    """Turn gradients of the log-probabilities into gradients of the logits, in place."""
    for b in range(len(edges) - 1):
        total = np.float32(0)
        for i in range(edges[b], edges[b + 1]):
            total += of_logits[i]
        for i in range(edges[b], edges[b + 1]):
            of_logits[i] -= np.exp(log_probabilities[i]) * total


@compiled
def add_products(
    slopes: Float32s,  # (L,)
    places: Integers,  # (L,) rows of `sums`
    vectors: Float32s,  # (V, K), of decisions or of actions
    sources: Integers,  # (L,) rows of `vectors`
    sums: Float32s,  # (S, K), of the other ones
) -> None:
    """For each i, add slopes[i] * vectors[sources[i]] to sums[places[i]].

    What the inner loop only reads is read before it, or no vector instructions are used.
    """
    for i in range(len(slopes)):
        slope, place, source = slopes[i], places[i], sources[i]
        for k in range(sums.shape[1]):
            sums[place, k] += slope * vectors[source, k]
