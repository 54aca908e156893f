"""What a network knows about the actions of its variant, without weights or PyTorch."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Actions
from hanamachi.engine.layout import Layout

ILLEGAL = -1e9  # the logit of an illegal action: its probability is exactly 0


class Entities(NamedTuple):
    """Entities of one kind that actions use, such as the slots of the hand."""

    uses: NDArray[np.float32]  # (A, R, H) 1 where an action uses one in a role
    entries: NDArray[np.int64]  # (H, D) the entries of an observation that describe each


class Head(NamedTuple):
    """What the network knows about the actions."""

    features: NDArray[np.float32]  # (A, F) of each action
    entities: Mapping[str, Entities]  # by their kind
    advice: NDArray[np.int64]  # (A, D) the entries of an observation that advise on each action


def plain_head(actions: int) -> Head:
    """A head for actions that have nothing in common."""
    return Head(np.zeros((actions, 1), np.float32), {}, np.zeros((actions, 0), np.int64))


def head_of(actions: Actions, layout: Layout) -> Head:
    """The head of a network whose observations have this layout."""
    entities = {
        kind: Entities(uses, layout.describing(kind, uses.shape[2]))
        for kind, uses in actions.uses.items()
        if any(kind == described for described, _ in layout.blocks)
    }
    return Head(actions.features, entities, layout.describing("action", actions.size))


def trunk_entries(size: int, advice: NDArray[np.int64]) -> NDArray[np.int64]:
    """The entries of an observation that the trunk reads: all but the advice."""
    return np.setdiff1d(np.arange(size), advice)


def input_scale(bounds: NDArray[Any]) -> NDArray[np.float32]:
    """What entries with these bounds, (I,), are multiplied with before the trunk reads them.

    Each is divided by the square root of its bound: small counts keep most of their size, and large
    ones do not dominate.
    """
    return (1 / np.sqrt(np.maximum(bounds, 1))).astype(np.float32)


def entry_bounds(low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """The largest magnitude of each entry; 1 where bounds are not declared."""
    size = np.maximum(np.abs(low), np.abs(high))
    return np.where(np.isfinite(size), size, 1)
