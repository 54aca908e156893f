"""The parts of an evaluation that are played already, in a folder, so that it can resume.

A folder holds one evaluation: `evaluation.json` says which, and each part of pairing N is a file in
the folder N. A part holds whole deals and is saved as soon as it is played.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hanamachi.errors import UserError, listed
from hanamachi.limits import RESULTS_BYTES, WEIGHTS_BYTES
from hanamachi.storage.files import check_folder, creating, replacing
from hanamachi.storage.reading import parse_json, read_bounded, read_object
from hanamachi.training.evaluation.deals import DealResults
from hanamachi.training.evaluation.judge import LossSum
from hanamachi.training.evaluation.referee import Failure
from hanamachi.training.failures import differences
from hanamachi.training.ownership import locked
from hanamachi.training.run_files import DESCRIPTION

ABOUT = "evaluation.json"
WHO = "policies", "opponents"  # lists of names


@contextmanager
def saved_parts(
    folder: Path, about: Mapping[str, Any], results: Sequence[Path] = (), may_grow: bool = False
) -> Iterator["SavedParts"]:
    """A folder of parts, which belongs to this process meanwhile.

    `about`, `results` and `may_grow` are those of `claim`. UserError if the folder holds another
    evaluation, or if another process plays it.
    """
    refuse_unclaimed(folder / ABOUT, results)
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "playing the games in"):
        claim(folder / ABOUT, about, "an evaluation", results, may_grow=may_grow)
        yield SavedParts(folder)


class SavedParts:
    """A folder of parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, pairing: int) -> list[DealResults]:
        """What has been played of a pairing."""
        folder = self.folder / str(pairing)
        parts = [self._part(file) for file in sorted(folder.glob("[0-9]*.npz"))]
        deals = [deal for part in parts for deal in part.deals.tolist()]
        if len(set(deals)) < len(deals):  # as of two processes with parts of different sizes
            raise damaged(folder)
        return parts

    def _part(self, file: Path) -> DealResults:
        content = read_bounded(file, WEIGHTS_BYTES)
        try:
            with np.load(BytesIO(content), allow_pickle=False) as arrays:
                failures = [Failure(*each) for each in parse_json(arrays["failures"].tobytes())]
                counts = parse_json(arrays["counts"].tobytes())
                losses = [LossSum(*each) for each in parse_json(arrays["losses"].tobytes())]
                played = arrays["deals"], arrays["scores"], arrays["lost"]
                return checked_part(DealResults(*played, failures, counts, losses))
        except MemoryError:
            raise
        except Exception as error:  # a damaged archive can raise anything
            raise damaged(file) from error

    def write(self, pairing: int, part: DealResults) -> None:
        arrays = part._asdict()
        for name in ("failures", "counts", "losses"):
            arrays[name] = np.frombuffer(json.dumps(arrays[name]).encode(), np.uint8)
        with replacing(self.folder / str(pairing) / f"{part.deals[0]}.npz") as file:
            np.savez_compressed(file, **arrays)


def checked_part(part: DealResults) -> DealResults:
    """ValueError unless it has distinct deals, each with a result, and sums for both policies."""
    shapes = {array.shape for array in (part.deals, part.scores, part.lost)}
    kinds = part.deals.dtype.kind, part.scores.dtype.kind, part.lost.dtype.kind
    if shapes != {(len(np.unique(part.deals)),)} or kinds != ("u", "f", "b"):
        raise ValueError("not one result for each deal")
    if not np.isfinite(part.scores).all():
        raise ValueError("a result that is no number")
    if [*map(type, part.counts)] != [dict, dict] or len(part.losses) != len(part.counts):
        raise ValueError("no sums of two policies")
    sums = chain(*part.losses, *(counts.values() for counts in part.counts))
    if not all(type(number) in (int, float) for number in sums):
        raise ValueError("a sum that is no number")
    return part


# --- Whether a folder is for the same work


def claim(
    file: Path,
    about: Mapping[str, Any],
    kind: str,
    results: Sequence[Path] = (),
    *,
    may_grow: bool = False,
    derived: Collection[str] = (),
) -> None:
    """Record what a folder is for, such as "an evaluation", or check that it is for the same work.

    `about` is all that the results depend on, as JSON can spell it; if it `may_grow`, policies may
    have been added at its end. UserError if it differs, or if one of the `results`, the files to be
    written, is there before their folder is claimed. The `derived` entries follow from the others:
    the error names them only if nothing else differs.
    """
    text = json.dumps({"hanamachi": version("hanamachi"), **about}, indent=2)
    refuse_unclaimed(file, results)
    if not file.exists():
        with suppress(FileExistsError), creating(file) as writing:  # another may be faster
            writing.write(text.encode())
    old, new = parsed(file), json.loads(text)
    if may_grow and has_grown(old, new):
        with replacing(file) as writing:
            writing.write(text.encode())
    elif found := changes(without(old, derived), without(new, derived)) or changes(old, new):
        raise other_work(file, kind, results, found)


def other_work(
    file: Path, kind: str, results: Sequence[Path], differences: Sequence[str]
) -> UserError:
    """The error for a folder that is for other work, which says what to delete."""
    holder = results[0].parent if results else file.parent
    beside_results = bool(results) and file.parent == holder  # other files may be a user's
    to_delete = [file if beside_results else file.parent, *results]
    names = ", ".join(each.name for each in to_delete if each.exists())
    what_to_do = f"name another folder, or delete these: {names}"
    return UserError(listed(f"{holder} holds {kind} that differs ({what_to_do}): ", differences))


def has_grown(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the new work is the old one with more policies, after those that were there."""
    were, are = old.get("policies"), new["policies"]
    if not isinstance(were, list) or len(were) >= len(are):
        return False
    files = {name: digest for name, digest in new["files"].items() if name not in are[len(were) :]}
    return {**new, "policies": are[: len(were)], "files": files} == old


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """In words, which policies came, went or changed, and which settings differ."""
    if not all(isinstance(each.get("files"), dict) for each in (old, new)):
        return differences(old, new)
    before, now = digests_of_all(old), digests_of_all(new)
    told = [f"{name} was added" for name in now if name not in before]
    told += [f"{name} is gone" for name in before if name not in now]
    told += [f"{name} has changed" for name in now if before.get(name, now[name]) != now[name]]
    # these lists also name the policies that came or went
    left_out = {"files", *(WHO if before.keys() != now.keys() else ())}
    return told + differences(without(old, left_out), without(new, left_out))


def without(about: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if name not in names}


def digests_of_all(about: dict[str, Any]) -> dict[str, str]:
    """The digest of everybody who plays; "" for who has none, as rule policies."""
    lists = (about[part] for part in WHO if isinstance(about.get(part), list))
    return dict.fromkeys((str(name) for names in lists for name in names), "") | about["files"]


def refuse_unclaimed(claimed: Path, results: Sequence[Path]) -> None:
    """UserError if a result would replace what something else wrote: nothing has claimed it.

    A run writes its results only at its end.
    """
    for result in results:
        if (result.parent / DESCRIPTION).exists():
            raise UserError(
                f"{result.parent} holds a training run: name another folder, such as "
                f"{result.parent / 'evaluated'}"
            )
        if result.exists() and not claimed.exists():
            raise there_already(result)


def refuse_other_results(result: Path, about: Mapping[str, Any]) -> None:
    """UserError if a file of results, in JSON, is there and says anything else of these entries.

    It names what has changed.
    """
    check_folder(result.parent)
    if not result.exists():
        return
    if (found := read_object(result, RESULTS_BYTES)) is None:  # something else wrote it
        raise there_already(result)
    now = json.loads(json.dumps(about))
    if told := changes({name: found.get(name) for name in now}, now):
        raise UserError(listed(f"{there_already(result)}; it differs: ", told))


def there_already(result: Path) -> UserError:
    return UserError(f"{result} is there already: move it, or name another folder")


def parsed(file: Path) -> dict[str, Any]:
    """What `claim` wrote to a file; UserError if something else did."""
    content = read_bounded(file, RESULTS_BYTES)
    try:
        found = parse_json(content)
    except UserError:
        found = None
    if not isinstance(found, dict) or "hanamachi" not in found:
        raise UserError(
            f"{file} is there already, damaged or of something else: move it, or name another "
            "folder"
        )
    return found


def damaged(file: Path) -> UserError:
    return UserError(f"{file} is damaged: delete it, and begin again with the same command")
