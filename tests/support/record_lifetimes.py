"""Where compiled code may use a record of an array that it has freed, found in its source.

A compiled record does not keep its array alive: an array that a function makes may be freed after
the statement that uses it last, except in a loop, which may come back to that statement.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

COMPILERS = {"kernel", "inline", "compiled", "in_order"}  # names of decorators
OF_RECORDS = re.compile(r"\.(copy|\w+_like)\(|RECORD|\.dtype")  # in calls that may make such arrays


def compiled_functions(room: Path) -> Iterator[ast.FunctionDef]:
    for file in sorted(room.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and COMPILERS & names_in(node.decorator_list):
                yield node


def faults(function: ast.FunctionDef) -> Iterator[str]:
    """A sentence for each use of a record that may come after its array is freed."""
    for name, made in arrays_made_in(function):
        kept = kept_until(name, made, function)
        for line in lines_with_elements(name, function):
            if line > kept:
                yield f"{function.name}, line {line}: {name} may be freed; see after_use_of"


def names_in(nodes: list[ast.expr]) -> set[str]:
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def assignments(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                yield from zip(target.elts, value.elts, strict=True)
            else:
                yield target, value


def arrays_made_in(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """The name of each array, perhaps of records, and the line that makes it."""
    for target, value in assignments(function):
        made = isinstance(value, ast.Call) and OF_RECORDS.search(ast.unparse(value))
        if made and isinstance(target, ast.Name):
            yield target.id, target.lineno


def loads_of(name: str, function: ast.FunctionDef) -> list[ast.Name]:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    return [node for node in nodes if node.id == name and isinstance(node.ctx, ast.Load)]


def is_element(node: ast.AST, name: str) -> bool:
    """Whether it reads an element of the array."""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return False
    is_read = isinstance(node.ctx, ast.Load)
    return is_read and isinstance(node.value, ast.Name) and node.value.id == name


def lines_with_elements(name: str, function: ast.FunctionDef) -> Iterator[int]:
    """The lines that use an element of the array, or the name of one or of its field."""
    yield from (node.lineno for node in ast.walk(function) if is_element(node, name))
    for target, value in assignments(function):
        while isinstance(value, ast.Attribute):
            value = value.value
        if isinstance(target, ast.Name) and is_element(value, name):
            yield from (load.lineno for load in loads_of(target.id, function))


def kept_until(name: str, made: int, function: ast.FunctionDef) -> int:
    """The last line that surely runs before the array is freed."""
    lines = [made]
    for load in loads_of(name, function):
        lines.append(load.lineno - 1)
        for node in ast.walk(function):
            if isinstance(node, ast.For | ast.While) and made < node.lineno:
                inside = node.lineno < load.lineno <= (node.end_lineno or 0)
                lines += [node.end_lineno or 0] * inside
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "after_use_of":
                lines += [node.end_lineno or 0] * (node.args[0] is load)
    return max(lines)
