"""The mistakes a user can make. Each ends in one sentence that says what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

from hanamachi.limits import MESSAGE


class UserError(ValueError):
    """Something that the user gave does not fit; the message is one whole sentence.

    What users give may be of any length and hold any character: a message is cut in its middle to
    at most 300 characters, and shows characters that cannot be printed as Python spells them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))


class IllegalAction(UserError):
    """An action that the rules do not allow now; the game is left as it was."""


def shortened(message: str) -> str:
    """The message in printable characters; its middle is left out if it is too long."""
    return cut(printable(cut(message)))


def cut(text: str) -> str:
    """The text with its middle left out if it is too long."""
    head, gap = 2 * MESSAGE // 3, " ... "
    tail = MESSAGE - head - len(gap)
    return text if len(text) <= MESSAGE else text[:head] + gap + text[-tail:]


def printable(text: str) -> str:
    """The text with all other characters escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def missing_extra(package: str, extra: str) -> UserError:
    """The error for an optional dependency that is not installed."""
    return UserError(f"{package} is not installed; run: pip install 'hanamachi[{extra}]'")


def unknown(kind: str, name: object, known: Iterable[str]) -> UserError:
    """The error for a name that is not in a list, with the nearest one that is."""
    known = sorted(known)
    near = get_close_matches(str(name), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
    return UserError(f"there is no {kind} {name!r} ({hint})")
