"""The arrays that policies take and give.

Notation: B observations, N entries of an observation, A actions, M entries of a memory.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Observations = NDArray[np.float32]  #: (B, N)
Masks = NDArray[np.int8]  #: (B, A) 1 where an action is legal; at least one in every row
Probabilities = NDArray[np.float32]  #: (B, A) summing to 1, zero where an action is illegal
Scores = NDArray[np.float32]  #: (B, A) higher is better; -inf where an action is illegal
Values = NDArray[np.float32]  #: (B,) the expected result for the seat to move
Memory = NDArray[Any]  #: (B, M) carried from one decision of a seat to its next in the same game
