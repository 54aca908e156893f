"""How much of a long sample a test takes: a fixed share, or all of it in `make verify`."""

import os

WHOLE = os.environ.get("HANAMACHI_VERIFY") == "1"


def sample(whole: int, share: float = 0.01) -> int:
    """`whole` in `make verify`, else that share of it."""
    return whole if WHOLE else max(1, round(whole * share))
