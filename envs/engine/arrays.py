"""Names of arrays of numbers; comments say their shapes."""

import numpy as np
from numpy.typing import NDArray

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Integers = NDArray[np.int64]
