"""The mistakes a user can make. Each ends in one sentence that says what to do."""

import re
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from reprlib import Repr
from types import ModuleType
from typing import Any

from hanamachi.limits import MESSAGE

SHOWN = 60  # characters of a value in a message
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+>")  # in memory, which tells a user nothing


class UserError(ValueError):
    """Something that the user gave does not fit; the message is one whole sentence.

    What users give may be of any length and hold any character: a message is cut in its middle to
    at most 300 characters, and shows characters that cannot be printed as Python spells them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(str(message)))  # Gymnasium makes one of another in a process


class IllegalAction(UserError):
    """An action that the rules do not allow now; the game is left as it was."""


class Unavailable(UserError):
    """Something outside that a policy needs, such as a server, fails; no policy is to blame."""


def shortened(message: str) -> str:
    """The message in printable characters; its middle is left out if it is too long."""
    return cut(printable(cut(message)))


def cut(text: str, room: int = MESSAGE) -> str:
    """The text with its middle left out if it is longer than `room`."""
    head, gap = 2 * room // 3, " ... "
    tail = room - head - len(gap)
    return text if len(text) <= room else text[:head] + gap + text[-tail:]


def listed(
    start: str, parts: Sequence[str], others: int = 0, *, by: str = "; ", end: str = ""
) -> str:
    """`start`, then as many parts as a message holds, and how many others there are.

    If not even one part fits, its middle is left out.
    """
    told, more = start, f"{others} more{end}" if others else end
    for count in range(len(parts), 0, -1):
        left = len(parts) - count + others
        told, more = start + by.join(parts[:count]), f"{by}{left} more{end}" if left else end
        if len(told + more) <= MESSAGE:
            break
    return cut(told, MESSAGE - len(more)) + more


def printable(text: str) -> str:
    """The text with all other characters escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Brief(Repr):
    """Spells values as Python does, but only a part of a large or deep one."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxlong = self.maxother = SHOWN

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > 2048:  # Python spells no numbers of thousands of digits
            return f"a number of {x.bit_length()} bits"
        return super().repr_int(x, level)

    def repr_instance(self, x: Any, level: int) -> str:
        text = super().repr_instance(x, level)
        return f"an object of type {type(x).__name__}" if ADDRESS.search(text) else text


def shown(value: Any) -> str:
    """What a user gave, on one short line."""
    text = " ".join(Brief().repr(value).split())
    return text if len(text) < SHOWN else text[: SHOWN - 3] + "..."


def missing_extra(package: str, extra: str) -> UserError:
    """The error for an optional dependency that is not installed."""
    return UserError(f"{package} is not installed; run: pip install 'hanamachi[{extra}]'")


def unknown(kind: str, name: object, known: Iterable[str]) -> UserError:
    """The error for a name that is not in a list, with the nearest one that is."""
    known, start = sorted(known), f"there is no {kind} {shown(name)}"
    if near := nearest(name, known, 0.5):
        return UserError(f"{start} (did you mean {near}?)")
    return UserError(listed(f"{start} (choose from ", known, by=", ", end=")") if known else start)


def nearest(name: object, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar of the known names, if one is similar; nothing is similar to a long name."""
    text = name[:MESSAGE] if isinstance(name, str) else ""
    return next(iter(get_close_matches(text, list(known), n=1, cutoff=cutoff)), None)


# --- A folder in the place of the package


def refuse_folder(package: ModuleType) -> None:
    """ImportError if Python took a folder called hanamachi for the package.

    With an editable install this happens where Python starts next to such a folder, as beside a
    clone. The package would then be there without `make` and without its ids in Gymnasium.
    """
    if getattr(package, "__file__", None) is None:
        (folder, *_) = package.__path__
        raise ImportError(
            f"Python took the folder {folder} for the package hanamachi; start Python in another "
            "folder, or rename that one (if it is the clone, install it again)"
        )


refuse_folder(sys.modules["hanamachi"])
