"""A notebook as Markdown for the site: its text, its code, and what its cells showed."""

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

SVG, PNG, HTML, TEXT = "image/svg+xml", "image/png", "text/html", "text/plain"
RAW = "````{{raw}} html\n{}\n````"


def as_markdown(notebook: str) -> str:
    """The cells of a notebook, which is given as the text of its file."""
    return "\n\n".join(part for cell in json.loads(notebook)["cells"] for part in parts(cell))


def parts(cell: dict[str, Any]) -> Iterator[str]:
    """The text of a cell; or its code, and then each of its outputs."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"````python\n{source}\n````"
    for output in cell["outputs"]:
        yield shown(output.get("data") or {TEXT: output["text"]})


def shown(data: dict[str, Any]) -> str:
    """An output in the form that shows most: a picture, HTML or text."""
    forms = {form: "".join(content) for form, content in data.items()}
    if SVG in forms:
        return picture(SVG, b64encode(forms[SVG].encode()).decode())
    if PNG in forms:
        return picture(PNG, forms[PNG].strip())
    return RAW.format(forms[HTML]) if HTML in forms else f"````text\n{forms[TEXT].rstrip()}\n````"


def picture(form: str, encoded: str) -> str:
    """An image of its own: inside of the page, pictures would share the names of their styles."""
    return RAW.format(f'<img alt="What the code shows" src="data:{form};base64,{encoded}">')
