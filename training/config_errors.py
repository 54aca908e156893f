"""What is wrong with settings, in one sentence that says what to do."""

import re
from collections.abc import Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hanamachi.errors import SHOWN, listed, nearest, shown

NAMED = 10  # mistakes in a message, at most
DEPTH = 2  # names to a setting, such as ppo.learning_rate
GROUP = "must be lines of name: value"


def explain(error: ValidationError, model: type[BaseModel], start: str) -> str:
    """The mistakes after `start`, unknown names first; the types of a union make one mistake."""
    mistakes: dict[tuple[int | str, ...], ErrorDetails] = {}
    for found in sorted(
        error.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden"
    ):
        mistakes.setdefault(found["loc"][:DEPTH], found)
    named = list(mistakes.values())[:NAMED]
    return listed(start, [clause(found, model) for found in named], len(mistakes) - len(named))


def clause(mistake: ErrorDetails, model: type[BaseModel]) -> str:
    """One mistake in words."""
    if mistake["type"] == "extra_forbidden":
        *path, wrong = mistake["loc"]
        keys = [part for part in path if not is_branch(part)]
        return (
            f"{'.'.join(map(shown_key, [*keys, wrong]))}: no such setting{hint(model, keys, wrong)}"
        )
    keys = [part for part in mistake["loc"] if not is_branch(part)]
    place = ".".join(shown_key(part) for part in keys if isinstance(part, str))
    if mistake["type"] == "missing":
        return f"{place} is missing"
    message = requirement(mistake, settings(model, keys))
    return f"{place}: {message} (not {shown(mistake['input'])})" if place else message


def requirement(mistake: ErrorDetails, names: Sequence[str]) -> str:
    """What a value must be; `names` are the settings below it, if any."""
    if mistake["type"] in ("model_type", "dict_type"):
        return f"must be a group of settings: {', '.join(names)}" if names else GROUP
    message = mistake["msg"].removeprefix("Value error, ").partition(", unable to parse")[0]
    return re.sub(r"^\w+ should", "must", message)


def is_branch(part: int | str) -> bool:
    """Whether a part of a place is what pydantic calls one type of a union, such as list[any]."""
    return str(part).endswith((")", "]")) or str(part).startswith("constrained-")


def shown_key(part: int | str) -> str:
    """A key as it is, or quoted if it does not fit into a sentence."""
    text = str(part)
    return text if text.isprintable() and 0 < len(text) < SHOWN else shown(text)


def hint(model: type[BaseModel], keys: Sequence[int | str], wrong: int | str) -> str:
    """The most similar setting, or all settings below these keys, if any are known."""
    names = settings(model, keys)
    similar = nearest(wrong, names)
    if similar:
        return f" (did you mean {similar}?)"
    return f" (choose from {', '.join(names)})" if names else ""


def settings(model: Any, keys: Sequence[int | str]) -> list[str]:
    """The names of the settings below these keys; none where any names may stand."""
    for key in keys:
        fields = getattr(model, "model_fields", {})
        if key in fields:
            model = fields[str(key)].annotation
        else:  # one of a mapping
            model = next(reversed(get_args(model)), None)
        if get_origin(model) in (Union, UnionType):
            model = get_args(model)[0]
    return list(getattr(model, "model_fields", ()))
