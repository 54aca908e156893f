"""Read a dataset and check all of it: files come from outside.

Notation: n moves, N entries of an observation, A actions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.engine.memory import check_memory
from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.limits import GAMES, RESULTS_BYTES
from hanamachi.policies.networks.description import digests
from hanamachi.sessions.policy_checks import FINE, faulty_row, illegal_row
from hanamachi.storage.reading import checked_path, parse_json, read_bounded
from hanamachi.training.dataset.columns import columns, numpy_array, row_size, schema
from hanamachi.training.dataset.figures import KEY
from hanamachi.training.dataset.make import ABOUT, DATA
from hanamachi.training.dataset.recipe import Recipe, file_count, file_names

SHIPPED = Path(__file__).parent / "shipped"  # what scripts/datasets.py makes, a folder each
KINDS: Mapping[str, Any] = {  # of the entries of ABOUT
    "game": str,
    "options": dict,
    "policies": list,
    "games": int,
    "seed": int,
    "play": str,
    "judge": str | None,
    "games_a_file": int,
    "actions": str,
    "observation": str,
}


@dataclass(frozen=True)
class Dataset:
    """The moves of a dataset, sorted by `game` and `decision`.

    Forced ones are among them; `decisions` leaves them out.
    """

    recipe: Recipe  #: how it was made
    game: NDArray[np.int32]  #: (n,) number of the game
    decision: NDArray[np.int32]  #: (n,) number of the move in its game
    seat: NDArray[np.int8]  #: (n,) seat that decides
    policy: NDArray[np.int8]  #: (n,) place of its policy in `recipe.policies`
    legal: NDArray[np.int16]  #: (n,) how many actions are legal
    observation: NDArray[np.int8]  #: (n, N) what the seat sees, in units of the layout
    mask: NDArray[np.int8]  #: (n, A) 1 where an action is legal
    action: NDArray[np.int16]  #: (n,) action taken
    probabilities: NDArray[np.float32]  #: (n, A) of the policy
    earned: NDArray[np.float32]  #: (n,) rewards of the seat before this decision
    returns: NDArray[np.float32]  #: (n,) rewards of the seat from here to the end
    values: NDArray[np.float32] | None  #: (n, A) of each action by the judge, if there was one

    def __len__(self) -> int:
        return len(self.game)

    @property
    def variant(self) -> Variant:
        """The game that was played."""
        return self.recipe.variant

    @property
    def observations(self) -> NDArray[np.float32]:
        """What the seats see, as the environments show it, (n, N), up to the rounding to int8."""
        return np.divide(self.observation, self.variant.observation.units, dtype=np.float32)

    @property
    def decisions(self) -> "Dataset":
        """The rows with at least two legal actions."""
        return self.part(self.legal > 1)

    def part(self, rows: NDArray[Any]) -> "Dataset":
        """Some of the rows, by their places or by a mask."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)[1:]}
        chosen: dict[str, Any] = {k: a if a is None else a[rows] for k, a in arrays.items()}
        return replace(self, **chosen)

    def by_decision(self) -> Iterator[NDArray[np.int64]]:
        """The places of the first decision of each game, then of the second, and so on."""
        order = np.argsort(self.decision, kind="stable")
        yield from np.split(order, np.cumsum(np.bincount(self.decision))[:-1])


def load(dataset: str | Path) -> Dataset:
    """Read a dataset, from its folder or, if it comes with the package, by its variant's id.

    UserError if it is not whole, if anything in it does not fit the game, or if the name stands for
    both a variant and a folder.
    """
    folder = folder_of(dataset)
    recipe, parts = read_recipe(folder)
    arrays = read_files(folder, recipe, parts)
    check_order(folder, recipe, arrays["game"], arrays["decision"])
    named: dict[str, Any] = {"values": None, **arrays, "returns": arrays.pop("return")}
    return Dataset(recipe, **{f.name: named[f.name] for f in fields(Dataset)[1:]})


def read_recipe(folder: Path) -> tuple[Recipe, list[Path]]:
    """The recipe of a dataset, and its files; UserError if one is missing."""
    recipe, games_a_file = read_about(folder)
    there = {part.name for part in (folder / DATA).glob("*.parquet")}
    missing = count = file_count(recipe.games, games_a_file)
    if count <= len(there):  # else there is no need for a list that may be endless
        names = file_names(recipe.games, games_a_file)
        missing = len(set(names) - there)
    if missing:
        how = "the command that made it completes it"
        raise refused(folder, f"{missing:,} of {count:,} files are missing; {how}")
    return recipe, [folder / DATA / name for name in names]


def folder_of(dataset: str | Path) -> Path:
    """Where a dataset is, that of the package or another."""
    name = str(dataset)
    if name not in VARIANTS:
        return checked_path(dataset)
    if Path(name, ABOUT).exists():
        raise UserError(
            f"{name} names the dataset of the package and a folder here: write "
            f'"./{name}" for the folder'
        )
    return shipped(name)


def shipped(id: str) -> Path:
    """The folder of the dataset that comes with the package for a variant."""
    folder = SHIPPED / id.replace(":", "-")
    if not folder.is_dir():
        raise UserError(f"no dataset ships for {id}; datasets ship for {', '.join(shipped_ids())}")
    return folder


def shipped_ids() -> list[str]:
    """The ids of the variants with a dataset in the package."""
    return [id for id in VARIANTS if (SHIPPED / id.replace(":", "-")).is_dir()]


def refused(folder: Path, why: str) -> UserError:
    return UserError(f"the dataset {folder} cannot be used: {why}")


# --- The description


def read_about(folder: Path) -> tuple[Recipe, int]:
    """The recipe of a dataset, and how many games each of its files has."""
    try:
        about = parse_json(read_bounded(folder / ABOUT, RESULTS_BYTES))
    except UserError as error:
        raise refused(folder, f"{ABOUT}: {error}") from error
    check_kinds(folder, about)
    given = {f.name: about[f.name] for f in fields(Recipe)}
    recipe = Recipe(**{**given, "policies": tuple(map(str, about["policies"]))}).checked()
    if not 1 <= about["games_a_file"] <= GAMES:
        raise refused(folder, f"{ABOUT} has no valid games_a_file")
    if any(about[name] != digest for name, digest in digests(recipe.variant, ()).items()):
        raise refused(
            folder, f"its actions or observations are of another version of {recipe.game}"
        )
    return recipe, about["games_a_file"]


def check_kinds(folder: Path, about: Any) -> None:
    """UserError unless the description has every entry, each of its type."""
    if not isinstance(about, dict):
        raise refused(folder, f"{ABOUT} does not describe a dataset")
    for name, kind in KINDS.items():
        entry = about.get(name)
        if name not in about or not isinstance(entry, kind) or isinstance(entry, bool):
            raise refused(folder, f"{ABOUT} has no valid {name}")


# --- The rows


def read_files(folder: Path, recipe: Recipe, parts: list[Path]) -> dict[str, NDArray[Any]]:
    """All rows by column, each file checked before the next is read."""
    variant, kinds = recipe.variant, columns(recipe.judge is not None)
    sizes = [rows_in(folder, part) for part in parts]
    row = sum(row_size(c, variant) * np.dtype(c.dtype).itemsize for c in kinds)
    check_memory(sum(sizes) * row, f"the {sum(sizes):,} decisions of {folder}")
    arrays = {
        c.name: np.empty((sum(sizes), row_size(c, variant))[: 1 + bool(c.entries)], c.dtype)
        for c in kinds
    }
    begin = 0
    for part, size in zip(parts, sizes, strict=True):
        rows = {name: array[begin : begin + size] for name, array in arrays.items()}
        for name, column in read_columns(folder, recipe, part):
            rows[name][:] = column
        if fault := next(faults(variant, recipe, rows), None):
            raise refused(folder, f"{part.name} {fault}")
        begin += size
    return arrays


def rows_in(folder: Path, part: Path) -> int:
    """The number of rows of a file; UserError if the file tells that another number was written."""
    try:
        found = pq.read_metadata(part)
        size, summary = int(found.num_rows), (found.metadata or {}).get(KEY)
        written = parse_json(summary)["rows"] if summary else size  # as others write it again
    except Exception as error:  # a damaged file can raise anything
        raise refused(folder, f"{part.name} is damaged, or no Parquet file") from error
    if size != written:
        what_to_do = "delete it, and make the dataset again"
        raise refused(folder, f"{part.name} has more or fewer rows than were written; {what_to_do}")
    return size


def read_columns(folder: Path, recipe: Recipe, part: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """The columns of a file, which must be those of the table in `columns.py`; others are left."""
    variant, kinds = recipe.variant, columns(recipe.judge is not None)
    try:
        file = pq.ParquetFile(part, page_checksum_verification=True)
        check_columns(folder, recipe, part, file)
        table = file.read(columns=[kind.name for kind in kinds])
    except UserError:
        raise
    except Exception as error:  # a damaged file can raise anything
        raise refused(folder, f"{part.name} is damaged") from error
    if len(table) != file.metadata.num_rows:
        raise refused(folder, f"{part.name} has other rows than it says")
    for kind in kinds:
        array = numpy_array(table[kind.name], row_size(kind, variant))
        if table[kind.name].null_count or array.dtype != kind.dtype:  # as of lists with nulls
            raise refused(folder, f"the column {kind.name} has empty places")
        yield kind.name, array


def check_columns(folder: Path, recipe: Recipe, part: Path, file: pq.ParquetFile) -> None:
    """UserError unless a file says that it has each column once, with its type and size."""
    given, judged = file.schema_arrow, recipe.judge is not None
    numbers, rows = entries_of(file.metadata), file.metadata.num_rows
    for kind, field in zip(columns(judged), schema(recipe.variant, judged), strict=True):
        if given.names.count(kind.name) != 1:
            raise refused(folder, f"{part.name} does not have one column {kind.name}")
        found = given.field(kind.name).type
        if not same_type(found, field.type):
            raise refused(folder, f"the column {kind.name} is {found}, not {field.type}")
        entries = rows * row_size(kind, recipe.variant)
        if numbers[kind.name] != entries:
            wrong = (
                "empty places"
                if numbers[kind.name] < entries
                else "more numbers than its rows have"
            )
            raise refused(folder, f"the column {kind.name} has {wrong}")


def entries_of(found: pq.FileMetaData) -> Counter[str]:
    """How many numbers each column of a file holds: a small file can unfold to many."""
    entries: Counter[str] = Counter()
    for group in map(found.row_group, range(found.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            entries[chunk.path_in_schema.partition(".")[0]] += chunk.num_values
    return entries


def same_type(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether they hold the same numbers; the names inside lists do not matter."""
    if pa.types.is_fixed_size_list(given) and pa.types.is_fixed_size_list(wanted):
        same_size = given.list_size == wanted.list_size
        return same_size and bool(given.value_type == wanted.value_type)
    return bool(given == wanted)


def faults(variant: Variant, recipe: Recipe, rows: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """What is wrong with the rows of a file, in words; nothing if all can be used."""
    layout, mask, legal = variant.observation, rows["mask"], rows["legal"]
    if not is_within(rows["seat"], 0, variant.seats - 1):
        yield "has seats that the game does not have"
    if not is_within(rows["policy"], 0, len(recipe.policies) - 1):
        yield "has policies that dataset.json does not name"
    if not (is_within(mask, 0, 1) and (mask.sum(1, dtype=np.int64) == legal).all()):
        yield "has masks that are not 0 and 1, or not as many legal actions as it says"
    if (legal < 1).any() or illegal_row(rows["action"].astype(np.int64), mask) != FINE:
        yield "has actions that are not legal"
    if not is_within(rows["observation"], *layout.int8_bounds):
        yield "has observations that the game cannot show"
    if faulty_row(rows["probabilities"], mask) != FINE:
        yield "has probabilities that are no distribution over the legal actions"
    most = variant.best_score if variant.game.cooperative else 1
    if not all(is_within(rows[name], -most, most) for name in ("earned", "return")):
        yield "has rewards or returns that the game cannot give"
    if "values" in rows:
        judged = (mask == 1) & (legal > 1)[:, None]
        if not (np.isfinite(rows["values"]) == judged).all():
            yield "has values that are not finite, or of actions that are not legal"


def is_within(rows: NDArray[Any], low: Any, high: Any) -> bool:
    return bool((rows >= low).all() and (rows <= high).all())


def check_order(
    folder: Path, recipe: Recipe, game: NDArray[np.int32], decision: NDArray[np.int32]
) -> None:
    """UserError unless all games are there, each from its first decision on."""
    starts = np.flatnonzero(decision == 0)
    lengths = np.diff(starts, append=len(game))
    in_order = (
        len(starts) == recipe.games
        and np.array_equal(game, np.repeat(np.arange(len(starts)), lengths))
        and np.array_equal(decision, np.arange(len(game)) - np.repeat(starts, lengths))
    )
    if not in_order:
        raise refused(folder, "its rows are not in the order of games and decisions")
