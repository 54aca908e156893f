"""Learning and judging policies: `train`, `evaluate`, `Config`.

They are imported when asked for, so that the command line answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hanamachi.training.config import Config
    from hanamachi.training.evaluation.matches import evaluate
    from hanamachi.training.run import train

__all__ = ["Config", "evaluate", "train"]

HOMES = {"Config": "config", "evaluate": "evaluation.matches", "train": "run"}


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
