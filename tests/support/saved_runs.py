"""What a run has saved, compared to the bit."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from hanamachi.training.config import Config
from hanamachi.training.resume import resumed_learner


def all_that_is_saved(out: Path) -> dict[str, Any]:
    """What the last save of a run holds, but for the times in it."""
    learner = resumed_learner(Config.load(out / "config.yaml"), out)
    assert learner
    networks = learner.policy.state_dict(), learner.policy.optimizer.state_dict()
    return {**vars(learner.run_state), "learner": networks, "decisions": learner.num_timesteps}


def assert_same(one: Any, other: Any) -> None:
    """That two nested values are the same, to the bit."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list | tuple):
        for each, its in zip(one, other, strict=True):
            assert_same(each, its)
    elif isinstance(one, np.ndarray | torch.Tensor):
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other
