"""Play with a network by compiled loops, without PyTorch.

Most entries of an observation and half of the units of a hidden layer are 0, and only a few of the
actions are legal: the loops pass over the others. So a single decision takes some microseconds,
where calls of matrix products take longer than the products. Of many decisions, four at a time
share each pass through the weights, as loading those takes longer than the sums. Sums are added in
the order of the inputs, so that the result for a row depends on nothing but the row.

Notation: B decisions, A actions, N entries of an observation, I of them for the trunk, n inputs and
m outputs of a layer, W of the widest one, K entries of a query or key, G kinds of entities; R roles
and H entities of a kind, with D entries each.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from hanamachi.engine.arrays import Float32s, Integers
from hanamachi.engine.compiled import kernel
from hanamachi.engine.threads import DECISIONS_PER_THREAD, parallel_for
from hanamachi.policies.arrays import Masks, Observations, Probabilities, Values
from hanamachi.policies.networks.canonical import canonical, translated
from hanamachi.policies.networks.network_policy import NetworkPolicy
from hanamachi.policies.networks.tables import Checkpoint, Linear, Tables, tables_of


class NetworkArrays(NamedTuple):
    """The arrays of a network, as few and as flat as compiled loops like them.

    After the hidden layers comes the layer `read`, without activation. Its outputs are the roles of
    all entities, the weights of the advice, and the value.
    """

    entries: Integers  # (I,) of an observation, which the trunk reads
    scale: Float32s  # (I,)
    sizes: Integers  # of the input and of each layer
    layers: Float32s  # of each layer its weights (inputs, outputs), then its biases
    keys: Float32s  # (A, K)
    kinds: Integers  # (G, 3): R, H and D of each kind of entities
    described: Integers  # of each kind (H, D), one after another
    advice: Integers  # (A, D) the entries of an observation that advise on each action
    gate: int  # where the weights of the advice begin in the outputs of `read`
    value: int  # where the value is there


def flat(tables: Tables) -> NetworkArrays:
    """The arrays for compiled loops."""
    gate, entities = tables.gate, tables.entities
    reading = [*(each.linear for each in entities), *([gate.linear] if gate else []), tables.value]
    read = Linear(
        np.hstack([layer.weight for layer in reading]), np.hstack(list(map(bias, reading)))
    )
    value = read.weight.shape[1] - 1
    layers = [*tables.trunk, read]
    keys = np.vstack([tables.keys, *(each.uses for each in entities)]).T
    kinds = [(each.uses.shape[0] // len(each.entries), *each.entries.shape) for each in entities]
    advice = gate.entries if gate else np.empty((keys.shape[0], 0), np.int64)
    nothing = np.empty(0, np.int64)
    return NetworkArrays(
        tables.entries,
        tables.scale,
        np.array([len(tables.entries), *(layer.weight.shape[1] for layer in layers)]),
        np.concatenate([part.ravel() for layer in layers for part in (layer.weight, bias(layer))]),
        np.ascontiguousarray(keys),
        np.array(kinds, np.int64).reshape(-1, 3),
        np.concatenate([nothing, *(each.entries.ravel() for each in entities)]),
        advice,
        gate=value - advice.shape[1],
        value=value,
    )


def bias(layer: Linear) -> Float32s:
    return np.zeros(layer.weight.shape[1], np.float32) if layer.bias is None else layer.bias


class CompiledPolicy(NetworkPolicy):
    """A policy that plays a checkpoint with compiled loops, on the processor."""

    def __init__(self, checkpoint: Checkpoint, name: str = "network") -> None:
        super().__init__(checkpoint.variant, checkpoint.feature_sets, name)
        weights = {key: np.asarray(array, np.float32) for key, array in checkpoint.weights.items()}
        self.checkpoint = checkpoint._replace(weights=weights)
        with np.errstate(all="ignore"):  # what is not finite is found in the results
            tables = tables_of(self.checkpoint, self.features.layout)
            self.network, self.forms = flat(tables), tables.forms

    def evaluate(self, observation: Observations, mask: Masks) -> tuple[Probabilities, Values]:
        rows = np.ascontiguousarray(observation, np.float32), np.ascontiguousarray(mask, np.int8)
        if not self.forms:
            return self.evaluate_forms(*rows)
        seen = canonical(self.forms, *rows)
        probabilities, values = self.evaluate_forms(seen.observations, seen.masks)
        return translated(self.forms, seen.forms, probabilities), values

    def evaluate_forms(
        self, observation: Observations, mask: Masks
    ) -> tuple[Probabilities, Values]:
        """Like `evaluate`, for decisions that are in their canonical forms already."""
        found = np.zeros(mask.shape, np.float32), np.empty(len(mask), np.float32)
        rows = observation, mask, *found
        parallel_for(decide, self.network, *rows, at_least=DECISIONS_PER_THREAD)
        return found


# --- Compiled loops

ROWS = 4  # decisions that share a pass through the weights
# the terms of a sum may be added in any order, so that vector instructions can be used
compiled = partial(kernel, fastmath={"reassoc", "contract", "nsz"})
# in the order of the inputs, so that a 0 changes nothing
in_order = partial(kernel, fastmath={"contract", "nsz"})


@compiled
def decide(
    network: NetworkArrays,
    observations: Float32s,  # (B, N)
    masks: Masks,  # (B, A)
    probabilities: Float32s,  # (B, A), 0 where an action is not legal
    values: Float32s,  # (B,)
) -> None:
    """Write the probabilities of the legal actions of each row, and its value."""
    widest = 0
    for size in network.sizes:
        widest = max(widest, size)
    h, outputs = np.empty((ROWS, widest), np.float32), np.empty((ROWS, widest), np.float32)
    query, used = np.empty(network.keys.shape[1], np.float32), np.empty(widest + 1, np.int64)
    last = len(network.sizes) - 2
    for first in range(0, len(observations), ROWS):
        rows = min(ROWS, len(observations) - first)
        write_inputs(network, observations[first : first + rows], h)
        start = 0
        for layer in range(last):
            start = add_layer(network, layer, start, rows, h, used, outputs)
            rectify(outputs[:rows], network.sizes[layer + 1], h)
        add_layer(network, last, start, rows, h, used, outputs)
        for row in range(rows):
            b, read = first + row, outputs[row]
            write_query(network, observations[b], h[row], read, query)
            softmax(network, observations[b], masks[b], query, read, probabilities[b])
            values[b] = read[network.value]


@compiled
def write_inputs(network: NetworkArrays, observations: Float32s, inputs: Float32s) -> None:
    """Write what the trunk reads of each observation, (rows, N)."""
    for row in range(len(observations)):
        for i in range(len(network.entries)):
            inputs[row, i] = observations[row, network.entries[i]] * network.scale[i]


@compiled
def rectify(outputs: Float32s, size: int, h: Float32s) -> None:
    """Write the first `size` outputs of each row, (rows, W), with 0 for negative ones."""
    for row in range(len(outputs)):
        for j in range(size):  # a NaN stays one
            h[row, j] = np.float32(0) if outputs[row, j] <= 0 else outputs[row, j]


@in_order
def add_layer(
    network: NetworkArrays,
    layer: int,
    start: int,  # of its weights in `network.layers`
    rows: int,
    inputs: Float32s,  # (ROWS, W)
    used: Integers,  # (W + 1,) scratch
    outputs: Float32s,  # (ROWS, W)
) -> int:
    """Write the outputs of a layer for the first `rows` rows; returns where the next one begins."""
    n, m = network.sizes[layer], network.sizes[layer + 1]
    weights = network.layers[start : start + n * m].reshape(n, m)
    for row in range(rows):
        for j in range(m):  # a loop, as to copy slices takes seconds to compile
            outputs[row, j] = network.layers[start + n * m + j]
    if rows == ROWS:
        add_four_rows(weights, inputs, used, outputs)
    else:
        for row in range(rows):
            add_row(weights, inputs[row], used, outputs[row])
    return start + n * m + m


@in_order
def add_row(weights: Float32s, inputs: Float32s, used: Integers, outputs: Float32s) -> None:
    """Add the weighted inputs (n,) to the outputs (m,).

    Four inputs at a time, so that outputs are loaded and stored a quarter as often.
    """
    n, m = weights.shape
    count = 0
    for i in range(n):
        used[count] = i
        count += inputs[i] != 0
    for i in range(0, count - 3, 4):
        a, b, c, d = used[i], used[i + 1], used[i + 2], used[i + 3]
        x, y, z, w = inputs[a], inputs[b], inputs[c], inputs[d]
        for j in range(m):
            total = outputs[j] + x * weights[a, j] + y * weights[b, j]
            outputs[j] = total + z * weights[c, j] + w * weights[d, j]
    for i in range(count - count % 4, count):
        for j in range(m):
            outputs[j] += inputs[used[i]] * weights[used[i], j]


@in_order
def add_four_rows(weights: Float32s, inputs: Float32s, used: Integers, outputs: Float32s) -> None:
    """The same for four rows, (4, n) and (4, m).

    Each weight is loaded once for all four, and two inputs at a time.
    """
    n, m = weights.shape
    in_1, in_2, in_3, in_4 = inputs[0], inputs[1], inputs[2], inputs[3]
    out_1, out_2, out_3, out_4 = outputs[0], outputs[1], outputs[2], outputs[3]
    count = 0
    for i in range(n):
        used[count] = i
        count += (in_1[i] != 0) | (in_2[i] != 0) | (in_3[i] != 0) | (in_4[i] != 0)
    for i in range(0, count - 1, 2):
        a, b = used[i], used[i + 1]
        x_1, x_2, x_3, x_4 = in_1[a], in_2[a], in_3[a], in_4[a]
        y_1, y_2, y_3, y_4 = in_1[b], in_2[b], in_3[b], in_4[b]
        for j in range(m):
            v, w = weights[a, j], weights[b, j]
            out_1[j] = out_1[j] + x_1 * v + y_1 * w
            out_2[j] = out_2[j] + x_2 * v + y_2 * w
            out_3[j] = out_3[j] + x_3 * v + y_3 * w
            out_4[j] = out_4[j] + x_4 * v + y_4 * w
    if count % 2:
        a = used[count - 1]
        for j in range(m):
            out_1[j] += in_1[a] * weights[a, j]
            out_2[j] += in_2[a] * weights[a, j]
            out_3[j] += in_3[a] * weights[a, j]
            out_4[j] += in_4[a] * weights[a, j]


@compiled
def write_query(
    network: NetworkArrays,
    observation: Float32s,  # (N,)
    h: Float32s,  # (W,) the last hidden layer
    read: Float32s,  # (W,) the outputs of `read`
    query: Float32s,  # (K,)
) -> None:
    """What keys are multiplied with: the last hidden layer, then the scores of all entities."""
    k = network.sizes[-2]
    for i in range(k):
        query[i] = h[i]
    first_role, first_entry = 0, 0
    for kind in range(len(network.kinds)):
        roles, entities, depth = network.kinds[kind]
        for role in range(roles):
            weights = read[first_role + role * depth : first_role + (role + 1) * depth]
            for entity in range(entities):
                place = first_entry + entity * depth
                score = np.float32(0)
                for d in range(depth):
                    score += weights[d] * observation[network.described[place + d]]
                query[k] = score
                k += 1
        first_role += roles * depth
        first_entry += entities * depth


@compiled
def softmax(
    network: NetworkArrays,
    observation: Float32s,  # (N,)
    mask: Masks,  # (A,)
    query: Float32s,  # (K,)
    read: Float32s,  # (W,) the outputs of `read`
    probabilities: Float32s,  # (A,)
) -> None:
    """Write the probabilities of the legal actions."""
    depth = network.advice.shape[1]
    largest, total = np.float32(-np.inf), np.float32(0)
    for action in range(len(mask)):
        if mask[action]:
            logit = np.float32(0)
            for k in range(len(query)):
                logit += query[k] * network.keys[action, k]
            for d in range(depth):
                logit += read[network.gate + d] * observation[network.advice[action, d]]
            probabilities[action] = logit
            if logit > largest:
                largest = logit
    for action in range(len(mask)):
        if mask[action]:
            probabilities[action] = np.exp(probabilities[action] - largest)
            total += probabilities[action]
    for action in range(len(mask)):
        if mask[action]:
            probabilities[action] /= total
