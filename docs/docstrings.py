"""What autodoc reads, as it is written in this repository."""

import re
from typing import Any

from sphinx.application import Sphinx

BEFORE_CODE = re.compile(r"^(\S.*)\n\n(?=    )", re.MULTILINE)
ARRAY = re.compile(r"~?numpy\.ndarray\[~?tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[([^\[\]]+)\]\]")
ARRAY_LIKE = re.compile(r"~?numpy\._typing\..*\| (?=complex).*?bytes(\]\])?")


def with_code(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """An indented block of a docstring is code; say so as reStructuredText does."""
    lines[:] = BEFORE_CODE.sub(r"\1\n\n::\n\n", "\n".join(lines)).split("\n")


def with_short_types(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: Any, returns: Any
) -> tuple[str | None, str | None]:
    """Arrays are called what the code calls them."""
    return short(signature), short(returns)


def short(types: str | None) -> str | None:
    return types and ARRAY_LIKE.sub("ArrayLike", ARRAY.sub(r"NDArray[\1]", types))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", with_code)
    app.connect("autodoc-process-signature", with_short_types)
    return {"parallel_read_safe": True}
