"""How the rollout buffer keeps rows of numbers: as they are, as int8, or as bits.

On a GPU, small rows mean that more games fit into its memory and that less is copied to it.
"""

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hanamachi.engine.entries import int8_rows

BITS = 8  # of a byte


class Packing(Protocol):
    """A way to keep rows (..., N)."""

    size: int  #: entries of a packed row
    dtype: torch.dtype  #: of a packed row

    def pack(self, rows: NDArray[Any]) -> Tensor:
        """Rows as they are kept, (..., size)."""

    def unpack(self, packed: Tensor) -> Tensor:
        """Rows as networks read them, (..., N)."""


class PlainRows:
    """Rows as they are."""

    def __init__(self, size: int, dtype: torch.dtype = torch.float32) -> None:
        self.size, self.dtype = size, dtype

    def pack(self, rows: NDArray[Any]) -> Tensor:
        return torch.as_tensor(rows).to(self.dtype)

    def unpack(self, packed: Tensor) -> Tensor:
        return packed


class Int8:
    """Entries in units, as the engine writes int8 observations: fractions are rounded."""

    dtype = torch.int8

    def __init__(self, units: NDArray[np.float32]) -> None:
        """An entry of x is kept as x * units; `units` (N,) are those of the layout."""
        self.size, self.units = len(units), torch.tensor(units)

    def pack(self, rows: NDArray[Any]) -> Tensor:
        return torch.from_numpy(int8_rows(rows, self.units.numpy()))

    def unpack(self, packed: Tensor) -> Tensor:
        return packed / self.units.to(packed.device)


class Bits:
    """Zeros and ones, eight in a byte."""

    dtype = torch.uint8

    def __init__(self, entries: int) -> None:
        self.entries, self.size = entries, -(-entries // BITS)

    def pack(self, rows: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.packbits(rows != 0, axis=-1, bitorder="little"))

    def unpack(self, packed: Tensor) -> Tensor:
        places = torch.arange(BITS, dtype=self.dtype, device=packed.device)
        bits = packed.unsqueeze(-1).bitwise_right_shift(places).bitwise_and(1)
        return bits.flatten(-2)[..., : self.entries].bool()
