"""The columns of a dataset: one table, from which the files, the card and the reader derive.

Notation: n moves, N entries of an observation, A actions.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hanamachi.engine.game import Variant

Arrays = Mapping[str, NDArray[Any]]  # column -> its rows, (n,), (n, N) or (n, A)


class Column(NamedTuple):
    name: str
    dtype: type[np.generic]
    entries: str  # of a row: "N" or "A", or "" for a single number
    meaning: str


COLUMNS = (
    Column("game", np.int32, "", "number of the game, from 0"),
    Column("decision", np.int32, "", "number of the move in its game, from 0, forced ones counted"),
    Column("seat", np.int8, "", "seat that decides"),
    Column("policy", np.int8, "", "which policy decides, by its place in the list of policies"),
    Column("legal", np.int16, "", "how many actions are legal; 1 means that the move is forced"),
    Column("observation", np.int8, "N", "what the seat sees, each entry in its unit (see below)"),
    Column("mask", np.int8, "A", "1 where an action is legal"),
    Column("action", np.int16, "", "action taken"),
    Column("probabilities", np.float32, "A", "the policy's probability of each action"),
    Column("earned", np.float32, "", "rewards of the seat before this decision"),
    Column("return", np.float32, "", "rewards of the seat from here to the end, not discounted"),
)
VALUES = Column(
    "values",
    np.float32,
    "A",
    "what the seat earns from here by each action, as the judge expects it; "
    "NaN where an action is illegal or the only one",
)


def columns(judged: bool) -> Sequence[Column]:
    """The columns of a dataset, with or without a judge."""
    return (*COLUMNS, VALUES) if judged else COLUMNS


def schema(variant: Variant, judged: bool) -> pa.Schema:
    """The names and types of the columns in the files."""
    return pa.schema(
        [pa.field(c.name, arrow_type(c, variant), nullable=False) for c in columns(judged)]
    )


def arrow_type(column: Column, variant: Variant) -> pa.DataType:
    single = pa.from_numpy_dtype(np.dtype(column.dtype))
    if not column.entries:
        return single
    return pa.list_(pa.field("element", single, nullable=False), row_size(column, variant))


def row_size(column: Column, variant: Variant) -> int:
    """How many numbers a row has."""
    return {"": 1, "N": variant.observation.size, "A": variant.actions.size}[column.entries]


def table_of(arrays: Arrays, of: pa.Schema) -> pa.Table:
    """The arrays as a table; numbers of the right type are not copied."""
    return pa.Table.from_arrays([arrow_array(arrays[f.name], f.type) for f in of], schema=of)


def arrow_array(rows: NDArray[Any], kind: pa.DataType) -> pa.Array:
    if not pa.types.is_fixed_size_list(kind):
        return pa.array(rows, kind)
    flat = pa.array(np.ascontiguousarray(rows).reshape(-1), kind.value_type)
    return pa.FixedSizeListArray.from_arrays(flat, type=kind)


def numpy_array(rows: pa.ChunkedArray, size: int) -> NDArray[Any]:
    """The rows of a column, (n,), or (n, size) if it holds lists."""
    whole = rows.combine_chunks()
    if not pa.types.is_fixed_size_list(whole.type):
        return np.asarray(whole)
    return np.asarray(whole.flatten()).reshape(len(whole), size)
