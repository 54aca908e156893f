"""The engine beside our own face for single games, beside other libraries, and on one thread."""

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.training.benchmark.faces import raw_face
from hanamachi.training.benchmark.kernel import kernel_alone
from hanamachi.training.benchmark.measure import Contest
from hanamachi.training.benchmark.peers import engine_peers

MANY = 4096  # games at once, where threads are compared


def contests(variant: Variant, peers: bool) -> list[Contest]:
    others = [raw_face(variant), *(engine_peers(variant) if peers else ())]
    one_thread = kernel_alone(variant, np.int8, MANY, threads=1)
    return [
        *(Contest(kernel_alone(variant, dtype), others) for dtype in (np.int8, np.float32)),
        Contest(kernel_alone(variant, np.int8, MANY), [one_thread]),
    ]
