"""Datasets of games: `make`, `load` and `to_minari` (extra: data).

A dataset is a folder of Parquet files with one row for each decision, and a card that says how it
was made. Any library that reads Parquet reads it too.
"""

from hanamachi.errors import missing_extra

try:
    import pyarrow  # noqa: F401
except ModuleNotFoundError:
    raise missing_extra("pyarrow", "data") from None

from hanamachi.training.dataset.make import make



__all__ = ["Dataset", "load", "make", "to_minari"]
