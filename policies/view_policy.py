"""The base class of policies that play from views: what a seat may know, as plain data."""

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Self

from hanamachi.engine.game import Variant
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.policy import Policy
from hanamachi.sessions.worlds import Worlds, checked_worlds

Counts = dict[str, float]  # what a policy counts while it plays, by name


class ViewPolicy(Policy):
    """Chooses by what `worlds.view(row)` and `worlds.history(row)` tell, not by observations.

    It plays matches and single games. It cannot be searched, cloned or trained, nor play in vector
    environments: there nobody follows the events of each game.
    """

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        self._worlds: Worlds | None = None

    def with_worlds(self, worlds: Worlds) -> Self:
        asked = copy.copy(self)
        asked._worlds = worlds
        return asked

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        worlds = checked_worlds(self._worlds, len(mask), self.name)
        return self.probabilities(worlds, mask), None, memory

    def counts(self) -> Counts:
        """What it has counted since it was loaded, such as tokens; by default nothing."""
        return {}

    @abstractmethod
    def probabilities(self, worlds: Worlds, mask: Masks) -> Probabilities:
        """The probability of every action, (B, A), in these B games."""


def total(each: Iterable[Counts]) -> Counts:
    """The sums, name by name."""
    sums: Counter[str] = Counter()
    for counts in each:
        sums.update(counts)  # type: ignore[arg-type]
    return dict(sums)
