"""Tables for the terminal, in which nothing is cut: two long names never look alike."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table


def whole_table(*left: str, right: Sequence[str] = (), **style: Any) -> Table:
    """A table with these columns, aligned to the left, then to the right.

    What is too long for a cell continues in the next line. `style` is that of rich's Table.
    """
    table = Table(**style)
    for names, justify in ((left, "left"), (right, "right")):
        for name in names:
            table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    return table
