"""The parts of an evaluation that are played already, in a folder, so that it can resume.

A folder holds one evaluation: `evaluation.json` says which, and each part of pairing N is a file in
the folder N. Parts are of whole deals and are saved as soon as they are played. So two processes
that play the same evaluation in parts of the same size only write the same files.
"""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np

from hanamachi.errors import UserError, differences, listed
from hanamachi.limits import RESULTS_BYTES, WEIGHTS_BYTES
from hanamachi.policies.external.process import PROCESS
from hanamachi.policies.load import (
    MODEL,
    ONNX,
    SEARCH,
    agent_folder,
    is_checkpoint,
    names_an_agent,
)
from hanamachi.policies.networks.checkpoint import CONFIG
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.search.budget import Budget
from hanamachi.policies.search.search import Search, split_spec
from hanamachi.sessions.policy_checks import name_of
from hanamachi.storage.files import replacing
from hanamachi.storage.reading import parse_json, read_bounded
from hanamachi.training.evaluation.deals import Failure, Part

ABOUT = "evaluation.json"
DIGITS = 12  # of a digest, which a message can show
PORTION = 1 << 20  # bytes of a file that are read at once


class SavedParts:
    """A folder of parts. UserError if it holds those of another evaluation."""

    def __init__(
        self, folder: Path, about: Mapping[str, Any], results: Sequence[Path] = ()
    ) -> None:
        """The arguments are those of `claim`."""
        self.folder = folder
        self.whole = results[0].parent if results else folder  # what must go to begin again
        claim(folder / ABOUT, about, "an evaluation", results)

    def read(self, pairing: int) -> list[Part]:
        """What has been played of a pairing."""
        folder = self.folder / str(pairing)
        parts = [self._part(file) for file in sorted(folder.glob("[0-9]*.npz"))]
        deals = [deal for part in parts for deal in part.deals.tolist()]
        if len(set(deals)) < len(deals):  # as of two processes with parts of different sizes
            raise damaged(folder, self.whole)
        return parts

    def _part(self, file: Path) -> Part:
        content = read_bounded(file, WEIGHTS_BYTES)
        try:
            with np.load(BytesIO(content), allow_pickle=False) as arrays:
                failures = [Failure(*each) for each in parse_json(arrays["failures"].tobytes())]
                counts = parse_json(arrays["counts"].tobytes())
                part = Part(arrays["deals"], arrays["scores"], arrays["lost"], failures, counts)
                return checked_part(part)
        except MemoryError:
            raise
        except Exception as error:  # a damaged archive can raise anything
            raise damaged(file, self.whole) from error

    def write(self, pairing: int, part: Part) -> None:
        arrays = part._asdict()
        for name in ("failures", "counts"):
            arrays[name] = np.frombuffer(json.dumps(arrays[name]).encode(), np.uint8)
        with replacing(self.folder / str(pairing) / f"{part.deals[0]}.npz") as file:
            np.savez_compressed(file, **arrays)


def checked_part(part: Part) -> Part:
    """ValueError unless it has distinct deals, each with a result, and counts of both policies."""
    shapes = {array.shape for array in (part.deals, part.scores, part.lost)}
    kinds = part.deals.dtype.kind, part.scores.dtype.kind, part.lost.dtype.kind
    if shapes != {(len(np.unique(part.deals)),)} or kinds != ("u", "f", "b"):
        raise ValueError("not one result for each deal")
    if not np.isfinite(part.scores).all():
        raise ValueError("a result that is no number")
    if [*map(type, part.counts)] != [dict, dict] or not all(
        type(number) in (int, float) for counts in part.counts for number in counts.values()
    ):
        raise ValueError("no counts of two policies")
    return part


# --- Whether a folder is for the same work


def claim(file: Path, about: Mapping[str, Any], kind: str, results: Sequence[Path] = ()) -> None:
    """Write what a folder holds, such as "an evaluation", or see that it holds the same already.

    `about` is all that the results depend on, as JSON can spell it. UserError if it differs, or if
    one of the `results`, the files to be written, is there before their folder is claimed.
    """
    text = json.dumps({"hanamachi": version("hanamachi"), **about}, indent=2)
    keep_what_is_there(file, results)
    if not file.exists():
        with replacing(file) as writing:
            writing.write(text.encode())
    elif found := differences(parsed(file), json.loads(text)):
        what_to_do = "name another folder, or delete this one"
        holder = results[0].parent if results else file.parent
        start = f"{holder} holds {kind} with other settings ({what_to_do}): "
        raise UserError(listed(start, found))


def keep_what_is_there(claimed: Path, results: Sequence[Path]) -> None:
    """UserError if a result would replace what something else wrote: nothing has claimed it."""
    for result in results:
        if result.exists() and not claimed.exists():
            raise UserError(f"{result} is there already: move it, or name another folder")


def parsed(file: Path) -> Any:
    content = read_bounded(file, RESULTS_BYTES)
    try:
        return parse_json(content)
    except UserError as error:
        raise damaged(file, file.parent) from error


def damaged(file: Path, folder: Path) -> UserError:
    return UserError(f"{file} is damaged: delete {folder}, and begin again")


# --- Whether policies are still the same


def fingerprints(policies: Sequence[Any]) -> dict[str, str]:
    """What changes if the weights or the code of these policies change, where that can be seen.

    By name; a policy that is no name has its number, too.
    """
    found = {}
    for number, policy in enumerate(policies):
        if isinstance(policy, str | Path):
            found[str(policy)] = fingerprint(str(policy))
        else:
            found[f"{number}: {name_of(policy)}"] = digest_of_object(policy)
    return {name: digest for name, digest in found.items() if digest}


def digest_of_object(policy: Any) -> str:
    """A digest of a policy's weights, else of the file that its code is in; "" if it has none."""
    if isinstance(policy, Search):
        own = {n: v for n, v in vars(policy).items() if isinstance(v, (int, float, str, Budget))}
        settings = f"{sorted(own.items())} {digest_of_object(policy.blueprint)}"
        return sha256(settings.encode()).hexdigest()[:DIGITS]
    if isinstance(policy, CompiledPolicy):
        content = sha256()
        for name, weights in sorted(policy.checkpoint.weights.items()):
            content.update(name.encode() + np.ascontiguousarray(weights).tobytes())
        return content.hexdigest()[:DIGITS]
    file = file_of_module(getattr(policy, "__module__", ""))
    return digest_of([file]) if file and file.is_file() else ""


def fingerprint(spec: str) -> str:
    """A digest of the file that a policy's name leads to; "" for rule policies and models."""
    if spec.startswith(SEARCH):
        return fingerprint(split_spec(spec)[1])
    if spec.startswith(PROCESS):
        return digest_of_program(spec)
    file = None if spec.startswith(MODEL) else file_of(spec)
    return digest_of([file]) if file else ""


def digest_of_program(spec: str) -> str:
    """A digest of all files that a bot's command names: its program, and those among arguments."""
    words = shlex.split(spec.removeprefix(PROCESS))
    files = [Path(word) for word in words if isfile(word)]  # a word may be no possible name
    return digest_of(files) if files else ""


def digest_of(files: Sequence[Path]) -> str:
    """A digest of these files, one after the other; each may be large."""
    content = sha256()
    for file in files:
        with file.open("rb") as opened:
            while part := opened.read(PORTION):
                content.update(part)
    return content.hexdigest()[:DIGITS]


def file_of(spec: str) -> Path | None:
    """A checkpoint's description, which has a digest of the weights; an ONNX file; a module."""
    if names_an_agent(spec):
        return agent_folder(spec) / CONFIG
    if is_checkpoint(spec):
        own, of_run = Path(spec, CONFIG), Path(spec, "policy", CONFIG)
        return own if own.exists() else of_run
    if spec.endswith(ONNX):
        return Path(spec)
    return file_of_module(spec.partition(":")[0]) if ":" in spec else None


def file_of_module(name: str) -> Path | None:
    """Where a module comes from, if it comes from a file; a script is the module __main__."""
    if loaded := sys.modules.get(name):
        file = getattr(loaded, "__file__", None)
        return Path(file) if file else None
    with suppress(ImportError, ValueError):
        found = find_spec(name)
        return Path(found.origin) if found and found.has_location and found.origin else None
    return None
