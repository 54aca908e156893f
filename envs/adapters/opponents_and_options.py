"""What users may ask of every environment: opponents by name, and options of a reset."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium.logger

from hanamachi.engine.game import Variant
from hanamachi.errors import nearest, shown, unknown
from hanamachi.sessions.arguments import checked_mapping
from hanamachi.sessions.opponent_protocol import Choose, Opponent, as_opponent
from hanamachi.sessions.session import RESET_OPTIONS

OPPONENT_FAILED = "the opponent failed in this game; call reset() to begin another"

Asked = Opponent | Choose | str | os.PathLike[str] | None


def opponent_for(asked: Asked, variant: Variant) -> Opponent:
    """A policy or a function as an opponent; a name, such as "greedy", as `load_policy` loads it.

    None stands for random play. UserError if it cannot play the variant.
    """
    if not isinstance(asked, str | os.PathLike):
        return as_opponent(asked, variant)
    from hanamachi.policies.load import load_policy  # here, because most users need no policies

    return as_opponent(load_policy(os.fspath(asked), variant), variant)


def close_if_named(asked: Asked, opponent: Opponent) -> None:
    """End what an opponent loaded by its name has started; one that the user made stays open."""
    if isinstance(asked, str | os.PathLike) and hasattr(opponent, "close"):
        opponent.close()


def known_options(options: Any, known: Sequence[str] = RESET_OPTIONS) -> dict[str, Any]:
    """The options of a reset that are among the known ones; others are ignored with a warning.

    Every adapter does so, because PettingZoo's own test gives an option that no game knows.
    UserError for a name that resembles a known one, as a batch whose mask is ignored begins all
    games anew, and for what is neither a mapping nor None.
    """
    given: Mapping[str, Any] = checked_mapping(options)
    for name in given.keys() - set(known):
        if nearest(name, known):
            raise unknown("option of reset", name, known)
        only = " and ".join(known)
        gymnasium.logger.warn(f"reset ignores the option {shown(name)}: it knows only {only}")
    return {name: value for name, value in given.items() if name in known}
