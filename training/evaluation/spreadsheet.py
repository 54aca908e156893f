"""Tables as CSV, for spreadsheets."""

import csv
from collections.abc import Iterable
from io import StringIO
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets calculate begins so


def csv_of(rows: Iterable[Iterable[Any]]) -> str:
    """The rows as CSV; an apostrophe precedes a name that a spreadsheet would calculate."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([as_text(cell) for cell in row] for row in rows)
    return text.getvalue()


def as_text(cell: Any) -> Any:
    """A name as a text; numbers stay as they are, also negative ones."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
