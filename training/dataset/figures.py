"""The figures of a dataset: how many games and decisions, and what the policies earned."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from hanamachi.errors import UserError
from hanamachi.training.dataset.record import RecordedGames

KEY = b"hanamachi"  # of a file's metadata


class Figures(NamedTuple):
    """Sums over games."""

    games: int
    rows: int  #: all moves, forced ones included
    decisions: int  #: with at least two legal actions
    returns: list[float]  #: of each policy, over all seats that it played
    seated: list[int]  #: how many seats each policy played

    def means(self) -> list[float]:
        """What each policy earned in a game, per seat."""
        return [total / seats for total, seats in zip(self.returns, self.seated, strict=True)]

    def in_words(self, policies: Sequence[str]) -> str:
        means = zip(policies, self.means(), strict=True)
        earned = ", ".join(f"{name} {mean:.3f}" for name, mean in means)
        return (
            f"{self.games:,} games, {self.decisions:,} decisions and "
            f"{self.rows - self.decisions:,} forced moves; mean return: {earned}"
        )


def figures_of(played: RecordedGames, policies: int) -> Figures:
    """The figures of some games."""
    legal, totals = played.arrays["legal"], played.totals
    own = [played.seating == policy for policy in range(policies)]
    return Figures(
        len(totals),
        len(legal),
        int((legal > 1).sum()),
        [float(totals[mine].sum()) for mine in own],
        [int(mine.sum()) for mine in own],
    )


def read_figures(data: Path, names: Sequence[str]) -> Figures:
    """The figures of all files of a dataset."""
    each = [figures_in(data / name) for name in names]
    games, rows, decisions, returns, seated = zip(*each, strict=True)
    counts = sum(games), sum(rows), sum(decisions)
    return Figures(*counts, np.sum(returns, axis=0).tolist(), np.sum(seated, axis=0).tolist())


def figures_in(file: Path) -> Figures:
    if file.is_dir():
        raise UserError(f"{file} is a folder: delete it, and make the dataset again")
    with file.open("rb") as opened:
        try:
            return Figures(**json.loads(pq.read_schema(opened).metadata[KEY]))
        except MemoryError:
            raise
        except Exception as error:  # a damaged file can raise anything
            raise UserError(f"{file} is damaged: delete it, and make the dataset again") from error
