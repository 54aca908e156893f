"""The options of a small game, as several files of tests want one."""

from typing import Any

GIFTS: dict[str, Any] = {  # of Hanamikoji: one round of two actions
    "cards": [2, 3, 4],
    "actions": ["secret", "gift"],
    "max_rounds": 1,
}
