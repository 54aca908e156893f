"""What a run remembers, so that it can be resumed to the bit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from hanamachi.policies.networks.tables import Floats

Weights = Mapping[str, Floats]


@dataclass
class RunState:
    """The state of a run, apart from the learner's weights, optimizer and counters.

    The first three fields change while it learns; the others hold their values of the last save.
    """

    best: float | None = None  #: the result of the best evaluation so far
    best_decisions: int = 0  #: the decisions that the policy had learned from by then
    past: list[Weights] = field(default_factory=list)  #: snapshots of past selves, the latest last
    games: Mapping[str, Any] | None = None  #: the games in progress
    generator: Tensor | None = None  #: the state of the learner's random numbers
    magnet: Mapping[str, Any] | None = None  #: the state of the magnet, if there is one
    average: Mapping[str, Any] | None = None  #: the state of the moving average, if there is one
    workers: list[Any] | None = None  #: the state of each worker; None before the first save
