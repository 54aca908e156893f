"""Whether worlds were drawn as often as a posterior says: the test that samplers take."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from positions import Node, batch
from scipy.stats import chisquare

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant

DRAWS = 4000
FEWEST = 20  # expected draws in a cell
LEVEL = 0.01


def redealt(variant: Variant, node: Node, seed: int) -> NDArray[np.void]:
    """Worlds that the mover cannot tell from this one, (DRAWS,)."""
    games = variant.new(np.arange(DRAWS, dtype=np.uint64) + np.uint64(DRAWS * seed))
    kernels.worlds(variant.rule_set, batch(variant, [node]), int(node.game.mover), games)
    return games


def worlds(games: NDArray[np.void], fields: list[str]) -> list[bytes]:
    """What tells games apart, as far as these fields go."""
    columns = np.column_stack([games[name].reshape(len(games), -1) for name in fields])
    rows = np.ascontiguousarray(columns, np.int32)
    return rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()


def p_value(drawn: list[bytes], likely: dict[bytes, float]) -> float:
    """Pearson's test, rare worlds counted together; 0 for a world that cannot be."""
    counts = Counter(drawn)
    if counts.keys() - likely.keys():
        return 0.0
    cells = [(counts[world], DRAWS * p) for world, p in likely.items()]
    common = [cell for cell in cells if cell[1] >= FEWEST]
    rare = [cell for cell in cells if cell[1] < FEWEST]
    pooled = (sum(n for n, _ in rare), sum(e for _, e in rare))
    if pooled[1] >= FEWEST:
        common.append(pooled)
    elif rare:
        last = common.pop()
        common.append((last[0] + pooled[0], last[1] + pooled[1]))
    if len(common) == 1:  # then there was nothing to get wrong
        return 1.0
    observed, expected = zip(*common, strict=True)
    return float(chisquare(observed, expected).pvalue)


def rejected(p_values: list[float]) -> int:
    """How many of the hypotheses fall by Holm's step-down correction."""
    steps = enumerate(sorted(p_values))
    return next((i for i, p in steps if p > LEVEL / (len(p_values) - i)), len(p_values))
