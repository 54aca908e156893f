"""How much of a long sample a test takes: a fixed share, or all of it in `make verify`."""

import os

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
UNCOMPILED_SHARE = 0.02
WHOLE = os.environ.get("HANAMACHI_VERIFY") == "1"


def sample(whole: int, share: float = 0.01) -> int:
    """`whole` in `make verify`, else that share of it; less where nothing is compiled."""
    if WHOLE:
        return whole
    return max(1, round(whole * share * (UNCOMPILED_SHARE if UNCOMPILED else 1)))
