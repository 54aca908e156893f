"""What autodoc reads, as it is written in this repository."""

import ast
import inspect
import re
import textwrap
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

ARRAY = re.compile(r"ndarray\[tuple\[Any, (?:\.\.\.|…)\], dtype\[(\w+)\]\]")
BEFORE_CODE = re.compile(r"^(\S.*)\n\n(?=    )", re.MULTILINE)


def with_code(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """An indented block of a docstring is code; say so as reStructuredText does."""
    lines[:] = BEFORE_CODE.sub(r"\1\n\n::\n\n", "\n".join(lines)).split("\n")


def as_written(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: Any, returns: Any
) -> tuple[str, str | None] | None:
    """Types are called what the code calls them: Masks, and not an array of such a shape."""
    thing = getattr(thing, "__func__", thing)  # of a class method
    function = inspect.unwrap(thing.__init__ if inspect.isclass(thing) else thing)
    if not is_written_here(function):
        return ("", None) if what == "class" else None
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    linked = Linked(function.__globals__)
    definition.returns = linked.annotation(definition.returns)
    linked.visit(definition)
    if what in ("class", "exception", "method"):
        (definition.args.posonlyargs or definition.args.args).pop(0)  # self
    result = None if inspect.isclass(thing) else definition.returns
    return f"({ast.unparse(definition.args)})", result and ast.unparse(result)


def is_written_here(function: Any) -> bool:
    """Not so the functions of other libraries, and those that dataclasses are given."""
    ours = inspect.isfunction(function) and function.__module__.startswith("hanamachi")
    return ours and function.__code__.co_filename != "<string>"


def with_short_arrays(app: Sphinx, page: nodes.document) -> None:
    """Types that autodoc takes from Python, of attributes and aliases: NDArray[int8] is enough."""
    aliases = [p for p in page.findall(nodes.paragraph) if p.astext().startswith("alias of ")]
    for written in [*page.findall(addnodes.desc_annotation), *aliases]:
        short = ARRAY.sub(r"NDArray[\1]", written.astext())
        if short != written.astext():
            written.clear()
            written += nodes.Text(short)


class Linked(ast.NodeTransformer):
    """Names our classes so that Sphinx finds them, and shows them by their short names."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.known = known

    def annotation(self, written: ast.expr | None) -> ast.expr | None:
        """A class that is defined later stands in quotation marks."""
        quoted = isinstance(written, ast.Constant) and isinstance(written.value, str)
        return ast.parse(written.value, mode="eval").body if quoted else written

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = self.annotation(node.annotation)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        thing = self.known.get(node.id)
        ours = inspect.isclass(thing) and thing.__module__.startswith("hanamachi")
        return ast.Name(f"~{thing.__module__}.{thing.__qualname__}") if ours else node


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", with_code)
    app.connect("autodoc-process-signature", as_written)
    app.connect("doctree-read", with_short_arrays)
    return {"parallel_read_safe": True}
