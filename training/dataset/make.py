"""Make a dataset: play the games file by file, write its card; the same call resumes.

A folder holds one dataset: `dataset.json` says which, `data/` holds the files of games, and
`README.md`, the card, is written last.
"""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow.parquet as pq

from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import THREADS
from hanamachi.policies.names import DATASET_FILE
from hanamachi.sessions.arguments import whole_number
from hanamachi.storage.files import remove_leftovers, replacing, utf8
from hanamachi.storage.reading import checked_path
from hanamachi.training.dataset.card import card
from hanamachi.training.dataset.columns import schema, table_of
from hanamachi.training.dataset.figures import KEY, Figures, figures_of, read_figures
from hanamachi.training.dataset.recipe import DERIVED, Recipe
from hanamachi.training.dataset.record import record
from hanamachi.training.evaluation.pairings import each_of
from hanamachi.training.evaluation.playing import Play
from hanamachi.training.evaluation.saved_parts import claim
from hanamachi.training.ownership import LOCK, locked
from hanamachi.training.workers import map_by

ABOUT, DATA, CARD = DATASET_FILE, "data", "README.md"


class Watch(Protocol):
    """Follows the making of a dataset."""

    def begin(self, games: int, kept: int) -> None:
        """`games` are to be played; `kept` of them were played before."""

    def advance(self, games: int) -> None:
        """`games` more were played."""


def make(
    game: str,
    policies: str | Sequence[str],
    games: int,
    out: str | Path,
    seed: int = 0,
    *,
    play: Play = "sample",
    judge: str | None = None,
    processes: int = 1,
    watch: Watch | None = None,
    **options: Any,
) -> Figures:
    """Let one policy, or two that take turns at the table, play games, and write them to `out`.

    Each policy is named as `load_policy` takes it. `play` is how they choose: "sample" from their
    probabilities, or "argmax". `judge` names a search, such as "search:improve:expert:worlds=64":
    then every legal action gets a value. With `processes`, several files are made at once; the rows
    stay the same, unless a policy decides otherwise when asked again: a search with a budget in
    seconds, a bot or a language model may. More than one needs `if __name__ == "__main__"` in a
    script. `options` are those of the game. The same call continues a dataset that was stopped.
    Raises UserError if an argument does not fit, if `out` holds another dataset, or if another
    process makes one there.
    """
    folder, variant = checked_path(out), make_variant(game, **options)
    given = tuple(map(str, each_of(policies))), games, seed, play, judge
    recipe = Recipe(variant.id, dict(variant.options), *given).checked()
    if not 1 <= whole_number(processes, "processes") <= THREADS:
        raise UserError(f"processes must be from 1 to {THREADS}, not {shown(processes)}")
    about = recipe.about()  # loads all policies before anything is written
    claim(folder / ABOUT, about, "a dataset", [folder / CARD, folder / DATA], derived=DERIVED)
    with locked(folder, "making the dataset in"):
        play_missing(recipe, folder / DATA, processes, watch)
        figures = read_figures(folder / DATA, recipe.files)
        with replacing(folder / CARD) as file:
            file.write(utf8(card(recipe, figures)))
    (folder / LOCK).unlink(missing_ok=True)  # complete: nobody writes there any more
    return figures


def play_missing(recipe: Recipe, data: Path, processes: int, watch: Watch | None) -> None:
    """Make the files that are not there."""
    remove_leftovers(data)
    missing = [i for i, name in enumerate(recipe.files) if not (data / name).exists()]
    left = sum(len(games_of(recipe, i)) for i in missing)
    if watch:
        watch.begin(recipe.games, recipe.games - left)
    with map_by(max(1, min(processes, len(missing)))) as mapper:
        for games in mapper(partial(write_file, recipe, data), missing):
            if watch:
                watch.advance(games)


def write_file(recipe: Recipe, data: Path, number: int) -> int:
    """Play the games of a file and write it; returns how many these are."""
    games = games_of(recipe, number)
    played = record(recipe, games)
    summary = json.dumps(figures_of(played, len(recipe.policies))._asdict())
    columns = schema(recipe.variant, recipe.judge is not None).with_metadata({KEY: summary})
    with replacing(data / recipe.files[number]) as file:
        table = table_of(played.arrays, columns)
        pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    return len(games)


def games_of(recipe: Recipe, number: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The numbers of the games of a file."""
    first = number * recipe.games_a_file
    return np.arange(first, min(first + recipe.games_a_file, recipe.games))
