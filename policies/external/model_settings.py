"""The settings in a model's name: what stands after the ? in "model:NAME?url=...&temperature=0"."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import unquote

from hanamachi.errors import UserError, shown, unknown
from hanamachi.limits import REQUESTS_AT_ONCE
from hanamachi.policies.external.chat import LONGEST_WAIT
from hanamachi.sessions.prompts import PROMPTS
from hanamachi.sessions.replies import retries_of
from hanamachi.storage.plain_yaml import parse_yaml

DAY = 86_400.0  # seconds
DEAREST = 1e9  # price of a million tokens
HOTTEST = 100.0  # temperature, far above what any server takes


@dataclass(frozen=True)
class Settings:
    """How a model is asked."""

    url: str = ""  #: of the API, such as http://127.0.0.1:8000/v1; required
    key: str = ""  #: the environment variable with the key; OPENAI_API_KEY by default
    prompt: str = "deductions"  #: or "bare", or "memory"
    legal_list: bool = True  #: whether prompts list the legal actions
    illegal: str = "retry:2"  #: ask again twice, then forfeit; or "forfeit" at once, or "random"
    parallel: int = 8  #: requests at once
    timeout: float = 120.0  #: seconds for one attempt at a request
    attempts: int = 6  #: at a request, if the server is busy or fails
    #: seconds before the second attempt; each later wait is twice as long, up to LONGEST_WAIT
    wait: float = 1.0
    price_in: float = 0.0  #: of a million tokens of prompts, in any currency
    price_out: float = 0.0  #: of a million tokens of replies
    cache: str = ""  #: file that keeps the replies; in the user's folder of caches by default
    sampling: Mapping[str, Any] = field(default_factory=dict)  #: those of SAMPLING that were given


SAMPLING: Mapping[str, type] = {  # sent with each request, if given
    "temperature": float,
    "top_p": float,
    "max_tokens": int,
    "max_completion_tokens": int,
    "reasoning_effort": str,
    "seed": int,
}
OWN = {each.name: type(each.default) for each in fields(Settings) if each.name != "sampling"}
KINDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
BOUNDS: Mapping[str, tuple[float, float]] = {
    "parallel": (1, REQUESTS_AT_ONCE),
    "timeout": (0.01, DAY),
    "attempts": (1, 100),
    "wait": (0, LONGEST_WAIT),
    "price_in": (0, DEAREST),
    "price_out": (0, DEAREST),
    "temperature": (0, HOTTEST),
    "top_p": (0, 1),
}


def settings_of(query: str) -> Settings:
    """The settings of "url=...&temperature=0", where % escapes other characters.

    UserError for an unknown setting, a value of another type, or one out of bounds.
    """
    own: dict[str, Any] = {}
    sampling: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        name, _, text = part.partition("=")
        if name in own or name in sampling:
            raise UserError(f"the model's {name} is given twice")
        (sampling if name in SAMPLING else own)[name] = read(name, unquote(text))
    settings = Settings(**own, sampling=sampling)
    if not settings.url:
        raise UserError("a model needs a url: model:NAME?url=http://127.0.0.1:8000/v1")
    if settings.prompt not in PROMPTS:
        raise unknown("prompt", settings.prompt, PROMPTS)
    retries_of(settings.illegal)
    return settings


def read(name: str, text: str) -> Any:
    """The value of a setting, from its text."""
    kind = {**OWN, **SAMPLING}.get(name)
    if kind is None:
        raise unknown("setting of a model called", name, {**OWN, **SAMPLING})
    value: Any = text if kind is str else parse_yaml(text, name)
    fits = type(value) is kind or (kind is float and type(value) is int)
    if not fits:
        raise UserError(f"{name} must be {KINDS[kind]}, not {shown(value)}")
    if name in BOUNDS:
        low, high = BOUNDS[name]
        if not low <= value <= high:
            raise UserError(f"{name} must be from {low:g} to {high:g}, not {shown(value)}")
    return value
