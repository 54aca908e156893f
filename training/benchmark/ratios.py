"""Ratios that were reached once are kept in a file; a later run shows whether they still are."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from hanamachi.errors import UserError
from hanamachi.training.evaluation.report import write_json

SLACK = 0.75  # of a ratio that was kept; less is a loss
ATTEMPTS = 3  # a loss counts if it shows each time, as other programs disturb single runs

Ratios = Mapping[str, float]  # by what was compared


def keep(ratios: Ratios, path: Path) -> None:
    """Write them, to three digits."""
    write_json({name: float(f"{ratio:.3g}") for name, ratio in ratios.items()}, path)


def kept(path: Path) -> dict[str, float]:
    try:
        ratios: dict[str, float] = json.loads(path.read_bytes())
        return {name: float(ratio) for name, ratio in ratios.items()}
    except (ValueError, TypeError, AttributeError):
        raise UserError(f"{path} does not hold ratios; write it with --keep {path}") from None


def losses(measure: Callable[[], Ratios], before: Ratios) -> list[str]:
    """A sentence for each ratio that was lost in every attempt; stops at the first without."""
    lost = set(before)
    for _ in range(ATTEMPTS):
        now = measure()
        if not now.keys() & before.keys():
            raise UserError("no ratio that was kept is measured; use --peers with hanamachi[bench]")
        lost = {name for name in lost if name in now and now[name] < SLACK * before[name]}
        if not lost:
            break
    return [f"{name}: {now[name]:.3g}, but it was {before[name]:.3g}" for name in sorted(lost)]
