"""What a network has learned: how far it is from its teacher, and what its features give.

A network that copies its teacher, or follows its advice, scores about as well as the teacher. Three
figures tell how much is its own: how often its first choice is one of the teacher's best, what it
scores when a feature set is taken away at play, and what a network scores that was trained without.

Notation: B games, n turns, A actions, F features.
"""

from copy import copy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.policies import load_policy
from hanamachi.policies.arrays import Masks, Memory, Observations
from hanamachi.policies.features.base import FeatureSet
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.policy import Policy
from hanamachi.sessions.players import SeatedPlayer
from hanamachi.training.evaluation.json_results import read_as, write_json
from hanamachi.training.evaluation.matches import chosen_plays, results_of
from hanamachi.training.evaluation.playing import DecisionRequest, drawn, own_play, play_games
from hanamachi.training.evaluation.results import Row, TeamScore

LEARNED = "learned.json"  # the file of the result


@dataclass(frozen=True)
class Result:
    """A win rate against the teacher, sampled; in a cooperative game the mean score with itself,
    with the most probable actions."""

    mean: float
    low: float  #: of its 95% interval
    high: float


@dataclass(frozen=True)
class TeacherComparison:
    """How often a network plays like its teacher, and what it scores without each feature set."""

    teacher: str
    agreement: float  #: share of the decisions at which its first choice is one of the teacher's
    decisions: int  #: with two legal actions or more, in games with itself
    without: dict[str, Result]  #: by feature set: with its features 0 at play
    untrained: dict[str, Result] = field(default_factory=dict)  #: by feature set: trained without
    seeds: dict[int, Result] = field(default_factory=dict)  #: of runs that differ in nothing else


def what_is_learned(
    policy: CompiledPolicy, teacher: str, games: int, seed: int
) -> TeacherComparison:
    """Compare a network with its teacher, in `games` games for each figure."""
    share, decisions = agreement(policy, teacher, games, seed)
    blind = {name: without(policy, name) for name in policy.checkpoint.feature_sets}
    results = {name: result(each, teacher, games, seed) for name, each in blind.items()}
    return TeacherComparison(teacher, round(share, 4), decisions, results)


def write_learned(found: TeacherComparison, folder: Path) -> None:
    """Write the result into the folder of a checkpoint."""
    write_json(asdict(found), folder / LEARNED)


def read_learned(folder: Path) -> TeacherComparison | None:
    """The result in the folder of a checkpoint, if there is one."""
    file = folder / LEARNED
    if not file.exists():
        return None
    found: TeacherComparison = read_as(TeacherComparison, file)
    return found


# --- Its teacher


def agreement(policy: Policy, teacher: str, games: int, seed: int) -> tuple[float, int]:
    """The share of the decisions at which the first choice is one of the teacher's, and their
    number; copies of the policy sit in all seats."""
    variant = policy.variant
    comparing = AgreementCounter(load_policy(teacher, variant), games)
    seating = np.zeros((games, variant.seats), np.int64)
    deals = np.arange(games, dtype=np.uint64)
    play_games([policy], variant, seating, deals, seed, own_play(variant), comparing.decide)
    return comparing.agreed / comparing.decisions, comparing.decisions


class AgreementCounter:
    """Decides as a policy does, and compares its first choices with those of a teacher."""

    def __init__(self, teacher: Policy, games: int) -> None:
        self.teacher = SeatedPlayer(teacher, teacher.variant, games)
        self.agreed, self.decisions = 0, 0

    def decide(self, asked: DecisionRequest) -> NDArray[np.int64]:
        """One action for each turn, (n,)."""
        chances, _ = asked.player.distribution(asked.turns)
        taught, _ = self.teacher.distribution(asked.turns)
        free = np.count_nonzero(asked.turns.masks, axis=1) > 1
        first = chances.argmax(1)[:, None]
        agreed = np.take_along_axis(taught, first, 1)[:, 0] == taught.max(1)
        self.agreed += int(np.count_nonzero(agreed & free))
        self.decisions += int(np.count_nonzero(free))
        return drawn(chances, asked.uniform, asked.play)


# --- Its features


class ZeroFeatures(FeatureSet):
    """Stands for a feature set, and is always 0."""

    def compute(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Observations, Memory]:
        return np.zeros((len(mask), self.layout.size), np.float32), memory


def without(policy: CompiledPolicy, name: str) -> CompiledPolicy:
    """The same policy with the features of this set 0."""
    blind, place = copy(policy), policy.checkpoint.feature_sets.index(name)
    blind.features = copy(policy.features)
    taken = policy.features.sets[place]
    nothing = ZeroFeatures(policy.variant, taken.layout)
    nothing.memory_size = taken.memory_size
    blind.features.sets = [*policy.features.sets]
    blind.features.sets[place] = nothing
    return blind


def result(policy: Policy, teacher: str, games: int, seed: int) -> Result:
    """The policy against its teacher, or in a cooperative game with itself."""
    variant = policy.variant
    how: dict[str, Any] = {"games": games, "seed": seed, **variant.options}
    others = [] if variant.game.cooperative else [teacher]
    plays = chosen_plays(None, variant)
    (found,) = results_of(policy, others, variant.id, plays=plays, **how)
    return result_of(found)


def result_of(row: Row | TeamScore) -> Result:
    """The figures of a row."""
    mean = row.mean if isinstance(row, TeamScore) else row.rate
    return Result(mean, row.low, row.high)
