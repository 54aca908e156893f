"""Datasets of games: `make`, `load` and `to_minari` (extra: data).

A dataset is a folder of Parquet files with one row for each move, and a card that says how it was
made. Any library that reads Parquet reads it too.
"""

from hanamachi.errors import missing_extra

try:
    import pyarrow  # noqa: F401
except ModuleNotFoundError:
    raise missing_extra("pyarrow", "data") from None

from hanamachi.training.dataset.make import make
from hanamachi.training.dataset.minari import to_minari
from hanamachi.training.dataset.read import Dataset, load

__all__ = ["Dataset", "load", "make", "to_minari"]
