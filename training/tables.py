"""Tables for the terminal, in which nothing is cut so that two long names never look alike."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hanamachi.errors import printable

# the folders of a path, and what is in the last; the parts of an agent's or a search's name
PIECES = re.compile(r"[^/\\?&:_,]*(?:[/\\?&:_]+|, ?)|[^/\\?&:_,]+")


class Name:
    """A head or a name, perhaps a path: one too long for a line folds after one of / ? & : _ ,"""

    def __init__(self, name: str) -> None:
        self.name = printable(name)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        parts = map(cell_len, PIECES.findall(self.name))
        return Measurement(max(parts, default=0), cell_len(self.name)).with_maximum(
            options.max_width
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in folded(PIECES.findall(self.name), options.max_width):
            yield Text(line, overflow="fold")  # a part that is too long by itself


def folded(parts: Iterable[str], width: int) -> Iterator[str]:
    """The parts in lines that hold as many of them as fit, and at least one."""
    line = ""
    for part in parts:
        if line and cell_len(line + part) > width:
            yield line
            line = ""
        line += part
    yield line


def whole_table(*left: str, right: Sequence[str] = (), **style: Any) -> Table:
    """A table with these columns, aligned to the left, then to the right.

    What is too long for a cell continues in the next line. `style` is that of rich's Table.
    """
    table = Table(**style)
    for names, justify in ((left, "left"), (right, "right")):
        for name in names:
            table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    return table
