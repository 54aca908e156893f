"""Train and evaluate policies: `Config`, `train`, `evaluate`, `exploit`.

`exploit_by_search` and `exact_exploitability` need no training. `SelfPlayVecEnv` and
`mover_signed_advantages` are for learners of your own.

Each is imported when it is first used, so that the command line starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hanamachi.errors import missing_extra
from hanamachi.training.failures import missing_package

if TYPE_CHECKING:
    from hanamachi.training.best_responses import exploit
    from hanamachi.training.config import Config
    from hanamachi.training.evaluation.matches import evaluate
    from hanamachi.training.exact.report import exact_exploitability
    from hanamachi.training.exploitation import exploit_by_search
    from hanamachi.training.learner.rollout_buffer import mover_signed_advantages
    from hanamachi.training.learner.vecenv import SelfPlayVecEnv
    from hanamachi.training.run import train

__all__ = [
    "Config",
    "SelfPlayVecEnv",
    "evaluate",
    "exact_exploitability",
    "exploit",
    "exploit_by_search",
    "mover_signed_advantages",
    "train",
]

HOMES = {
    "Config": "config",
    "SelfPlayVecEnv": "learner.vecenv",
    "evaluate": "evaluation.matches",
    "exact_exploitability": "exact.report",
    "exploit": "best_responses",
    "exploit_by_search": "exploitation",
    "mover_signed_advantages": "learner.rollout_buffer",
    "train": "run",
}


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        raise missing_extra(missing_package(error), "train") from error
