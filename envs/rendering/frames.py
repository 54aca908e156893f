"""What an environment shows to people: the render modes that every face has."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.errors import unknown

RENDER_MODES = ("human", "ansi", "rgb_array")

Frame = str | NDArray[np.uint8] | None


def checked_render_mode(mode: str | None) -> str | None:
    if mode is not None and mode not in RENDER_MODES:
        raise unknown("render mode", mode, RENDER_MODES)
    return mode


def frame(variant: Variant, game: np.record, mode: str) -> Frame:
    """The whole table, hidden cards too: printed, as text, or as an image (H, W, 3) uint8."""
    module: Any = variant.game.render()
    if mode == "rgb_array":
        image: NDArray[np.uint8] = module.image(variant, game)
        return image
    text: str = module.text(variant, game)
    if mode == "ansi":
        return text
    print(text)
    return None


# --- What the pictures of several games have in common


def counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def scored_round(variant: Variant, before: np.record, action: int) -> np.record | None:
    """The table as `action` left it when it ended a round and another follows; else None.

    The engine clears it at once, so the round is scored again as the last that is played.
    """
    if variant.game.last_round is None:
        return None
    after, scored = before.copy(), before.copy()
    kernels.apply_one(variant.rule_set, after, action)
    if after.round_number == before.round_number:
        return None
    last = variant.rule_set.copy()
    last[variant.game.last_round] = before.round_number
    kernels.apply_one(last, scored, action)
    return scored
