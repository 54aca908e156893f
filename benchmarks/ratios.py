"""Keep ratios in a file, and find those that a later run no longer reaches."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from hanamachi.errors import UserError
from hanamachi.training.evaluation.json_results import write_json

SLACK = 0.75  # a ratio below this share of the kept one is lost
ATTEMPTS = 3  # a ratio must be lost in each, since other programs disturb single runs

Ratios = Mapping[str, float]  # by "what / baseline"


def keep(ratios: Ratios, path: Path) -> None:
    """Write ratios to three digits."""
    write_json({name: float(f"{ratio:.3g}") for name, ratio in ratios.items()}, path)


def kept(path: Path) -> dict[str, float]:
    try:
        ratios: dict[str, float] = json.loads(path.read_bytes())
        return {name: float(ratio) for name, ratio in ratios.items()}
    except (ValueError, TypeError, AttributeError):
        raise UserError(f"{path} does not hold ratios; write it with --keep {path}") from None


def losses(measure: Callable[[], Ratios], before: Ratios) -> list[str]:
    """A sentence for each ratio that is lost in every attempt; stops as soon as none is left."""
    lost = set(before)
    for _ in range(ATTEMPTS):
        now = measure()
        if not now.keys() & before.keys():
            raise UserError("no kept ratio is measured; run: pip install 'hanamachi[bench]'")
        lost = {name for name in lost if name in now and now[name] < SLACK * before[name]}
        if not lost:
            break
    return [f"{name}: {now[name]:.3g}, but it was {before[name]:.3g}" for name in sorted(lost)]
