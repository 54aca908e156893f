"""What a run remembers, so that it can be resumed to the bit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.engine.arrays import Float32s

Weights = Mapping[str, Float32s]


@dataclass
class RunState:
    """The state of a run, apart from the learner's weights, optimizer and counters.

    The first five fields change while it learns; the others hold their values of the last save.
    """

    evaluations: int = 0  #: that chose between checkpoints
    #: the best result of an evaluation, on each deal that chooses, (D,)
    best_results: NDArray[np.float64] | None = None
    kept_result: float | None = None  #: the mean result of the kept checkpoint
    kept_decisions: int = 0  #: the decisions that it had learned from
    #: the past selves that play, and all that may play again, by their numbers, the latest last
    past: dict[int, Weights] = field(default_factory=dict)
    settings: str | None = None  #: those of the run, as YAML
    games: Mapping[str, Any] | None = None  #: the games in progress
    teacher: NDArray[Any] | None = None  #: the memory of the policy that is cloned, if there is one
    generator: Tensor | None = None  #: the state of the learner's random numbers
    magnet: Mapping[str, Any] | None = None  #: the state of the magnet, if there is one
    average: Mapping[str, Any] | None = None  #: the state of the moving average, if there is one
    workers: list[Any] | None = None  #: the state of each worker; None before the first save
    worker_count: int | None = None  #: how many these are, to be read without unpickling them
