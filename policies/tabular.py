"""Tabular policies: a table with a distribution for each observation, such as solvers compute."""

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import uniform
from hanamachi.sessions.policy_checks import as_array, as_floats


class TabularPolicy(Policy):
    """Plays the distribution of its table; uniform where the table has no row.

    Observations are compared by their bytes. So a table fits games of one round, where one
    observation holds everything that the seat has seen.
    """

    def __init__(
        self,
        variant: Variant,
        observations: Observations,
        probabilities: Probabilities,
        name: str = "table",
    ) -> None:
        """The rows of the table are `observations` (I, N) and their `probabilities` (I, A).

        UserError if an observation is repeated, the sizes do not fit the variant, or the
        observations are int8, in which fractions are rounded.
        """
        super().__init__(variant)
        self.name = name
        size, actions = variant.observation.size, variant.actions.size
        observations = as_array(observations, "observations", name)
        probabilities = as_array(probabilities, "probabilities", name)
        shapes = observations.shape, probabilities.shape
        rows = observations.size // size
        numbers = {observations.dtype.kind, probabilities.dtype.kind} <= set("fiub")
        if rows == 0 or not numbers or shapes != ((rows, size), (rows, actions)):
            raise UserError(
                f"a table for {variant.id} needs numbers: observations (I, {size}) and "
                f"probabilities (I, {actions}), not {shapes[0]} and {shapes[1]}"
            )
        if observations.dtype == np.int8:
            raise UserError("a table needs observations of float32: those of int8 are rounded")
        self.keys, first = np.unique(as_bytes(observations), return_index=True)
        if len(self.keys) < rows:
            raise UserError("the table has two rows for one observation")
        self.probabilities = as_floats(probabilities, shapes[1], "probabilities", name)[first]

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        keys = as_bytes(observation)
        row = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        known = (self.keys[row] == keys)[:, None]
        return np.where(known, self.probabilities[row], uniform(mask)), None, memory


def as_bytes(observations: Observations) -> NDArray[np.bytes_]:
    """Each row as one value that can be compared and sorted, (B,)."""
    rows = np.ascontiguousarray(observations, np.float32) + np.float32(0)  # -0.0 becomes 0.0
    return rows.view(f"S{rows.shape[1] * rows.itemsize}").ravel()
