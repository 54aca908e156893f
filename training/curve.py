"""The learning curve of a run: what its TensorBoard logs hold.

A run that was stopped and resumed has several logs. What a lost part of it logged is replaced by
what was logged at the same number of decisions when the run went on.
"""

from pathlib import Path
from typing import NamedTuple

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from hanamachi.training.evaluation.results import Row, TeamScore

RESULT, LOW, HIGH = "selfplay/", "interval_low/", "interval_high/"  # before the name of a result
AGAINST, SCORE, WITH = "rate_against_", "score", "score_with_"

Curve = dict[str, dict[int, float]]  # decisions -> value, by the name in the logs


class LoggedResult(NamedTuple):
    """A result of an evaluation, with its 95% interval and its name in the logs."""

    name: str
    low: float
    middle: float
    high: float


def logged(row: Row | TeamScore) -> LoggedResult:
    """The mean score in a cooperative game, else the win rate versus the opponent."""
    if isinstance(row, TeamScore):
        name = SCORE if row.partners == row.policy else f"{WITH}{row.partners}"
        return LoggedResult(name, row.low, row.mean, row.high)
    return LoggedResult(f"{AGAINST}{row.opponent}", row.low, row.rate, row.high)


def evaluations(curve: Curve) -> int:
    """How many evaluations there were during the run."""
    return max(
        (len(values) for name, values in curve.items() if name.startswith(RESULT)), default=0
    )


def read_curve(logs: Path) -> Curve:
    """All that a run has logged, later logs over earlier ones."""
    events = EventAccumulator(str(logs), size_guidance={"scalars": 0}).Reload()
    curve: Curve = {}
    for name in events.Tags()["scalars"]:
        in_order = sorted(events.Scalars(name), key=lambda event: event.wall_time)
        values = {event.step: event.value for event in in_order}
        curve[name] = dict(sorted(values.items()))
    return curve
