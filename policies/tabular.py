"""Policies written down as a table: a distribution for each observation, as solvers give them."""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.policies.policy import Masks, Memory, Observations, Policy, Probabilities, uniform


class TabularPolicy(Policy):
    """Plays what a table says of an observation; where it is silent, any legal action alike.

    Observations are told apart by their bytes, so the table fits games of one round, in which an
    observation holds all that the seat has seen.
    """

    def __init__(
        self,
        variant: Variant,
        observations: Observations,
        probabilities: Probabilities,
        name: str = "table",
    ) -> None:
        """The table's rows: `observations` (I, N) and, for each, `probabilities` (I, A).

        UserError if an observation comes twice or the sizes are not those of the variant.
        """
        super().__init__(variant)
        self.name = name
        rows, size, actions = len(observations), variant.observation.size, variant.actions.size
        shapes = np.shape(observations), np.shape(probabilities)
        if rows == 0 or shapes != ((rows, size), (rows, actions)):
            raise UserError(
                f"a table for {variant.id} needs observations (I, {size}) and "
                f"probabilities (I, {actions}), not {shapes[0]} and {shapes[1]}"
            )
        self.keys, first = np.unique(as_bytes(observations), return_index=True)
        if len(self.keys) < rows:
            raise UserError("an observation stands in the table twice")
        self.probabilities = np.asarray(probabilities, np.float32)[first]

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        asked = as_bytes(observation)
        place = np.searchsorted(self.keys, asked).clip(max=len(self.keys) - 1)
        known = (self.keys[place] == asked)[:, None]
        return np.where(known, self.probabilities[place], uniform(mask)), None, memory


def as_bytes(observations: Observations) -> NDArray[np.bytes_]:
    """Each row as one value that can be sorted and compared, (B,)."""
    rows = np.ascontiguousarray(observations, np.float32)
    return rows.view(f"S{rows.shape[1] * rows.itemsize}").ravel()
