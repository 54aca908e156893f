"""The mistakes a user can make. Each ends in one sentence that says what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(ValueError):
    """Something that the user gave does not fit; the message is one whole sentence."""


class IllegalAction(UserError):
    """An action that the rules do not allow now; the game is left as it was."""


def missing_extra(package: str, extra: str) -> UserError:
    """The error for an optional dependency that is not installed."""
    return UserError(f"{package} is not installed; run: pip install 'hanamachi[{extra}]'")


def unknown(kind: str, name: object, known: Iterable[str]) -> UserError:
    """The error for a name that is not in a list, with the nearest one that is."""
    known = sorted(known)
    near = get_close_matches(str(name), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
    return UserError(f"there is no {kind} {name!r} ({hint})")
