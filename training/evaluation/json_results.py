"""Results of evaluations as JSON files."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from hanamachi.errors import UserError
from hanamachi.limits import ROWS_BYTES
from hanamachi.storage.files import replacing
from hanamachi.storage.reading import read_bounded
from hanamachi.training.evaluation.results import Row, Rows, TeamScore


def write_rows(rows: Rows, path: Path) -> None:
    """Write one policy's results as a list of {policy, opponent, play, games, rate, low, high}, or
    of {policy, partners, ...} in a cooperative game."""
    write_json([asdict(row) for row in rows], path)


def read_rows(path: Path) -> Rows:
    """The rows that `write_rows` wrote to this file; UserError if it holds anything else."""
    from pydantic import Field  # of the extra `train`

    rows: Rows = read_as(Annotated[list[Row] | list[TeamScore], Field(min_length=1)], path)
    return rows


def read_as(kind: Any, path: Path) -> Any:
    """What `write_json` wrote to this file of results; UserError if it holds no such `kind`."""
    from pydantic import TypeAdapter, ValidationError  # of the extra `train`

    try:
        return TypeAdapter(kind).validate_json(read_bounded(path, ROWS_BYTES))
    except ValidationError:
        raise misplaced(path) from None


def misplaced(path: Path) -> UserError:
    """What to say about a file of results that holds something else."""
    return UserError(
        f"{path} does not hold the results that belong there: restore it, or delete it and "
        "resume the run or repeat the command"
    )


def write_json(content: Any, path: Path) -> None:
    with replacing(path) as file:
        file.write((json.dumps(content, indent=2) + "\n").encode())
