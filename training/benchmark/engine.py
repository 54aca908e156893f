"""Engine speed: the kernels against our environment for one game, and against one thread."""

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.adapters import raw_env
from hanamachi.training.benchmark.kernel import kernel_alone
from hanamachi.training.benchmark.measure import Case

MANY = 4096  # games at once, where threads are compared


def cases(variant: Variant) -> list[Case]:
    one_thread = kernel_alone(variant, np.int8, MANY, threads=1)
    return [
        *(
            Case(kernel_alone(variant, dtype), [raw_env(variant)])
            for dtype in (np.int8, np.float32)
        ),
        Case(kernel_alone(variant, np.int8, MANY), [one_thread]),
    ]
